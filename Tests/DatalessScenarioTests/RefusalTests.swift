import DatalessScenario
import Testing

/// Every kind of mistake, with the exact place and text of what is said about it.
@Suite struct RefusalTests {
  @Test(arguments: BadScenarios.forms + BadScenarios.values + BadScenarios.rules + BadScenarios.profiles)
  func saysWhatIsWrongWhereAndWhatToDo(_ bad: BadScenarios.Case) {
    #expect(ScenarioText.verdict(bad.text) == bad.message)
  }

  @Test func allProblemsOfAFileComeAtOnceSortedAndAtMostTwenty() throws {
    let rules = (1...30).map { "  - {name: r\($0), fault: EBAD\($0)}" }.joined(separator: "\n")
    let error = #expect(throws: ScenarioError.self) { try ScenarioText.parse("rules:\n\(rules)\nlatency: 5\n") }
    #expect(error?.problems.count == 20)
    #expect(error?.omitted == 11)
    #expect(error?.problems.map(\.line) == Array(2...21))
    #expect(error?.line == 2)
    #expect(error?.description.hasSuffix("s.yaml: and 11 more. Correct these first.") == true)
  }

  @Test func aScenarioThatIsWrongInEachOfManyRulesIsSoonRefused() {
    let text = "rules:\n" + (0..<50_000).map { "  - {fault: EBAD\($0)}\n" }.joined()
    let error = #expect(throws: ScenarioError.self) { try ScenarioText.parse(text) }
    #expect(error?.description.hasSuffix("s.yaml: and at least 980 more. Correct these first.") == true)
  }

  @Test func bytesThatAreNotUTF8AreRefusedWithTheirPlace() {
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioDocument(parsing: Array("latency: 1s\nseed: ".utf8) + [0xff], name: "s.yaml")
    }
    #expect(error?.line == 2)
    #expect(error?.column == 7)
    #expect(error?.message.hasSuffix("A scenario is UTF-8 text without control characters.") == true)
  }

  @Test func aTextBeyondSixteenMebibytesIsRefused() {
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioDocument(parsing: [UInt8](repeating: 0x23, count: (16 << 20) + 1), name: "s.yaml")
    }
    #expect(
      error?.description == "s.yaml:1:1: a scenario of 16777217 bytes; at most 16777216 (16 MiB) are read. "
        + "Use globs, or lists of paths in one rule, instead of many rules.")
  }

  @Test func thirtyTwoLevelsAreReadAndOneMoreIsRefused() {
    func nested(_ depth: Int) -> String { String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
    #expect(throws: Never.self) { try ScenarioNode(parsing: Array(nested(32).utf8), name: "s") }
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioNode(parsing: Array(nested(33).utf8), name: "s")
    }
    #expect(error?.description == "s:1:33: more than 32 levels deep. No field of a scenario needs so many.")
  }
}
