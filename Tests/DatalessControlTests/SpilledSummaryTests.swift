import SystemPackage
import TestSupport
import Testing

@testable import DatalessControl

/// Summaries that keep little in memory say what they would say with all of it.
@Suite struct SpilledSummaryTests {
  private static func builder(_ lines: [[UInt8]], limits: SpillLimits) -> SummaryBuilder {
    var builder = SummaryBuilder(limits: limits)
    for line in lines {
      if let record = LogRecord(line: line) { builder.add(record) } else { builder.addUnread(UnreadLines(line: line)) }
    }
    return builder
  }

  /// A session of some programs in some files, of which all may happen in any order.
  private static func log(_ random: inout TestRandom, count: Int) -> LogText {
    var log = LogText()
    log.add("volume.mounted", at: 0, #""source":"/src","mountpoint":"/mnt","options":{"observe":"reads"}"#)
    for process in 2...4 { log.process(process, pid: process, "tool\(process % 3)", exe: "/bin/tool\(process % 3)") }
    var time: Int64 = 1
    for attempt in 1...count {
      // Some waits are long, and some come after a pause.
      time += random.oneIn(200) ? 2_000_000_000 : 10
      step(&log, &random, attempt, at: time)
      if random.oneIn(20) { time += 5_000_000_000 }
    }
    if random.oneIn(2) { log.add("volume.unmounted", at: time + 10, #""reason":"unmount""#) }
    return log
  }

  private static func path(_ random: inout TestRandom) -> String {
    random.oneIn(3) ? "d\(random.below(3))/f\(random.below(8))" : "d/f\(random.below(200))"
  }

  private static func step(_ log: inout LogText, _ random: inout TestRandom, _ attempt: Int, at time: Int64) {
    let (path, other, process) = (path(&random), path(&random), 2 + random.below(3))
    let size = random.element(of: [0, 100, 4_096, 5_000_000_000])
    switch random.below(24) {
    case 0:
      let change = random.element(of: ["changed", "added", "gone", "kept"])
      log.add("source.changed", at: time, #""path":"\#(path)","kind":"file","change":"\#(change)","by":"poll""#)
    case 1:
      log.add(
        "source.changed", at: time,
        #""path":"\#(path)","old_path":"\#(other)","kind":"file","change":"renamed","by":"poll""#)
    case 2: log.add("refresh.finished", at: time)
    case 3: log.add("eviction.finished", at: time, #""path":"\#(path)","kind":"file","bytes":1,"by":"command""#)
    case 4:
      let exchange = random.oneIn(3) ? #","exchange":true"# : ""
      log.add("item.renamed", at: time, #""path":"\#(path)","old_path":"\#(other)","kind":"file"\#(exchange)"#)
    case 5: log.add("item.removed", at: time, #""path":"\#(path)","kind":"file""#)
    case 6:
      log.add(
        "materialization.refused", at: time,
        #""path":"\#(path)","kind":"file","size":\#(size),"trigger":"read","process":\#(process),"errno":"EDEADLK""#)
    case 7: log.add("handle.unseen", at: time, #""path":"\#(path)","process":\#(process),"size":\#(size)"#)
    case 8:
      log.add(
        "handle.closed", at: time,
        #""path":"\#(path)","handle":\#(attempt),"process":\#(process),"size":\#(size),"covered_bytes":10,"#
          + #""high_water_mark":90,"ranges":[[0,5],[85,90]],"superseded":true"#)
    case 9: log.closed(path, by: process, size: size, covered: size / 2, at: time)
    case 10: log.started(attempt, path, kind: "directory", trigger: "lookup", by: process, at: time)
    default:
      log.started(attempt, path, size: size, by: process, at: time)
      let blocked: Int64 = random.oneIn(30) ? 4_500_000_000 : 5
      log.waited(attempt, by: process, from: time - blocked, to: time + 1)
      if random.oneIn(50) { return }
      let outcome = random.oneIn(10) ? "EIO" : "ok"
      log.finished(attempt, path, bytes: size, outcome: outcome, by: process, blocked: blocked, at: time + 1)
      if !random.oneIn(4) { log.closed(path, by: process, size: size, covered: random.below(size + 1), at: time + 2) }
    }
  }

  @Test(arguments: TestSeed.seeds) func theReportIsTheSameWithinAnyLimits(seed: UInt64) throws {
    let directory = try SpillDirectory()
    try Fuzz.run("summary within limits", seed: seed, cases: 12) { random, note in
      let lines = Self.log(&random, count: 700).lines.map { bytes($0) }
      let limits = SpillLimits.tiny(&random, in: directory.path)
      // Half of it first, as `summary` may be asked for while the volume writes: a report changes nothing.
      var (large, small) = (
        Self.builder(Array(lines[..<(lines.count / 2)]), limits: .inMemory),
        Self.builder(Array(lines[..<(lines.count / 2)]), limits: limits)
      )
      for part in [lines[..<0], lines[(lines.count / 2)...]] {
        for line in part {
          let record = try #require(LogRecord(line: line))
          large.add(record)
          small.add(record)
        }
        let expected = large.finish(log: bytes("/x"), isMounted: true, now: 1 << 50)
        #expect(small.finish(log: bytes("/x"), isMounted: true, now: 1 << 50) == expected, "\(note)")
        #expect(small.failure == nil, "\(note)")
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func theReportOfAnyLogIsTheSameWithinAnyLimits(seed: UInt64) throws {
    let directory = try SpillDirectory()
    try Fuzz.run("summary of any log within limits", seed: seed, cases: 20) { random, note in
      let lines = LogFuzzTests.log(&random, session: true) + LogFuzzTests.hostileLog(&random)
      let limits = SpillLimits.tiny(&random, in: directory.path)
      let expected = Self.builder(lines, limits: .inMemory).finish(log: bytes("/x"))
      #expect(Self.builder(lines, limits: limits).finish(log: bytes("/x")) == expected, "\(note)")
    }
  }

  @Test func aReportOfWhatCannotBeReadAgainIsAFailure() throws {
    let directory = try SpillDirectory()
    var random = TestRandom(seed: 1)
    let lines = Self.log(&random, count: 500).lines.map { bytes($0) }
    let builder = Self.builder(lines, limits: .tiny(SpillPlace(directories: [directory.path])))
    #expect(!directory.descriptors.isEmpty && builder.failure == nil)
    directory.lose()
    _ = builder.finish(log: bytes("/x"))
    #expect(builder.failure?.errno == .ioError)
  }

  /// A later version takes the place of those before it, whichever of them were materialized.
  @Test func versionsOfOneFileAreOneFile() throws {
    var log = LogText()
    log.mounted()
    log.process(2, pid: 2, "tool", exe: "/bin/tool")
    for attempt in 1...5 {
      log.started(attempt, "a", size: attempt, by: 2, at: 10)
      if attempt != 3, attempt != 5 { log.finished(attempt, "a", bytes: attempt, by: 2, at: 20) }
      log.add("source.changed", at: 30, #""path":"a","kind":"file","change":"changed","by":"poll""#)
    }
    let report = Self.builder(log.lines.map { bytes($0) }, limits: .inMemory).finish(log: [])
    #expect(report.materialized.files == 3 && report.materialized.distinctFiles == 1)
    #expect(report.materialized.distinctBytes == 4)
  }
}
