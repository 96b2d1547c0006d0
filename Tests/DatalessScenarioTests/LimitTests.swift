import DatalessCore
import DatalessScenario
import Glibc
import Testing

/// Large scenarios: read in seconds up to the limit, refused beyond it.
@Suite struct LimitTests {
  private static func scenario(_ count: Int) -> [UInt8] {
    var text: [UInt8] = Array("rules:\n".utf8)
    for index in 0..<count {
      text += "  - {match: {path: /photos/\(index % 1000)/image-\(index).jpg}, latency: 20ms}\n".utf8
    }
    return text
  }

  /// Of this thread, whatever else the machine does.
  private static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
  }

  @Test func aHundredThousandRulesAreReadInSeconds() throws {
    let bytes = Self.scenario(100_000)
    let tenth = Self.scenario(10_000)
    let parsingATenth = try Self.processorTime { _ = try ScenarioDocument(parsing: tenth, name: "s.yaml") }
    var document = ScenarioDocument.empty
    let parsing = try Self.processorTime { document = try ScenarioDocument(parsing: bytes, name: "s.yaml") }
    var edited = document
    let editing = try Self.processorTime {
      edited = try document.replacingRule(named: "rule-500", with: Array("{fault: EIO}".utf8), name: "new")
    }
    print("100,000 rules, \(bytes.count) bytes: read in \(parsing), one replaced in \(editing)")
    #expect(document.simulation.rules.rules.count == 100_000)
    #expect(edited.simulation.rules.rules[499].name == "rule-500")
    // What takes 6 s when the machine is idle takes minutes when it is not; but ten times as many rules take some ten
    // times as long, where one list that is gone through for each rule would take a hundred.
    #expect(parsing < parsingATenth * 30)
    let error = #expect(throws: ScenarioError.self) {
      try document.addingRule(Array("{fault: EIO}".utf8), name: "new", first: true)
    }
    #expect(
      error?.description
        == "new:1:1: 100001 rules; at most 100000 are possible. Use globs, or one rule with a list of paths.")
  }

  @Test func oneRuleMoreIsRefused() {
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioDocument(parsing: Self.scenario(100_001), name: "s.yaml")
    }
    #expect(
      error?.description
        == "s.yaml:2:3: 100001 rules; at most 100000 are possible. Use globs, or one rule with a list of paths.")
  }

  /// 25 bytes each may stand for 256 globs.
  @Test func bracesStandForNoMoreThanTheirLimitAltogether() {
    let braces = String(repeating: "{a,b}", count: 8)
    func text(_ count: Int) -> [UInt8] {
      Array("rules:\n".utf8) + (0..<count).flatMap { _ in "  - {match: {path: '\(braces)'}, fault: EIO}\n".utf8 }
    }
    #expect(throws: Never.self) { try ScenarioDocument(parsing: text(1_176), name: "s.yaml") }
    let error = #expect(throws: ScenarioError.self) { try ScenarioDocument(parsing: text(1_177), name: "s.yaml") }
    #expect(
      error?.description
        == "s.yaml:1178:20: the braces of this scenario stand for more than 300000 globs. Use * or ** instead.")
  }

  @Test func threeMillionValuesAreTheEnd() {
    let bytes: [UInt8] = Array("[".utf8) + (0..<3_000_000).flatMap { _ in [0x31, 0x2c] } + Array("1]".utf8)
    let error = #expect(throws: ScenarioError.self) { try ScenarioDocument(parsing: bytes, name: "s.yaml") }
    #expect(error?.message == "more than 3000000 values. Use globs instead of many rules or paths.")
  }
}
