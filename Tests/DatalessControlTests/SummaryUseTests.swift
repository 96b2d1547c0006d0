import Testing

@testable import DatalessControl

/// Verdicts are of files, by the process that read; what cannot be seen is unknown.
@Suite struct SummaryUseTests {
  private func report(_ log: LogText, files: FileSummary.Order? = nil) throws -> SummaryReport {
    var builder = SummaryBuilder(files: files)
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    return builder.finish(log: bytes("/x.jsonl"))
  }

  /// A log in which process 1 (sh) started 2 (tool) and 3 (other).
  private static func start() -> LogText {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "sh", exe: "/bin/dash")
    log.process(2, pid: 11, "tool", exe: "/bin/tool", parents: [1])
    log.process(3, pid: 12, "other", exe: "/bin/other", parents: [1])
    return log
  }

  private static func materialized(_ log: inout LogText, _ path: String, size: Int, by process: Int, _ attempt: Int = 1)
  {
    log.started(attempt, path, size: size, by: process, at: 10)
    log.waited(attempt, by: process, from: 10, to: 20)
    log.finished(attempt, path, bytes: size, by: process, blocked: 10, at: 20)
  }

  @Test func aHeaderThenAllOfItIsReadWhole() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000_000, by: 2)
    log.closed("a", by: 2, size: 1_000_000, covered: 512, at: 30)
    #expect(try report(log).use.needlessFiles == 1)
    log.closed("a", by: 2, size: 1_000_000, covered: 1_000_000, at: 40)
    let report = try report(log)
    #expect(report.use == SummaryReport.Use(whole: 1))
    #expect(report.processes.first { $0.comm == "tool" }?.verdict == "whole")
  }

  /// Bytes counted in whole pages, or through two handles at places that are not named: nobody knows whether that is
  /// all.
  @Test func whatTheLogOnlyBoundsIsNeitherWholeNorAShare() throws {
    var log = Self.start()
    Self.materialized(&log, "pages", size: 1_000_000, by: 2)
    log.add(
      "handle.closed", at: 30,
      #""path":"pages","inode":1,"handle":1,"process":2,"size":1000000,"bytes_read":17000,"covered_bytes":1000000,"#
        + #""covered_unit":4096,"high_water_mark":1000000,"reads":17000,"triggered":true,"io":"direct""#)
    Self.materialized(&log, "halves", size: 1_000_000, by: 2, 2)
    for handle in [2, 3] {
      log.add(
        "handle.closed", at: 40,
        #""path":"halves","inode":2,"handle":\#(handle),"process":2,"size":1000000,"bytes_read":500000,"#
          + #""covered_bytes":500000,"high_water_mark":1000000,"reads":100,"triggered":true,"io":"direct""#)
    }
    Self.materialized(&log, "quarter", size: 1_000_000, by: 2, 3)
    log.add(
      "handle.closed", at: 50,
      #""path":"quarter","inode":3,"handle":4,"process":2,"size":1000000,"bytes_read":250000,"covered_bytes":253952,"#
        + #""covered_unit":4096,"high_water_mark":1000000,"reads":17000,"triggered":true,"io":"direct""#)
    let report = try report(log, files: .bytes)
    #expect(report.use == SummaryReport.Use(inPart: 1, unknown: 2))
    #expect(report.files?.map(\.readShare) == [nil, nil, nil])
  }

  @Test func whatIsReadUnseenIsUnknownAndNobodysFault() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000_000, by: 2)
    log.closed("a", by: 2, size: 1_000_000, covered: 512, at: 30)
    log.add("handle.unseen", at: 31, #""path":"a","inode":1,"process":2,"size":1000000,"io":"passthrough""#)
    Self.materialized(&log, "b", size: 1_000_000, by: 2, 2)
    log.add(
      "handle.closed", at: 40,
      #""path":"b","inode":2,"handle":2,"process":2,"size":1000000,"bytes_read":0,"covered_bytes":0,"#
        + #""high_water_mark":0,"reads":0,"triggered":true,"io":"direct","cached_before":true"#)
    // All of it was seen: what came later unseen changes nothing.
    Self.materialized(&log, "c", size: 1_000, by: 2, 3)
    log.closed("c", by: 2, size: 1_000, covered: 1_000, at: 50)
    log.add("handle.unseen", at: 51, #""path":"c","inode":3,"process":3,"size":1000,"io":"passthrough""#)
    let report = try report(log, files: .bytes)
    #expect(report.use == SummaryReport.Use(whole: 1, unknown: 2))
    let tool = try #require(report.processes.first { $0.comm == "tool" })
    #expect(tool.use == SummaryReport.Use(whole: 1, unknown: 2))
    #expect(tool.verdict == "unknown")
    #expect(report.files?.map(\.use) == ["unknown", "unknown", "whole"])
    #expect(report.files?.map(\.readShare) == [nil, nil, 1])
    let text = SummaryText.lines(report, width: 200).joined(separator: "\n")
    #expect(text.contains("1 read whole, 2 unknown"))
    #expect(!text.contains("needless"))
  }

  @Test func whatIsBeingReadIsUnknownUntilItsEnd() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000_000, by: 2)
    func handle(_ type: String, _ covered: Int) {
      log.add(
        type, at: 30,
        #""path":"a","inode":1,"handle":5,"process":2,"size":1000000,"bytes_read":\#(covered),"covered_bytes":\#(covered),"#
          + #""high_water_mark":\#(covered),"reads":1"#)
    }
    for covered in [100, 200] {
      handle("handle.open", covered)
      #expect(try report(log).use == SummaryReport.Use(unknown: 1))
    }
    handle("handle.closed", 300)
    let report = try report(log)
    #expect(report.use.headerOnly == 1 && report.use.unknown == 0 && report.use.needlessFiles == 1)
  }

  @Test func theVerdictOfAProcessCountsFilesNotHandles() throws {
    var log = Self.start()
    for index in 1...5 {
      Self.materialized(&log, "f\(index)", size: 1_000, by: 2, index)
      for _ in 0..<3 { log.closed("f\(index)", by: 2, size: 1_000, covered: 0, triggered: false, at: 30) }
      log.closed("f\(index)", by: 2, size: 1_000, covered: 1_000, at: 31)
    }
    let tool = try #require(try report(log).processes.first { $0.comm == "tool" })
    #expect(tool.use == SummaryReport.Use(whole: 5))
    #expect(tool.verdict == "whole")
  }

  @Test func readsCountForWhoReadsAndNotForWhoOpened() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000, by: 2)
    log.add(
      "handle.closed", at: 30,
      #""path":"a","inode":1,"handle":1,"process":1,"size":1000,"bytes_read":1400,"covered_bytes":1000,"#
        + #""high_water_mark":1000,"reads":3,"triggered":true,"readers":["#
        + #"{"process":2,"bytes_read":1000,"covered_bytes":1000,"high_water_mark":1000,"reads":1},"#
        + #"{"process":3,"bytes_read":400,"covered_bytes":400,"high_water_mark":400,"reads":2}]"#)
    let report = try report(log, files: .needless)
    #expect(report.use == SummaryReport.Use(whole: 1))
    #expect(report.processes.map(\.comm) == ["tool", "other"], "the shell read nothing")
    #expect(report.processes.map(\.use) == [SummaryReport.Use(whole: 1), SummaryReport.Use(headerOnly: 1)])
    #expect(report.files?.first?.processes.map(\.comm) == ["tool", "other"])
  }

  @Test func whatTwoHandlesReadTwiceCountsOnce() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000, by: 2)
    for process in [2, 3] { log.closed("a", by: process, size: 1_000, covered: 600, at: 30) }
    #expect(try report(log).use == SummaryReport.Use(inPart: 1), "twice the same 600 bytes are not the whole")
    log.add(
      "handle.closed", at: 40,
      #""path":"a","inode":1,"handle":3,"process":3,"size":1000,"bytes_read":500,"covered_bytes":500,"#
        + #""high_water_mark":1000,"reads":1,"ranges":[[500,1000]]"#)
    #expect(try report(log).use == SummaryReport.Use(whole: 1))
  }

  @Test func needlessIsWhatWasFetchedForAProcessThatReadLittleOfIt() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000_000, by: 2)
    log.closed("a", by: 2, size: 1_000_000, covered: 50_000, at: 30)
    // Of this one a part was fetched, and all of that was read.
    log.add(
      "materialization.started", at: 40,
      #""attempt":2,"path":"p","kind":"file","size":1000000,"trigger":"read","process":3,"range_offset":0,"range_length":4096"#
    )
    log.finished(2, "p", bytes: 4_096, by: 3, at: 41)
    log.closed("p", by: 3, size: 1_000_000, covered: 4_096, at: 42)
    let report = try report(log)
    #expect(report.use.needlessFiles == 1 && report.use.needlessBytes == 1_000_000)
    let uses = Dictionary(uniqueKeysWithValues: report.processes.map { ($0.comm, $0.use) })
    #expect(uses["tool"]?.needlessFiles == 1 && uses["tool"]?.needlessBytes == 1_000_000)
    #expect(uses["other"]?.needlessFiles == 0)
    // One byte more than 5 %.
    log.closed("a", by: 3, size: 1_000_000, covered: 50_001, at: 50)
    #expect(try self.report(log).use.needlessFiles == 0)
  }

  @Test func sharesAreOfWhatCanBeMaterialized() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000, by: 2)
    log.add("volume.counters", at: 50, #""items":{"files":3,"files_empty":2,"directories":1,"bytes":1000}"#)
    let report = try report(log)
    #expect(report.known == SummaryReport.Known(files: 3, emptyFiles: 2, directories: 1, bytes: 1_000))
    let text = SummaryText.lines(report, width: 200)
    #expect(text.contains("share      100 % of 1 known file with content (2 more are empty), 100 % of 1000 B"))
  }

  @Test func theFilesOfASummaryInThreeOrders() throws {
    var log = Self.start()
    Self.materialized(&log, "needless", size: 1_000_000, by: 2, 1)
    log.closed("needless", by: 2, size: 1_000_000, covered: 100, at: 30)
    Self.materialized(&log, "half", size: 4_000_000, by: 3, 2)
    log.closed("half", by: 3, size: 4_000_000, covered: 2_000_000, at: 30)
    log.started(3, "slow", size: 10, by: 2, at: 40)
    log.waited(3, by: 2, from: 40, to: 900)
    log.finished(3, "slow", bytes: 10, by: 2, blocked: 860, at: 900)
    log.closed("slow", by: 2, size: 10, covered: 10, at: 901)
    log.started(4, "d", kind: "directory", trigger: "readdir", by: 2, at: 950)
    let expected: [FileSummary.Order: [String]] = [
      .needless: ["needless", "half", "slow"], .blocked: ["slow", "half", "needless"],
      .bytes: ["half", "needless", "slow"],
    ]
    for order in FileSummary.Order.allCases {
      let report = try report(log, files: order)
      #expect(report.files?.map(\.path) == expected[order], "\(order)")
      #expect(report.files?.map(\.isNeedless).filter(\.self).count == 1)
    }
    let report = try report(log, files: .needless)
    #expect(report.files?.first?.readShare == 0)
    #expect(report.files?.last?.blocked.sumNanoseconds == 860)
    let text = SummaryFileTable.lines(report, rowsMax: 2)
    #expect(text[2].split(separator: " ") == ["BYTES", "READ", "WAITS", "BLOCKED", "USE", "BY", "PATH"])
    #expect(text[3].contains("header only, needless") && text[3].hasSuffix("needless"))
    #expect(text.last == "... and 1 file more (--limit 0 shows all)")
    #expect(try self.report(log).files == nil)
  }

  /// The record of its end is lost, but not that of what it waited for.
  @Test func aWaitLastsNoLongerThanWhatItIsFor() throws {
    var log = Self.start()
    log.started(2, "b/c", size: 1_000, by: 3, at: 1_000)
    log.add("wait.started", at: 1_000, #""attempt":2,"process":3,"tid":12,"trigger":"read","offset":0,"length":9"#)
    log.finished(2, "b/c", bytes: 1_000, by: 3, blocked: 4_000, at: 5_000)
    log.sequence += 1
    log.add("mark", at: 90_000, #""label":"late""#)
    let report = try report(log)
    #expect(report.blocked.waits == 1 && report.blocked.underWay == 1)
    #expect(report.blocked.sumNanoseconds == 4_000 && report.blocked.wallNanoseconds == 4_000)
    #expect(report.completeness.lostRecords == 1 && report.completeness.unfinishedAttempts == 0)
  }

  @Test func waitsUnderWayCountUpToNow() throws {
    var log = Self.start()
    Self.materialized(&log, "a", size: 1_000, by: 2)
    log.started(2, "b/c", size: 1_000, by: 3, at: 1_000)
    log.add("wait.started", at: 1_000, #""attempt":2,"process":3,"tid":12,"trigger":"read","offset":0,"length":9"#)
    log.add("wait.started", at: 1_500, #""attempt":2,"process":2,"tid":11,"trigger":"read","offset":0,"length":9"#)
    var builder = SummaryBuilder(files: .blocked)
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let report = builder.finish(log: [], isMounted: true, now: 1_000_001_000)
    #expect(report.blocked.waits == 3)
    #expect(report.blocked.underWay == 2)
    #expect(report.blocked.sumNanoseconds == 10 + 1_000_000_000 + 999_999_500)
    #expect(report.blocked.longestNanoseconds == 1_000_000_000)
    #expect(report.blocked.wallNanoseconds == 1_000_000_010)
    #expect(report.durationNanoseconds == 1_000_001_000)
    #expect(report.waiting.map(\.comm) == ["other", "tool"])
    #expect(report.waiting.first?.path == "b/c" && report.waiting.first?.pid == 12)
    #expect(report.processes.first { $0.comm == "other" }?.blocked.underWay == 1)
    #expect(report.topLevelDirectories.first { $0.path == "b" }?.blockedNanoseconds == 1_999_999_500)
    #expect(report.files?.first?.blocked.underWay == 2)
    let text = SummaryText.lines(report, width: 300)
    #expect(text.contains { $0.contains("2.00 s in 3 waits (2 under way), longest 1.00 s") })
    #expect(text.contains { $0.contains("other[12] for 1.00 s so far at b/c (read)") })
    #expect(text.contains { $0.contains("complete so far, 1 attempt under way") })
    // Of a killed daemon's log they count up to its end; where a volume has ended, an end is a record that was lost.
    #expect(builder.finish(log: []).blocked.sumNanoseconds == 10 + 500)
    builder.add(try partialRecord(#"{"session":"0123456789ab","type":"volume.unmounted"}"#))
    #expect(builder.finish(log: []).blocked.underWay == 0)
  }

  @Test func coverageIsBoundedAndSaysWhatItDoesNotKnow() {
    var coverage = ReadCoverage()
    for index in 0..<1_000 as Range<Int64> {
      coverage.add(
        covered: 10, highWaterMark: index * 100 + 50, ranges: [index * 100 + 40..<index * 100 + 50])
    }
    #expect(coverage.ranges.count == 64)
    #expect(coverage.bytesAtLeast == 640)
    #expect(coverage.bytesAtMost == 10_000)
    coverage.add(covered: 100_000, highWaterMark: 100_000, ranges: [])
    #expect(coverage.bytesAtLeast == 100_000 && coverage.bytesAtMost == 100_000)
    #expect(FileUse(size: 100_000, coverage: coverage, isUnseen: true) == .whole)
  }
}

extension SummaryReport.Use {
  fileprivate init(headerOnly: Int64 = 0, inPart: Int64 = 0, whole: Int64 = 0, unknown: Int64 = 0) {
    self.init()
    self.headerOnly = headerOnly
    self.inPart = inPart
    self.whole = whole
    self.unknown = unknown
  }
}
