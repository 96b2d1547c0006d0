import Testing

@testable import DatalessControl

/// Files that change, move, are evicted, and come in parts: what is counted once, what again, and what is not known.
@Suite struct SummaryVersionTests {
  private func report(_ log: LogText, files: FileSummary.Order? = .bytes) throws -> SummaryReport {
    var builder = SummaryBuilder(files: files)
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    return builder.finish(log: bytes("/x.jsonl"))
  }

  private static func start(observe: String = "off") -> LogText {
    var log = LogText()
    log.add("volume.mounted", at: 0, #""source":"/src","mountpoint":"/mnt","options":{"observe":"\#(observe)"}"#)
    log.process(2, pid: 11, "tool", exe: "/bin/tool")
    return log
  }

  private static func fetched(_ log: inout LogText, _ path: String, size: Int, _ attempt: Int, trigger: String = "read")
  {
    log.started(attempt, path, size: size, trigger: trigger, by: 2, at: 10)
    log.finished(attempt, path, bytes: size, by: 2, at: 20)
  }

  private static func fetched(_ log: inout LogText, _ path: String, size: Int, _ attempt: Int, part: Range<Int>) {
    log.add(
      "materialization.started", at: 10,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"file","size":\#(size),"trigger":"read","process":2,"#
        + #""range_offset":\#(part.lowerBound),"range_length":\#(part.count)"#)
    log.finished(attempt, path, bytes: part.count, by: 2, at: 20)
  }

  private static func brought(_ log: inout LogText, _ path: String, size: Int, _ attempt: Int) {
    log.add(
      "materialization.started", at: 10,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"file","size":\#(size),"trigger":"command","process":null"#)
    log.add(
      "materialization.finished", at: 20,
      #""attempt":\#(attempt),"path":"\#(path)","kind":"file","bytes":\#(size),"outcome":"ok","waiters":[]"#)
  }

  private static func evicted(_ log: inout LogText, _ path: String, by: String = "command") {
    log.add("eviction.finished", at: 30, #""path":"\#(path)","kind":"file","bytes":1,"by":"\#(by)""#)
  }

  private static func changed(_ log: inout LogText, _ path: String, _ change: String = "changed", _ more: String = "") {
    log.add("source.changed", at: 30, #""path":"\#(path)","kind":"file","change":"\#(change)"\#(more),"by":"poll""#)
  }

  private static func handle(
    _ log: inout LogText, _ type: String, _ path: String, _ number: Int, size: Int, covered: Int, _ more: String = ""
  ) {
    log.add(
      type, at: 40,
      #""path":"\#(path)","inode":1,"handle":\#(number),"process":2,"size":\#(size),"bytes_read":\#(covered),"#
        + #""covered_bytes":\#(covered),"high_water_mark":\#(covered),"reads":1,"triggered":true,"io":"direct"\#(more)"#
    )
  }

  // MARK: Versions

  @Test func anotherVersionIsReadAsAnotherFile() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000_000, 1)
    Self.handle(&log, "handle.closed", "a", 1, size: 1_000_000, covered: 1_000_000)
    Self.changed(&log, "a")
    Self.evicted(&log, "a", by: "source")
    Self.fetched(&log, "a", size: 400_000, 2)
    Self.handle(&log, "handle.closed", "a", 2, size: 400_000, covered: 100)
    let report = try report(log)
    #expect(report.use.whole == 1 && report.use.headerOnly == 1 && report.use.readAgainAfterEviction == 0)
    #expect(report.use.needlessFiles == 1 && report.use.needlessBytes == 400_000)
    #expect(report.files?.map(\.isSuperseded) == [true, false])
    #expect(report.files?.map(\.size) == [1_000_000, 400_000])
    #expect(report.files?.map(\.use) == ["whole", "header_only"])
    #expect(report.files?.map(\.attempts) == [1, 1])
    #expect(report.repeated.items == 0)
    #expect(report.materialized.files == 2)
    #expect(report.materialized.distinctFiles == 1, "it is one file")
    #expect(report.materialized.distinctBytes == 400_000, "as large as it is now")
    let text = SummaryFileTable.lines(report, rowsMax: nil)
    #expect(text.contains { $0.contains("read whole, older version") })
  }

  @Test func anotherModeOrOwnerIsNoOtherVersion() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1)
    Self.handle(&log, "handle.closed", "a", 1, size: 1_000, covered: 600)
    Self.changed(&log, "a", "changed", #","metadata_only":true"#)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 1_000, 2)
    Self.handle(&log, "handle.closed", "a", 2, size: 1_000, covered: 700)
    let report = try report(log)
    #expect(report.files?.map(\.readBytes) == [700])
    #expect(report.use.readAgainAfterEviction == 1)
    #expect(report.materialized.distinctFiles == 1 && report.materialized.distinctBytes == 1_000)
  }

  @Test func aCopyThatIsKeptGivesWayWhenItIsEvicted() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1)
    Self.changed(&log, "a", "kept")
    Self.handle(&log, "handle.closed", "a", 1, size: 1_000, covered: 1_000)
    #expect(try report(log).files?.count == 1)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 2_000, 2)
    let report = try report(log)
    #expect(report.files?.map(\.isSuperseded) == [false, true])
    #expect(report.use.readAgainAfterEviction == 0)
    #expect(report.materialized.distinctBytes == 2_000)
  }

  @Test func anotherFileUnderTheNameOfOneThatIsGoneIsAFileOfItsOwn() throws {
    var log = Self.start()
    log.add("volume.counters", at: 1, #""items":{"files":1,"bytes":10}"#)
    Self.fetched(&log, "a", size: 10, 1)
    Self.changed(&log, "a", "gone")
    Self.changed(&log, "a", "added")
    Self.fetched(&log, "a", size: 10, 2)
    let report = try report(log)
    #expect(report.materialized.distinctFiles == 2 && report.materialized.distinctBytes == 20)
    // Of the one that is known now, who knows which.
    let text = SummaryText.lines(report, width: 200)
    #expect(text.contains { $0.hasPrefix("share      an unknown share of 1 known file") })
  }

  @Test func aHandleOfAnOlderVersionTellsOfThatOne() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1)
    Self.changed(&log, "a")
    Self.fetched(&log, "a", size: 3_000, 2)
    Self.handle(&log, "handle.closed", "a", 1, size: 1_000, covered: 1_000, #","superseded":true"#)
    Self.handle(&log, "handle.closed", "a", 2, size: 3_000, covered: 0)
    #expect(try report(log).files?.map(\.use) == ["opened_not_read", "whole"])
    // Of two older ones it may be either.
    Self.changed(&log, "a")
    Self.handle(&log, "handle.closed", "a", 3, size: 3_000, covered: 3_000, #","superseded":true"#)
    #expect(try report(log).files?.map(\.use) == ["unknown", "whole"], "what was read whole stays so")
  }

  // MARK: Names

  @Test func aFileThatIsRenamedKeepsItsRow() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1)
    Self.handle(&log, "handle.open", "a", 5, size: 1_000, covered: 100)
    Self.changed(&log, "b", "renamed", #","old_path":"a""#)
    Self.handle(&log, "handle.closed", "b", 5, size: 1_000, covered: 1_000)
    Self.evicted(&log, "b")
    Self.fetched(&log, "b", size: 1_000, 2)
    Self.handle(&log, "handle.closed", "b", 6, size: 1_000, covered: 10)
    let report = try report(log)
    #expect(report.files?.map(\.path) == ["b"])
    #expect(report.use.whole == 1 && report.use.unknown == 0, "no handle is left open")
    #expect(report.use.readAgainAfterEviction == 1)
    #expect(report.materialized.distinctFiles == 1)
  }

  @Test func filesThatChangeNamesAreWhatTheyWere() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1)
    Self.fetched(&log, "b", size: 2_000, 2)
    Self.changed(&log, "b", "renamed", #","old_path":"a""#)
    Self.changed(&log, "a", "renamed", #","old_path":"b""#)
    log.add("refresh.finished", at: 31, #""by":"poll","outcome":"ok""#)
    Self.handle(&log, "handle.closed", "a", 6, size: 2_000, covered: 2_000)
    Self.handle(&log, "handle.closed", "b", 7, size: 1_000, covered: 1_000)
    #expect(try report(log).files?.map(\.path) == ["a", "b"])
    #expect(try report(log).files?.map(\.size) == [2_000, 1_000])
    #expect(try report(log).use.whole == 2)
    // One takes the other's name in one refresh, and another one in the next.
    Self.changed(&log, "a", "renamed", #","old_path":"b""#)
    log.add("refresh.finished", at: 32, #""by":"poll","outcome":"ok""#)
    Self.changed(&log, "c", "renamed", #","old_path":"a""#)
    let files = try report(log).files
    #expect(files?.map(\.path) == ["a", "c"] && files?.map(\.size) == [2_000, 1_000])
    #expect(files?.map(\.isSuperseded) == [true, false])
  }

  @Test func aHandleBelongsToItsFileWhateverBecomesOfTheNames() throws {
    var log = Self.start()
    log.add(
      "materialization.started", at: 10,
      #""attempt":1,"path":"d/a","kind":"file","size":1000,"trigger":"read","process":2,"handle":7"#)
    log.finished(1, "d/a", bytes: 1_000, by: 2, at: 20)
    log.add("source.changed", at: 30, #""path":"e","kind":"directory","change":"renamed","old_path":"d","by":"poll""#)
    Self.handle(&log, "handle.closed", "e/a", 7, size: 1_000, covered: 1_000)
    let report = try report(log)
    #expect(report.files?.map(\.path) == ["e/a"])
    #expect(report.use.whole == 1 && report.use.unknown == 0)
  }

  /// Hard links: what was told under one name is of the file that has the other, too.
  @Test func aFileWithSeveralNamesHasOneRow() throws {
    var log = Self.start()
    Self.fetched(&log, "d1/a", size: 500_000, 1)
    Self.handle(&log, "handle.closed", "d1/a", 1, size: 500_000, covered: 1)
    let names = #","names":["d2/b","d1/a"]"#
    Self.handle(&log, "handle.closed", "d2/b", 2, size: 500_000, covered: 500_000, names)
    log.add("handle.unseen", at: 50, #""path":"d2/b","process":2,"size":500000,"io":"page_cache"\#(names)"#)
    log.add(
      "materialization.started", at: 60,
      #""attempt":2,"path":"d2/b","kind":"file","size":500000,"trigger":"read","process":2\#(names)"#)
    let report = try report(log)
    #expect(report.files?.map(\.path) == ["d1/a"] && report.files?.map(\.attempts) == [2])
    #expect(report.use.whole == 1 && report.use.headerOnly == 0 && report.use.needlessFiles == 0)
  }

  // MARK: Handles that are open

  @Test func aHandleThatIsToldTwiceIsCountedOnce() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 10_000, 1)
    for _ in 0..<3 { Self.handle(&log, "handle.open", "a", 5, size: 10_000, covered: 6_000, #","mapped_bytes":2000"#) }
    #expect(try report(log).files?.first?.mappedBytes == 2_000)
    Self.handle(&log, "handle.closed", "a", 5, size: 10_000, covered: 6_000, #","mapped_bytes":2000"#)
    var file = try #require(try report(log).files?.first)
    #expect(file.mappedBytes == 2_000 && file.readBytes == 6_000 && file.use == "in_part")
    // Another handle may have had the same pages, or others.
    Self.handle(&log, "handle.closed", "a", 6, size: 10_000, covered: 6_000, #","mapped_bytes":1000"#)
    file = try #require(try report(log).files?.first)
    #expect(file.mappedBytes == nil)
  }

  @Test func rangesThatAreToldTwiceAreNotTwoRanges() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000_000, 1)
    func told(_ type: String) {
      log.add(
        type, at: 40,
        #""path":"a","handle":5,"process":2,"size":1000000,"covered_bytes":40000,"high_water_mark":900000,"bytes_read":40000,"reads":99"#
      )
    }
    for _ in 0..<30 { told("handle.open") }
    told("handle.closed")
    let report = try report(log)
    #expect(report.use.inPart == 1 && report.use.needlessFiles == 1, "40,000 bytes are less than 5 %")
  }

  // MARK: What nobody opened

  /// A call that materializes without an open (getxattr, link): whether the file was read then is known only where
  /// every open of a resident file leaves a record, too.
  @Test func whatNobodyOpenedIsNeedlessOnlyWhereEveryOpenIsTold() throws {
    func use(
      observe: String = "reads", opens: Int = 0, lost: Bool = false, ends: Bool = true, _ more: (inout LogText) -> Void
    ) throws -> SummaryReport.Use {
      var log = Self.start(observe: observe)
      Self.fetched(&log, "a", size: 1_000, 1, trigger: "xattr")
      more(&log)
      if lost { log.sequence += 1 }
      if ends { log.add("volume.unmounted", at: 50, #""reason":"unmount","opens":{"now":{"direct":\#(opens)}}"#) }
      return try report(log).use
    }
    func settings(_ fields: String) -> (inout LogText) -> Void {
      { $0.add("configuration.changed", at: 30, #""what":"settings","before":{},"after":{\#(fields)},"by":"command""#) }
    }
    var needless = SummaryReport.Use()
    needless.addNeedless(1_000)
    var unknown = SummaryReport.Use()
    unknown.unknown = 1
    #expect(try use { _ in } == needless)
    #expect(try use(settings(#""latency":"2s""#)) == needless)
    #expect(try use(opens: 4_096) { _ in } == needless)
    #expect(try use(opens: 4_097) { _ in } == unknown, "of more than 4,096 open handles some are not told")
    #expect(try use(observe: "off") { _ in } == unknown)
    #expect(try use(settings(#""observe":"off""#)) == unknown)
    #expect(try use(settings(#""observe":null"#)) == unknown)
    #expect(
      try use { $0.add("configuration.changed", at: 30, #""what":"scenario","before":{},"after":{},"by":"api""#) }
        == unknown)
    #expect(try use(lost: true) { _ in } == unknown)
    #expect(try use(ends: false) { _ in } == unknown, "the daemon was killed")
    // One that came through a handle has been opened; its end is missing.
    #expect(
      try use {
        $0.add(
          "materialization.started", at: 10,
          #""attempt":2,"path":"a","kind":"file","size":1000,"trigger":"read","process":2,"handle":3"#)
      } == unknown)
  }

  @Test func aProgramIsNotBlamedForWhatIsNotKnown() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 1_000, 1, trigger: "xattr")
    let report = try report(log)
    #expect(report.processes.map(\.verdict) == ["unknown"])
    #expect(report.files?.map(\.use) == ["unknown"])
  }

  // MARK: What came before a failure

  private static func failed(
    _ log: inout LogText, _ path: String, size: Int, _ attempt: Int, bytes: Int, _ outcome: String
  ) {
    log.started(attempt, path, size: size, by: 2, at: 10)
    log.finished(attempt, path, bytes: bytes, outcome: outcome, by: 2, at: 20)
  }

  @Test func whatStaysOfAFailedAttemptCounts() throws {
    var log = Self.start()
    Self.failed(&log, "a", size: 4_000_000, 1, bytes: 3_145_728, "EIO")
    Self.fetched(&log, "a", size: 4_000_000, 2, part: 3_145_728..<4_000_000)
    // 5 % are 200,000 of all that came, and 42,713 of what the second attempt brought.
    Self.handle(&log, "handle.closed", "a", 1, size: 4_000_000, covered: 150_000)
    let report = try report(log)
    #expect(report.materialized.files == 1 && report.materialized.bytes == 4_000_000)
    #expect(report.materialized.distinctFiles == 1 && report.materialized.distinctBytes == 4_000_000)
    #expect(report.materialized.failures == 1 && report.failures == ["EIO": 1])
    #expect(report.use.needlessFiles == 1 && report.use.needlessBytes == 4_000_000)
    #expect(report.processes.first?.files == 1 && report.processes.first?.bytes == 4_000_000)
    #expect(report.topLevelDirectories.first?.bytes == 4_000_000)
  }

  @Test(arguments: ["EIO", "ETIMEDOUT", "cancelled"]) func anAttemptNeedNotEndWellToMaterialize(outcome: String) throws
  {
    var log = Self.start()
    Self.failed(&log, "a", size: 4_000_000, 1, bytes: 1_000_000, outcome)
    Self.handle(&log, "handle.closed", "a", 1, size: 4_000_000, covered: 0)
    Self.failed(&log, "b", size: 4_000_000, 2, bytes: 0, outcome)
    let report = try report(log)
    #expect(report.materialized.files == 1 && report.materialized.distinctBytes == 1_000_000)
    #expect(report.materialized.failures + report.materialized.cancelled == 2)
    #expect(report.use.needlessFiles == 1 && report.use.needlessBytes == 1_000_000)
    #expect(SummaryText.headline(report).hasPrefix("1 file (976.6 KiB)"))
    // What comes again after an eviction may be the same bytes.
    Self.evicted(&log, "a")
    Self.failed(&log, "a", size: 4_000_000, 3, bytes: 1_000_000, outcome)
    #expect(try self.report(log).materialized.bytes == 2_000_000)
    #expect(try self.report(log).materialized.distinctBytes == nil)
  }

  // MARK: What comes again

  @Test func whatACommandBroughtIsNotReadAgain() throws {
    var log = Self.start()
    Self.brought(&log, "a", size: 10, 1)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 10, 2)
    #expect(try report(log).use.readAgainAfterEviction == 0)
    Self.evicted(&log, "a")
    Self.brought(&log, "a", size: 10, 3)
    Self.handle(&log, "handle.closed", "a", 9, size: 10, covered: 10)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 10, 4)
    #expect(try report(log).use.readAgainAfterEviction == 1)
    // Or read what the command had brought.
    var other = Self.start()
    Self.brought(&other, "a", size: 10, 1)
    Self.handle(&other, "handle.closed", "a", 9, size: 10, covered: 10)
    Self.evicted(&other, "a")
    Self.fetched(&other, "a", size: 10, 2)
    #expect(try report(other).use.readAgainAfterEviction == 1)
  }

  @Test func partsThatComeAgainAfterAnEvictionCountOnce() throws {
    var log = Self.start()
    Self.fetched(&log, "a", size: 100_000, 1, part: 0..<8_192)
    Self.fetched(&log, "a", size: 100_000, 2, part: 40_960..<45_056)
    #expect(try report(log).materialized.distinctBytes == 12_288)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 100_000, 3, part: 4_096..<12_288)
    let report = try report(log)
    #expect(report.materialized.bytes == 20_480)
    #expect(report.materialized.distinctBytes == 16_384)
    Self.evicted(&log, "a")
    Self.fetched(&log, "a", size: 100_000, 4)
    #expect(try self.report(log).materialized.distinctBytes == 100_000)
  }

  @Test func tooManyPartsThatComeAgainAreNotKnown() throws {
    var log = Self.start()
    log.add("volume.counters", at: 1, #""items":{"files":1,"bytes":100000000}"#)
    for round in 0..<2 {
      for index in 0..<1_100 {
        Self.fetched(&log, "a", size: 100_000_000, round * 2_000 + index, part: index * 10_000..<index * 10_000 + 10)
      }
      if round == 0 {
        #expect(try report(log).materialized.distinctBytes == 11_000, "nothing came twice")
        Self.evicted(&log, "a")
      }
    }
    let report = try report(log)
    #expect(report.materialized.bytes == 22_000 && report.materialized.distinctBytes == nil)
    #expect(SummaryText.lines(report, width: 200).contains { $0.contains("an unknown share of 95.4 MiB") })
  }
}
