import DatalessScenario
import Testing

/// docs/SCENARIOS.md and scripts/scenarios/ against the decoder.
@Suite struct DocumentationTests {
  private static let guide = String(decoding: ScenarioText.file("docs/SCENARIOS.md") ?? [], as: UTF8.self)

  @Test func everyExampleIsAScenarioWithoutWarnings() throws {
    let examples = ScenarioText.examples(in: "docs/SCENARIOS.md")
    #expect(examples.count >= 5)
    for example in examples {
      do throws(ScenarioError) {
        let document = try ScenarioDocument(
          parsing: Array(example.text.utf8), name: "example", readFile: ReplayTests.log)
        #expect(document.warnings.isEmpty, "docs/SCENARIOS.md:\(example.line): \(document.warnings)")
      } catch {
        Issue.record("docs/SCENARIOS.md:\(example.line): \(error)")
      }
    }
  }

  @Test func everyScenarioOfTheScriptsIsRead() {
    let found = ScenarioText.run("ls \(ScenarioText.root)/scripts/scenarios/*.yaml 2>/dev/null || true").output
    for path in found.split(separator: "\n").map(String.init) {
      let verdict = ScenarioText.verdict(String(decoding: ScenarioText.file(path) ?? [], as: UTF8.self))
      #expect(verdict.isEmpty, "\(path): \(verdict)")
    }
  }

  @Test func everyFieldOfTheSchemaIsExplained() throws {
    let schema = try ScenarioNode(parsing: ScenarioSchema.json(), name: "schema")
    var names: Set<String> = []
    func collect(_ node: ScenarioNode) {
      switch node.value {
      case .scalar: break
      case .sequence(let nodes): for node in nodes { collect(node) }
      case .mapping(let entries):
        for entry in entries {
          if entry.key == "properties", case .mapping(let fields) = entry.value.value {
            names.formUnion(fields.map(\.key))
          }
          collect(entry.value)
        }
      }
    }
    collect(schema)
    #expect(names.count > 40)
    for name in names { #expect(Self.guide.contains("`\(name)`"), "docs/SCENARIOS.md does not explain `\(name)`") }
  }

  @Test func everyPresetIsListedWithItsSource() {
    for preset in LatencyPreset.all {
      #expect(Self.guide.contains("| `\(preset.name)` | \(preset.summary) | \(preset.source) |"), "\(preset.name)")
    }
  }
}
