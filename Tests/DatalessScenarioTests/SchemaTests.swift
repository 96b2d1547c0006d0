import DatalessScenario
import Glibc
import Testing

/// docs/scenario.schema.json is made of the decoder's tables, and means the same.
@Suite struct SchemaTests {
  /// With DATALESS_UPDATE_SCHEMA=1 the file is written instead of compared.
  @Test func theFileIsWhatTheTablesSay() throws {
    let path = ScenarioText.root + "/docs/scenario.schema.json"
    if getenv("DATALESS_UPDATE_SCHEMA") != nil, let file = fopen(path, "w") {
      let bytes = ScenarioSchema.json()
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
    }
    #expect(
      ScenarioText.file(path) == ScenarioSchema.json(),
      "docs/scenario.schema.json is old. Run the test once with DATALESS_UPDATE_SCHEMA=1.")
  }

  /// docs/schemas/, which describe what commands print, too.
  @Test func pythonTakesThemAllForSchemas() {
    let script = """
      import glob, json, sys
      try:
          import jsonschema
      except ImportError:
          sys.exit(77)
      files = glob.glob(sys.argv[1] + '/schemas/*.schema.json') + [sys.argv[1] + '/scenario.schema.json']
      for file in files:
          schema = json.load(open(file))
          jsonschema.Draft202012Validator.check_schema(schema)
      sys.exit(0 if len(files) > 15 else 1)
      """
    let result = ScenarioText.run("timeout 60 python3 -c \"\(script)\" '\(ScenarioText.root)/docs'")
    if result.status == 127 || result.status == 77 { return }
    #expect(result.status == 0, "\(result.output)")
  }

  private static let script = """
    import json, sys
    try:
        import jsonschema
    except ImportError:
        sys.exit(77)
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    wrong = 0
    for line in open(sys.argv[2]):
        case = json.loads(line)
        if validator.is_valid(case['document']) != case['valid']:
            wrong += 1
            print('valid' if not case['valid'] else 'invalid', 'for the schema:', json.dumps(case['document']))
    sys.exit(1 if wrong else 0)
    """

  /// The documents as JSON, one on each line, with what the schema is to say of them. What is no YAML is left out.
  private static func cases() -> [UInt8] {
    var lines: [UInt8] = []
    func add(_ text: String, isValid: Bool) {
      guard let node = try? ScenarioNode(parsing: Array(text.utf8), name: "s") else { return }
      lines += #"{"valid":\#(isValid),"document":"#.utf8
      lines += node.json(pretty: false)
      lines += "}\n".utf8
    }
    for bad in BadScenarios.forms + BadScenarios.values + BadScenarios.rules + BadScenarios.profiles {
      add(bad.text, isValid: !bad.isInSchema)
    }
    for example in ScenarioText.examples(in: "docs/SCENARIOS.md") { add(example.text, isValid: true) }
    for preset in LatencyPreset.all { add("latency: {preset: \(preset.name)}", isValid: true) }
    for profile in [
      "macos", "{base: open, files: [read, seek], errnos: {failed: none}}", "{directories: [lookup, readdir]}",
    ] {
      add("profile: \(profile)", isValid: true)
    }
    for state in ["none", "openvfs", "{name: user.x, listed: on}"] { add("present: {state: \(state)}", isValid: true) }
    for size in ["4k", "'>1MB'", "'<= 4KiB'", "1k..1M", "1k..", "..1M", "0"] {
      add("rules: [{match: {size: \(size), attempt: 1..3, during: 0s..10s}, fault: EIO}]", isValid: true)
    }
    return lines
  }

  @Test func pythonsValidatorSaysTheSame() throws {
    var template = Array("/tmp/dataless-schema-XXXXXX".utf8CString)
    _ = mkdtemp(&template)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { _ = ScenarioText.run("rm -r \(folder)") }
    for (name, bytes) in [
      ("schema", ScenarioSchema.json()), ("cases", Self.cases()), ("script", Array(Self.script.utf8)),
    ] {
      let file = try #require(fopen("\(folder)/\(name)", "w"))
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
    }
    let result = ScenarioText.run("timeout 60 python3 \(folder)/script \(folder)/schema \(folder)/cases")
    // 127: no python3; 77: no module jsonschema. Then there is nothing to compare with.
    if result.status == 127 || result.status == 77 { return }
    #expect(result.status == 0, "\(result.output)")
  }
}
