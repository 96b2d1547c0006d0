import DatalessCore
import Glibc
import TestSupport
import Testing

@testable import DatalessDaemon

@Suite struct EventLogTests {
  @Test func flushIsABarrier() async throws {
    let fixture = try LogFixture()
    for index in 0..<300 {
      var event = SampleRecords.started
      event.attempt = UInt64(index)
      fixture.log.record(.materializationStarted(event))
    }
    #expect(await fixture.log.flush() == LogFlush(lost: 0))
    let lines = try fixture.lines()
    #expect(lines.count == 300)
    #expect(lines.map { $0["seq"]?.integer } == (1...300).map { Int64($0) })
    #expect(lines.map { $0["attempt"]?.integer } == (0..<300).map { Int64($0) })
    #expect(lines.allSatisfy { $0["session"]?.string == SampleRecords.session && $0["v"]?.integer == 1 })
    #expect(lines[0]["time"]?.string == "2026-01-02T03:04:05.021000417Z")
    #expect(await fixture.log.flush() == LogFlush(lost: 0))
  }

  @Test func manyThreadsNothingLostNothingTorn() async throws {
    let fixture = try LogFixture()
    let done = TestSignal<Void>()
    for thread in 0..<4 {
      LaneThread.startOrTrap(name: "recorder") { [log = fixture.log] in
        for index in 0..<500 {
          var event = SampleRecords.finished
          event.attempt = UInt64(thread * 500 + index)
          log.record(.materializationFinished(event))
        }
        done.send()
      }
    }
    #expect(done.wait(count: 4) != nil)
    #expect(await fixture.log.flush() == LogFlush(lost: 0))
    let lines = try fixture.lines()
    #expect(lines.map { $0["seq"]?.integer } == (1...2000).map { Int64($0) })
    #expect(Set(lines.compactMap { $0["attempt"]?.integer }).count == 2000)
  }

  @Test func aFullRingDropsCountsAndSays() async throws {
    // A pipe that nobody reads stops the writer; 64 KiB fit.
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let log = EventLog(descriptor: ends[1], session: SampleRecords.session, capacity: 100, clock: SampleRecords.clock)
    let total = 5000
    for _ in 0..<total { log.record(.handleClosed(SampleRecords.closed)) }
    let dropped = log.status.dropped
    #expect(dropped > 0)
    let text = TestSignal<[UInt8]>()
    LaneThread.startOrTrap(name: "reader") { [reader = ends[0]] in
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while case let count = read(reader, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
      close(reader)
      text.send(bytes)
    }
    #expect(await log.flush() == LogFlush(lost: dropped))
    #expect(log.mark(label: "after", counters: VolumeCounters()) == UInt64(total + 1))
    #expect(log.close(timeout: .seconds(30)))
    let lines = try LogFixture.parse(try #require(text.wait()?.first))
    var last: Int64 = 0
    var lost: Int64 = 0
    for line in lines {
      let count = line["type"]?.string == "log.dropped" ? line["count"]?.integer ?? 0 : 0
      let number = try #require(line["seq"]?.integer)
      #expect(number == last + max(count, 1))
      last = number
      lost += count
    }
    #expect(lost == Int64(dropped))
    #expect(last == Int64(total + 1))
    // After the end everything is lost, and said to be.
    log.record(.handleClosed(SampleRecords.closed))
    #expect(log.status.dropped == dropped + 1)
    #expect(log.mark(label: "late", counters: VolumeCounters()) == nil)
  }

  @Test func nothingFollowsTheEndOfTheVolume() throws {
    let fixture = try LogFixture()
    fixture.log.recordUnmounted(reason: "test", counters: VolumeCounters())
    fixture.log.record(.evictionFinished(SampleRecords.eviction(nil)))
    #expect(fixture.log.mark(label: "late", counters: VolumeCounters()) == nil)
    #expect(fixture.log.close(timeout: .seconds(10)))
    #expect(try fixture.lines().last?["type"]?.string == "volume.unmounted")
    #expect(fixture.log.status.dropped == 2)
  }

  @Test func followersGetEachLineAsItIsWritten() async throws {
    let fixture = try LogFixture()
    fixture.log.record(.handleClosed(SampleRecords.closed))
    _ = await fixture.log.flush()
    let stream = fixture.log.subscribe()
    let gone = fixture.log.subscribe(limit: 1)
    for _ in 0..<100 { fixture.log.record(.handleClosed(SampleRecords.closed)) }
    #expect(fixture.log.close(timeout: .seconds(30)))
    var followed: [[UInt8]] = []
    for await line in stream { followed.append(line) }
    let written = fixture.bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    #expect(followed == Array(written.dropFirst()))
    var newest: [[UInt8]] = []
    for await line in gone { newest.append(line) }
    #expect(newest == [written.last])
    for await _ in fixture.log.subscribe() { Issue.record("a closed log has no lines") }
  }

  @Test func aLineOfAProcessWaitsForItsArgumentsButNotForEver() async throws {
    let fixture = try LogFixture()
    let log = fixture.log
    // Seen an hour from now, so that the wait for its arguments cannot end by itself.
    let held = SampleRecords.pendingProcess(seen: MonotonicTime.current + 3_600_000_000_000)
    log.record(.handleClosed(SampleRecords.closed))
    _ = await log.flush()
    log.processSeen(held)
    let marked = TestSignal<LogFlush>()
    log.mark(label: "behind", counters: VolumeCounters())
    log.flush { marked.send($0) }
    #expect(try fixture.lines().count == 1)
    #expect(marked.values.isEmpty)
    held.setArguments(.known([[0xFF, 0x41], Array("b".utf8)], isTruncated: true), isCaller: true)
    log.argumentsResolved(of: held)
    #expect(marked.wait()?.first == LogFlush(lost: 0))
    let lines = try fixture.lines()
    #expect(lines.map { $0["type"]?.string } == ["handle.closed", "process.seen", "mark"])
    #expect(lines[1]["argv"]?.array?.map(\.string) == ["\u{FFFD}A", "b"])
    #expect(lines[1]["argv_b64"]?.array?.map(\.decodedBytes) == [[0xFF, 0x41], [0x62]])
    #expect(lines[1]["argv_truncated"] == .bool(true))
    #expect(lines[1]["unavailable"] == nil)
    // One whose arguments never come.
    log.processSeen(SampleRecords.pendingProcess(seen: .current))
    #expect(await log.flush() == LogFlush(lost: 0))
    let late = try #require(try fixture.lines().last)
    #expect(late["argv"] == .null)
    #expect(late["unavailable"]?.string == "late")
  }

  @Test func whatIsUnknownIsNull() throws {
    var closed = SampleRecords.closed
    closed.process = .unknown
    var started = SampleRecords.started
    started.caller = Caller(process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0)
    let foreign = ProcessRecord(
      id: ProcessID(rawValue: 9), pid: nil, startTicks: nil, comm: nil, executable: .unavailable(.pidNamespace), uid: 1,
      gid: 2, cgroup: nil, parents: [], arguments: .unavailable(.pidNamespace), isBudgeted: false,
      seen: SampleRecords.time(0))
    let lines = try SampleRecords.lines([
      (.event(.handleClosed(closed)), closed.time), (.event(.materializationStarted(started)), started.time),
      (.process(foreign), foreign.seen),
      (.runFinished(RunEnd(signal: 9), budgets: nil, rules: nil, children: nil), closed.time),
    ]).map { try ParsedJSON($0) }
    #expect(lines[0]["process"] == .null)
    #expect(["process", "tid", "main_thread"].allSatisfy { lines[1][$0] == .null })
    #expect(["pid", "start_ticks", "comm", "exe", "argv", "cgroup"].allSatisfy { lines[2][$0] == .null })
    #expect(lines[2]["unavailable"]?.string == "pid_namespace")
    #expect(lines[2]["uid"]?.integer == 1)
    #expect(lines[3]["signal"]?.string == "SIGKILL")
    #expect(lines[3]["exit_status"] == nil)
  }

  /// Random bytes wherever bytes go in.
  @Test func anotherModeIsToldFromAnotherVersion() throws {
    var change = SampleRecords.renamed
    change.change = .changed
    change.oldPath = nil
    change.new = change.old
    change.new?.mode = 0o100600
    var version = change
    version.new?.size = 1
    let lines = try SampleRecords.lines([
      (.event(.sourceChanged(change)), change.time), (.event(.sourceChanged(version)), change.time),
    ])
    .map { try ParsedJSON($0) }
    #expect(lines.map { $0["metadata_only"] } == [.bool(true), nil])
  }

  @Test func everyLineIsJSON() throws {
    let seed = TestSeed.one
    var random = TestRandom(seed: seed)
    for _ in 0..<500 {
      var started = SampleRecords.started
      started.path = RandomBytes.next(&random)
      started.name = RandomBytes.next(&random)
      var finished = SampleRecords.finished
      finished.path = RandomBytes.next(&random)
      finished.message = String(decoding: RandomBytes.next(&random), as: UTF8.self)
      let arguments = (0..<3).map { _ in RandomBytes.next(&random) }
      let process = SampleRecords.process(
        arguments: .known(arguments, isTruncated: false), exe: .path(RandomBytes.next(&random)))
      var mounted = SampleRecords.mounted
      mounted.source = RandomBytes.next(&random)
      mounted.mountpoint = RandomBytes.next(&random)
      mounted.options = ["cache": .bytes(RandomBytes.next(&random)), "\u{1}\"": .string("\u{2028}\u{0}")]
      let lines = SampleRecords.lines([
        (.event(.materializationStarted(started)), started.time),
        (.event(.materializationFinished(finished)), finished.time), (.process(process), process.seen),
        (.mounted(mounted), started.time), (.runStarted(command: arguments, isWithheld: false, pid: 1), started.time),
      ])
      #expect(lines.count == 5, "seed \(seed)")
      for line in lines { #expect(throws: Never.self, "seed \(seed): \(line)") { try ParsedJSON(line) } }
    }
  }
}
