import TestSupport
import Testing

@testable import DatalessControl

/// Summaries of logs that anybody may have written.
@Suite struct SummaryFuzzTests {
  private static func report(
    _ lines: [[UInt8]], session: String? = nil, files: FileSummary.Order? = nil
  ) -> SummaryReport {
    var builder = SummaryBuilder(session: session, files: files)
    for line in lines {
      if let record = LogRecord(line: line) { builder.add(record) } else { builder.addUnread(UnreadLines(line: line)) }
    }
    return builder.finish(log: bytes("/x"))
  }

  @Test(arguments: TestSeed.seeds) func thereIsAReportThatCanBeShownAndRead(seed: UInt64) throws {
    try Fuzz.run("summary", seed: seed, cases: 20) { random, note in
      var lines = LogFuzzTests.log(&random, session: true)
      if random.oneIn(4) { lines += LogFuzzTests.log(&random, session: false) }
      let order = random.element(of: FileSummary.Order.allCases)
      let report = Self.report(lines, files: order)
      #expect(Self.report(lines, files: order) == report, "\(note): not the same twice")
      let again = try WireCoding.decode(SummaryReport.self, from: try WireCoding.encode(report), named: "it")
      #expect(again == report, "\(note)")
      let text = SummaryText.lines(report, width: 40 + random.below(200)) + SummaryFileTable.lines(report, rowsMax: nil)
      #expect(text.allSatisfy { isSafe($0) }, "\(note)")
      check(report, lines.count, note)
    }
  }

  /// Whatever stands in it, nothing of it reaches the terminal as it is.
  @Test(arguments: TestSeed.seeds) func noTextOfALogIsObeyedAndNoNumberTooLarge(seed: UInt64) throws {
    try Fuzz.run("summary of a hostile log", seed: seed, cases: 40) { random, note in
      let report = Self.report(LogFuzzTests.hostileLog(&random), files: .needless)
      let text = SummaryText.lines(report, width: 100) + SummaryFileTable.lines(report, rowsMax: nil)
      for line in text where !isSafe(line) { Issue.record("\(note): \(TerminalText.escaped(line))") }
    }
  }

  private func check(_ report: SummaryReport, _ lines: Int, _ note: Fuzz.Case) {
    let uses = [report.use] + report.processes.map(\.use)
    for use in uses {
      let counts = [
        use.whole, use.inPart, use.headerOnly, use.openedNotRead, use.unknown, use.readAgainAfterEviction,
        use.needlessFiles,
      ]
      #expect(counts.allSatisfy { (0...Int64(lines)).contains($0) }, "\(note): \(use)")
    }
    for file in report.files ?? [] {
      if let share = file.readShare { #expect((0...1).contains(share), "\(note): \(file)") }
      if let mapped = file.mappedBytes { #expect(mapped <= max(0, file.readBytes), "\(note): \(file)") }
      #expect(!file.isNeedless || file.use != "whole", "\(note): \(file)")
      #expect(file.processes.count <= 8 && file.processCount >= Int64(file.processes.count), "\(note)")
    }
    #expect(report.waiting.count <= 64 && report.processes.allSatisfy { $0.pids.count <= 16 }, "\(note)")
    #expect(report.materialized.distinctFiles <= max(0, report.materialized.files), "\(note)")
    #expect(report.blocked.wallNanoseconds.map { $0 >= 0 } == true, "\(note)")
    #expect(report.completeness.lostRecords >= 0 && report.completeness.malformedLines >= 0, "\(note)")
  }

  /// What other sessions write between changes nothing.
  @Test(arguments: TestSeed.seeds) func otherSessionsInTheFileAreNotCounted(seed: UInt64) throws {
    let own = "0123456789ab"
    try Fuzz.run("summary of one session", seed: seed, cases: 10) { random, note in
      let lines = LogFuzzTests.log(&random, session: true).filter { LogRecord(line: $0)?.session == own }
      var mixed: [[UInt8]] = []
      for line in lines {
        if random.oneIn(3), let other = JSONNode(random.element(of: FuzzSamples.logLines)) {
          mixed.append(JSONMutation.mutated(other, &random))
          if LogRecord(line: mixed[mixed.count - 1])?.session == own { mixed.removeLast() }
        }
        mixed.append(line)
      }
      var expected = Self.report(lines, session: own)
      var report = Self.report(mixed, session: own)
      // A line that is no record may be one of this session's, where one is missing.
      if expected.completeness.malformedLines != report.completeness.malformedLines {
        // Then less is certain.
        expected.findings = report.findings
      }
      expected.completeness.malformedLines = report.completeness.malformedLines
      expected.completeness.strayLines = report.completeness.strayLines
      expected.completeness.otherVersion = report.completeness.otherVersion
      expected.completeness.isComplete = report.completeness.isComplete
      #expect(report == expected, "\(note)")
      report = Self.report(mixed.filter { LogRecord(line: $0)?.hasItsKeys == true }, session: own)
      #expect(report.completeness.malformedLines == 0, "\(note)")
    }
  }
}
