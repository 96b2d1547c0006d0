import DatalessCore
import TestSupport
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Verdicts on logs that anybody may have written.
@Suite struct VerdictFuzzTests {
  private static let expectations: [Expected] = {
    var match = RuleMatch()
    match.ancestor = ProcessMatch()
    match.ancestor?.commandNames = PathPattern(Array("*a*".utf8)).map { [$0] } ?? []
    match.size = 0...1_000
    let paths = PathPattern(Array("*a*".utf8)).map { [$0] } ?? []
    return Expected.Measure.allCases.filter { $0 != .baseline }.flatMap { measure in
      [RuleMatch(), match].enumerated().map { index, match in
        Expected(name: "\(measure.rawValue)-\(index)", measure: measure, bound: 1, paths: paths, match: match)
      }
    }
  }()

  private static func verdict(_ lines: [[UInt8]]) throws -> Verdict {
    var checked = Expectations(
      expectations, baseline: try Baseline(parsing: bytes("dataless baseline 1\nfile a\n"), file: "b", isUpdate: false))
    for line in lines {
      if let record = LogRecord(line: line) { checked.add(record) } else { checked.addUnread(UnreadLines(line: line)) }
    }
    return checked.finish(log: bytes("/x"))
  }

  @Test(arguments: TestSeed.seeds) func thereIsAVerdictThatCanBeShownAndRead(seed: UInt64) throws {
    try Fuzz.run("verdict", seed: seed, cases: 15) { random, note in
      let lines =
        random.oneIn(2) ? LogFuzzTests.log(&random, session: random.oneIn(2)) : LogFuzzTests.hostileLog(&random)
      let verdict = try Self.verdict(lines)
      #expect(try Self.verdict(lines) == verdict, "\(note): not the same twice")
      let again = try WireCoding.decode(Verdict.self, from: try WireCoding.encode(verdict), named: "it")
      #expect(again == verdict, "\(note)")
      for result in verdict.expectations {
        let count = verdict.violations.filter { $0.expectation == result.name }.reduce(0) { $0 + $1.count }
        #expect(count <= result.violationCount && (result.outcome == .violated || count == 0), "\(note): \(result)")
        #expect(verdict.gaps.isEmpty || result.outcome != .held, "\(note): \(result)")
      }
      let text = VerdictText.lines(verdict, header: true)
      for line in text + verdict.expectations.compactMap({ RunReport.words($0, nil) }) where !isSafe(line) {
        Issue.record("\(note): \(TerminalText.escaped(line))")
      }
    }
  }
}
