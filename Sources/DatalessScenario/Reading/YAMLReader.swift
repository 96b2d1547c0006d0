internal import CYaml

/// Reads one YAML (or JSON) document into nodes, with limits on all that a text can grow to.
struct YAMLReader {
  private let reader: UnsafeMutablePointer<cyaml_reader>
  private let bytes: UnsafeBufferPointer<UInt8>
  private let file: String
  private var problems: [ScenarioProblem] = []
  private var count = 0

  /// - Throws: the syntax error, or everything else that is wrong with the document's form.
  static func read(_ bytes: [UInt8], file: String) throws(ScenarioError) -> ScenarioNode {
    guard bytes.count <= ScenarioLimits.bytes else {
      throw ScenarioError(
        file: file,
        "a scenario of \(bytes.count) bytes; at most \(ScenarioLimits.bytes) (16 MiB) are read. "
          + "Use globs, or lists of paths in one rule, instead of many rules.")
    }
    // The closure's errors are untyped, so they travel as a value.
    let result: Result<ScenarioNode, ScenarioError> = SurrogatePairs.joined(bytes).withUnsafeBufferPointer {
      buffer in
      // libyaml takes null for "no input"; an empty text still has an address.
      let empty: StaticString = ""
      guard let reader = cyaml_open(buffer.baseAddress ?? empty.utf8Start, buffer.count) else {
        return .failure(ScenarioError(file: file, "there is no memory to read it. Free some and try again."))
      }
      defer { cyaml_close(reader) }
      var yaml = YAMLReader(reader: reader, bytes: buffer, file: file)
      do throws(ScenarioError) { return .success(try yaml.document()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  private init(reader: UnsafeMutablePointer<cyaml_reader>, bytes: UnsafeBufferPointer<UInt8>, file: String) {
    self.reader = reader
    self.bytes = bytes
    self.file = file
  }

  private mutating func document() throws(ScenarioError) -> ScenarioNode {
    _ = try next()
    let start = try next()
    guard start.kind == cyaml_document_start else {
      throw ScenarioError(
        file: file, "there is nothing in it. A scenario that changes nothing is 'version: 1'.")
    }
    let root = try node(try next(), depth: 1)
    _ = try next()
    let end = try next()
    if end.kind != cyaml_stream_end {
      report(end, "a second document. A scenario is one document: remove the line '---' and what follows.")
    }
    if !problems.isEmpty { throw ScenarioError(problems) }
    return root
  }

  private mutating func node(_ event: cyaml_event, depth: Int) throws(ScenarioError) -> ScenarioNode {
    count += 1
    if count > ScenarioLimits.values {
      throw failure(
        event, "more than \(ScenarioLimits.values) values. Use globs instead of many rules or paths.")
    }
    if event.kind == cyaml_sequence_start || event.kind == cyaml_mapping_start, depth > ScenarioLimits.depth {
      throw failure(event, "more than \(ScenarioLimits.depth) levels deep. No field of a scenario needs so many.")
    }
    if event.has_tag { report(event, "a tag ('!...'). Write the value without it.") }
    if event.has_anchor { report(event, "an anchor ('&...'). Write the value out wherever it is needed.") }
    let (line, column) = (Int32(clamping: event.line + 1), Int32(clamping: event.column + 1))
    switch event.kind {
    case cyaml_scalar:
      return ScenarioNode(.scalar(text(event), isQuoted: !event.is_plain), line: line, column: column)
    case cyaml_sequence_start:
      return ScenarioNode(.sequence(try sequence(depth)), line: line, column: column)
    case cyaml_mapping_start:
      return ScenarioNode(.mapping(try mapping(depth)), line: line, column: column)
    default:
      report(event, "an alias ('*...'). Write the value out; a glob that starts with '*' needs quotes.")
      return ScenarioNode(.scalar([], isQuoted: true), line: line, column: column)
    }
  }

  private mutating func sequence(_ depth: Int) throws(ScenarioError) -> [ScenarioNode] {
    var nodes: [ScenarioNode] = []
    while true {
      let event = try next()
      if event.kind == cyaml_sequence_end { return nodes }
      nodes.append(try node(event, depth: depth + 1))
    }
  }

  private mutating func mapping(_ depth: Int) throws(ScenarioError) -> [ScenarioNode.Entry] {
    var entries: [ScenarioNode.Entry] = []
    // A set only for the long ones: nearly every mapping has a handful of fields.
    var seen: [String: Int32] = [:]
    while true {
      let event = try next()
      if event.kind == cyaml_mapping_end { return entries }
      let (line, column) = (Int32(clamping: event.line + 1), Int32(clamping: event.column + 1))
      guard event.kind == cyaml_scalar else {
        throw failure(event, "a list, mapping or alias as the name of a field. Put a word in front of the colon.")
      }
      _ = try node(event, depth: depth)
      let key = String(decoding: text(event), as: UTF8.self)
      if entries.count == 8 { for entry in entries { seen[entry.key] = entry.line } }
      let earlier = entries.count < 8 ? entries.first { $0.key == key }?.line : seen[key]
      let value = try node(try next(), depth: depth + 1)
      if let earlier {
        report(
          line: line, column: column, "'\(key)' is given twice, here and in line \(earlier). Remove one of them.")
        continue
      }
      if entries.count >= 8 { seen[key] = line }
      entries.append(ScenarioNode.Entry(key: key, line: line, column: column, value: value))
    }
  }

  private func text(_ event: cyaml_event) -> [UInt8] {
    Array(UnsafeBufferPointer(start: event.text, count: event.length))
  }

  // MARK: - Problems

  private mutating func report(_ event: cyaml_event, _ message: String) {
    report(line: Int32(clamping: event.line + 1), column: Int32(clamping: event.column + 1), message)
  }

  private mutating func report(line: Int32, column: Int32, _ message: String) {
    // A few more than are shown, so that the number of all is right for most files; never without bound.
    guard problems.count < ScenarioLimits.countedProblems else { return }
    problems.append(ScenarioProblem(file: file, line: Int(line), column: Int(column), message: message))
  }

  /// What was found so far and this, which ends the reading.
  private func failure(_ event: cyaml_event, _ message: String) -> ScenarioError {
    let last = ScenarioProblem(file: file, line: Int(event.line) + 1, column: Int(event.column) + 1, message: message)
    return ScenarioError(problems + [last])
  }

  private func next() throws(ScenarioError) -> cyaml_event {
    let event = cyaml_next(reader)
    if event.kind == cyaml_failed { throw syntaxError() }
    return event
  }

  private func syntaxError() -> ScenarioError {
    let problem = cyaml_problem_of(reader)
    var (line, column) = (problem.line + 1, problem.column + 1)
    if problem.is_encoding { (line, column) = place(of: problem.offset) }
    let what = problem.problem.map { String(cString: $0) } ?? "unknown problem"
    var message = "not YAML: \(what)"
    if let context = problem.context {
      message += " \(String(cString: context))"
      if problem.context_line + 1 != line { message += " that starts in line \(problem.context_line + 1)" }
    }
    message += ". "
    if problem.is_encoding {
      message += "A scenario is UTF-8 text without control characters."
    } else if message.contains("an alias") {
      message += "Put a text that starts with '*' in quotes."
    } else if message.contains("an anchor") {
      message += "Put a text that starts with '&' in quotes."
    } else if hasTab(inIndentationOf: line) {
      message += "Indent with spaces: YAML allows no tabs there."
    } else {
      message += "Look at the indentation and the quotes here and in the line before; globs belong in quotes."
    }
    let found = ScenarioProblem(file: file, line: line, column: column, message: message)
    return ScenarioError(problems + [found])
  }

  private func place(of offset: Int) -> (line: Int, column: Int) {
    let before = bytes.prefix(offset)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return (line, before[start...].count { $0 & 0xc0 != 0x80 } + 1)
  }

  private func hasTab(inIndentationOf line: Int) -> Bool {
    var current = 1
    var isIndentation = true
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        current += 1
        isIndentation = true
        if current > line { return false }
      } else if current == line, isIndentation {
        if byte == UInt8(ascii: "\t") { return true }
        isIndentation = byte == UInt8(ascii: " ")
      }
    }
    return false
  }
}
