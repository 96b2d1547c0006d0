import DatalessControl
import DatalessCore
import DatalessScenario
import Testing

@testable import DatalessCommands

/// What `policy`, `fault` and `mount` say of rules and settings, without a volume.
@Suite struct RuleCommandTests {
  private static func document(_ text: String) throws -> ScenarioDocument {
    try ScenarioDocument(parsing: Array(text.utf8), name: "s.yaml")
  }

  /// In the words that `policy` takes, however the scenario has them.
  @Test func policiesAreOnOrOff() throws {
    let document = try Self.document(
      """
      materialize: off
      rules:
        - {name: slow, latency: 1s}
        - {name: indexer, match: {path: a}, materialize: false}
        - {name: editor, materialize: on}
      """)
    #expect(
      PolicyCommand.lines(document) == [#"indexer: off for {"path":"a"}"#, "editor: on", "everybody else: off"])
    #expect(PolicyCommand.lines(.empty) == ["everybody else: on"])
  }
}
