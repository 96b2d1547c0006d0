import DatalessCore
import DatalessScenario
import Testing

/// `explain`: each part with the rule or the setting that decides it.
@Suite struct ExplanationTests {
  private static func explain(_ document: ScenarioDocument, _ path: String, _ kind: MaterializationKind, attempt: Int)
    -> [String]
  {
    let facts = TriggerFacts(
      path: Array(path.utf8), kind: kind, size: 10, trigger: kind == .file ? .read : .readdir, attempt: attempt,
      sinceLoaded: 0, seed: 0)
    return document.explain(facts).map(\.description)
  }

  @Test func everyPartNamesItsRuleOrSetting() throws {
    let document = try ScenarioText.parse(
      """
      latency: {preset: s3}
      transfer_bandwidth: 5MB/s
      rules:
        - {name: slow, match: {path: "*.jpg"}, latency: 2s}
        - {match: {attempt: 1}, latency: 1s, fault: {errno: EIO}, gate: g}
        - {match: {process: {exe: tar}}, materialize: off}
        - {match: {path: '*.jpg'}, evict: {idle: 1s}}
      """)
    #expect(
      Self.explain(document, "a.jpg", .file, attempt: 1) == [
        "latency: \"2s\", by rule 'slow' (s.yaml:4)", "bandwidth: \"5MB/s\", the volume's setting",
        "hydration: nothing is said",
        "fault: {\"errno\":\"EIO\"}, by rule 'rule-2' (s.yaml:5)", "gate: \"g\", by rule 'rule-2' (s.yaml:5)",
        "materialize: nothing is said", "evict: {\"idle\":\"1s\"}, by rule 'rule-4' (s.yaml:7)",
      ])
    #expect(Self.explain(document, "b", .file, attempt: 2)[0] == "latency: {\"preset\":\"s3\"}, the volume's setting")
    let stacked = try ScenarioText.parse(
      """
      stacks: first
      rules:
        - {match: {path: "*.jpg"}, stack: on}
      """)
    #expect(Self.explain(stacked, "a.jpg", .file, attempt: 1).contains("stack: \"on\", by rule 'rule-1' (s.yaml:3)"))
    #expect(
      Self.explain(stacked, "b", .directory, attempt: 1).contains("stack: \"first\", the volume's setting"))
    let delayed = try ScenarioText.parse(
      """
      access: {getattr: 1ms, open: 0}
      rules:
        - {match: {path: "*.jpg"}, access: {read: 5ms}}
      """)
    #expect(
      Self.explain(delayed, "a.jpg", .file, attempt: 3).suffix(2) == [
        "access.getattr: \"1ms\", the volume's setting", "access.read: \"5ms\", by rule 'rule-1' (s.yaml:3)",
      ])
    #expect(
      Self.explain(delayed, "d", .directory, attempt: 1).suffix(2) == [
        "access.getattr: \"1ms\", the volume's setting", "access.read: nothing is said",
      ])
    #expect(
      Self.explain(document, "d", .directory, attempt: 2) == [
        "latency: nothing is said", "fault: nothing is said", "gate: nothing is said", "materialize: nothing is said",
      ])
  }
}
