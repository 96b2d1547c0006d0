import struct DatalessControl.BudgetExcess
import struct DatalessControl.BudgetStatus
import struct DatalessControl.CallerFrame
import struct DatalessControl.CallerStack
import struct DatalessControl.InterpretedCaller
import struct DatalessControl.InterpretedFrame
import struct DatalessControl.RuleCount
import struct DatalessControl.RuleCounts
import struct DatalessControl.RunChild
import struct DatalessControl.RunChildren
import enum DatalessControl.WireCoding
import struct DatalessControl.WireProcess
import DatalessCore
import SystemPackage

@testable import DatalessDaemon

/// One record of each type, with every field that the type can have: what docs/EVENTS.md shows as examples.
enum SampleRecords {
  static let session = "5f0c1d2e3a4b"
  // 2026-01-02T03:04:05Z when the monotonic clock shows zero.
  static let clock = SessionClock(wallOffset: 1_767_323_045_000_000_000)

  static func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000 + 417)
  }

  static let caller: Caller = {
    var caller = Caller(
      process: ProcessID(rawValue: 3), threadID: 4713, pid: 4711, isMainThread: false, uid: 1000, gid: 1000,
      isBudgeted: true)
    caller.threadName = ThreadName("thumbnailer".utf8)
    return caller
  }()

  static func process(arguments: ProcessArguments, exe: ProcessExecutable) -> ProcessRecord {
    ProcessRecord(
      id: ProcessID(rawValue: 3), pid: 4711, startTicks: 123_456, comm: Array("rg".utf8), executable: exe, uid: 1000,
      gid: 1000, cgroup: Array("/user.slice/session-2.scope".utf8),
      parents: [ProcessID(rawValue: 2), ProcessID(rawValue: 1)], arguments: arguments, isBudgeted: false,
      seen: time(20))
  }

  /// A process whose arguments are still being read.
  static func pendingProcess(seen: MonotonicTime) -> ProcessRecord {
    ProcessRecord(
      id: ProcessID(rawValue: 4), pid: 4712, startTicks: 123_456, comm: Array("rg".utf8),
      executable: .path(Array("/usr/bin/rg".utf8)), uid: 1000, gid: 1000, cgroup: nil, parents: [],
      arguments: .pending, isBudgeted: false, seen: seen)
  }

  static let counters = VolumeCounters(
    requests: ["lookup": 4812, "getattr": 97, "read": 1],
    items: [
      "files": 10_000, "files_dataless": 9998, "files_materializing": 0, "files_partial": 0, "files_resident": 1,
      "files_empty": 1, "directories": 15, "directories_dataless": 1, "directories_listed": 14, "others": 0,
      "bytes": 480_000_000, "bytes_resident": 48_000, "local_bytes": 49_152, "other_file_systems": 0,
    ],
    materialized: ["files": 1, "directories": 14, "bytes": 48_000, "failures": 0, "refusals": 0],
    opens: [
      "now": ["direct": 1, "page_cache": 0, "passthrough": 2],
      "since_mount": ["direct": 3, "page_cache": 40, "passthrough": 5],
    ], rules: rules)

  static let rules = LogValue(
    RuleCounts([
      RuleCount(name: "slow-photos", attempts: 1, decided: 1),
      RuleCount(name: "typo", attempts: 0, decided: 0),
    ]))

  static let budgets = Volume.budgetValue(
    BudgetStatus(
      maxFiles: 10, maxBytes: 1_000_000, files: 11, bytes: 528_000, inFlight: 1,
      exceeded: [BudgetExcess(budget: "files", limit: 10, used: 11, path: Array("photos/2024/a.jpg".utf8))]))

  static let children = RunChildren(
    waitedNanoseconds: 1_200_000, end: "time_up",
    left: [
      RunChild(
        process: WireProcess(pid: 4720, comm: "sleep", exe: Array("/usr/bin/sleep".utf8)), holds: ["working_directory"],
        ended: true)
    ],
    outsiders: [
      RunChild(
        process: WireProcess(pid: 4801, comm: "bash", exe: Array("/usr/bin/bash".utf8)), holds: ["working_directory"],
        ended: false)
    ])

  static let started: Event.MaterializationStarted = {
    var started = trigger
    started.rules = ["slow-photos"]
    started.hydration = .partial
    started.range = 0..<48000
    return started
  }()

  private static let trigger = Event.MaterializationStarted(
    attempt: 15, path: Array("photos/2024/a.jpg".utf8), inode: 790_123, kind: .file, size: 48_000, trigger: .read,
    caller: caller, offset: 0, length: 65_536, handle: 7, openFlags: 32_768, io: .direct, name: Array("a.jpg".utf8),
    itemAttempt: 1, inFlight: 1, priorOpens: 1, priorStats: 2, priorXattrCalls: 0,
    time: time(21))

  static func wait(blocked: Nanoseconds?, outcome: Outcome?) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: 15, caller: caller, trigger: .read, offset: 0, length: 65_536, blocked: blocked,
      outcome: outcome, time: time(outcome == nil ? 21 : 222))
  }

  static let stack: WaitStack = {
    func frame(_ module: String, _ offset: UInt64, _ symbol: String, _ line: UInt32?, _ foundBy: String) -> CallerFrame
    {
      CallerFrame(
        module: Array(module.utf8), buildID: "93ac61ec", offset: offset, symbol: Array(symbol.utf8),
        file: line.map { _ in Array("src/fm.c".utf8) }, line: line, foundBy: foundBy)
    }
    let value = CallerStack(
      isComplete: false, end: "unknown_register",
      frames: [
        frame("/usr/lib/x86_64-linux-gnu/libc.so.6", 1_016_493, "__read", nil, "tables"),
        frame("/usr/bin/fm", 4_473, "load_thumbnail", 42, "frame_pointer"),
      ],
      interpreted: InterpretedCaller(
        language: "python", isReadable: true, isComplete: true,
        frames: [InterpretedFrame(function: Array("load".utf8), file: Array("fm.py".utf8), line: 42)]),
      problem: "libdw.so.1 is not installed: no unwind tables, no lines")
    return WaitStack(
      wait: StackRequests.Wait(cause: .attempt(15, .read), caller: caller), failure: nil, number: 3,
      stack: try? WireCoding.encode(value), times: StackRequests.Times(reading: 95_000, naming: 1_200_000))
  }()

  static func hang(_ kind: WatchdogRecord.Kind, spared: AbortAuthority.Refusal? = nil) -> WatchdogRecord {
    var main = caller
    (main.isMainThread, main.threadID, main.threadName) = (true, main.pid, .none)
    let wait = WatchedWaits.Wait(
      cause: .attempt(15, .read), caller: main, path: Array("photos/2024/a.jpg".utf8), since: time(21),
      policy: WatchdogPolicy(mainThread: .seconds(1), action: .abort))
    return WatchdogRecord(kind: kind, wait: wait, blocked: 1_000_120_000, spared: spared)
  }

  static let finished = Event.MaterializationFinished(
    attempt: 15, path: Array("photos/2024/a.jpg".utf8), kind: .file, bytes: 0, entries: 0, outcome: .failed(.timedOut),
    message: "the store did not answer", rule: "slow-photos", requestedDelay: 200_000_000,
    delay: 200_061_000, held: 0, queued: 0, storeTime: 412_000,
    duration: 200_731_000, waiterCount: 1,
    waiters: [wait(blocked: 200_745_000, outcome: .failed(.timedOut))], time: time(222))

  static func access(blocked: Nanoseconds?, outcome: Outcome?) -> Event.AccessRecord {
    Event.AccessRecord(
      access: 41, operation: .read, path: Array("photos/2024/a.jpg".utf8), kind: .file, caller: caller,
      range: 0..<48_000, requestedDelay: 5_000_000, rule: "nfs", blocked: blocked,
      outcome: outcome, time: time(outcome == nil ? 260 : 265))
  }

  static let closed = Event.HandleClosed(
    path: Array("photos/2024/a.jpg".utf8), inode: 790_123, handle: 7, process: ProcessID(rawValue: 3), size: 48_000,
    reads: Event.HandleReads(
      reads: 2, bytesRead: 20_480, coveredBytes: 12_288, mappedBytes: 8_192, highWaterMark: 40_960,
      ranges: [0..<4_096, 32_768..<40_960]),
    readers: [
      Event.HandleClosed.Reader(
        process: ProcessID(rawValue: 4),
        reads: Event.HandleReads(
          reads: 2, bytesRead: 20_480, coveredBytes: 12_288, mappedBytes: 8_192, highWaterMark: 40_960,
          ranges: [0..<4_096, 32_768..<40_960]))
    ], isCachedBefore: true, triggered: true, isSuperseded: true, io: .direct, time: time(230))

  static let opened = Event.HandleClosed(
    path: Array("photos/2024/a.jpg".utf8), inode: 790_123, handle: 8, process: ProcessID(rawValue: 3), size: 48_000,
    reads: Event.HandleReads(reads: 1, bytesRead: 4_096, coveredBytes: 4_096, highWaterMark: 4_096), triggered: false,
    io: .direct, time: time(250))

  static let unseen = Event.HandleUnseen(
    path: Array("photos/2024/a.jpg".utf8), inode: 790_123, process: ProcessID(rawValue: 3), size: 48_000,
    isPassthrough: false, time: time(240))

  static let together = Event.HandleTogether(
    path: Array("photos/2024/a.jpg".utf8), inode: 790_123, handle: 9,
    found: SharedWrite.Together(
      writer: caller, other: ProcessID(rawValue: 5), otherWrites: true, lock: .unknown(.elsewhere)), time: time(429))

  static func eviction(_ errno: Errno?) -> Event.EvictionRecord {
    var record = Event.EvictionRecord(
      path: Array("photos/2024/a.jpg".utf8), kind: .file, bytes: 48_000, errno: errno, by: "command", time: time(300))
    record.reason = errno == nil ? nil : .open
    return record
  }

  static let refused: Event.Refusal = {
    var refused = trigger
    refused.attempt = 0
    refused.requestedDelay = 200_000_000
    return Event.Refusal(trigger: refused, errno: .deadlock, policy: "process")
  }()

  static let exceeded = Event.BudgetExceeded(
    budget: "files", limit: 10, used: 11, attempt: 15, path: Array("photos/2024/a.jpg".utf8), caller: caller,
    time: time(222))

  static let mounted = VolumeMounted(
    source: Array("/home/ann/photos".utf8), mountpoint: Array("/home/ann/mnt".utf8),
    options: ["latency_ns": 200_000_000, "concurrency": nil, "allow_other": false], pid: 4242,
    kernel: "6.18.0", libfuse: "3.14.0", fastPaths: ["parallel_dirops": true, "passthrough": "off"], readOnly: true)

  /// In the order in which docs/EVENTS.md describes them.
  static let all =
    unchanged + ChangeRecords.samples.map { (record: LogRecord.event(.changed($0)), time: $0.time) }
    + [conflict(.found), conflict(.resolved(.keepBoth, copy: conflictCopy))].map {
      (record: LogRecord.event(.conflict($0)), time: $0.time)
    } + [(record: .reset(reset), time: time(427))] + coordinated
    + later

  private static let later: [(record: LogRecord, time: MonotonicTime)] = [
    (.event(.waitFinished(lookup)), time(428)), (.event(.handleTogether(together)), together.time),
  ]

  private static let lookup: Event.WaitRecord = {
    var wait = Event.WaitRecord(
      attempt: 15, caller: caller, trigger: .lookup, offset: nil, length: nil, blocked: 200_745_000, outcome: .ok,
      time: time(428))
    wait.lookup = Event.AnsweredLookup(name: Array("a.jpg".utf8), found: .file)
    return wait
  }()

  private static let reset = VolumeReset(files: 1, directories: 14, bytes: 48_000, by: .api, counters: counters)

  private static let unchanged: [(record: LogRecord, time: MonotonicTime)] = [
    (.mounted(mounted), time(0)),
    (.counters(counters, dropped: 0), time(240)),
    (.unmounted(reason: "unmount", counters: counters, dropped: 0), time(5000)),
    (
      .process(
        process(
          arguments: .known([Array("bash".utf8), Array("build.sh".utf8), Array("all".utf8)], isTruncated: true),
          exe: .path(Array("/usr/bin/bash".utf8)))), time(20)
    ),
    (.event(.materializationStarted(started)), started.time),
    (.event(.waitStarted(wait(blocked: nil, outcome: nil))), time(21)),
    (.event(.waitFinished(wait(blocked: 200_745_000, outcome: .failed(.timedOut)))), time(222)),
    (.event(.materializationFinished(finished)), finished.time),
    (.event(.handleClosed(closed)), closed.time),
    (.event(.evictionFinished(eviction(nil))), time(300)),
    (.event(.evictionRefused(eviction(.resourceBusy))), time(300)),
    (.event(.budgetExceeded(exceeded)), exceeded.time),
    (.mark(label: "before indexing", counters: counters), time(400)),
    (.runStarted(command: [Array("sh".utf8), Array("build.sh".utf8)], isWithheld: true, pid: 4711), time(1)),
    (
      .runFinished(
        RunEnd(exitStatus: 0), budgets: Self.budgets, rules: rules, children: LogValue(Self.children)), time(4900)
    ),
    (.dropped(312), time(500)),
    (.event(.materializationRefused(refused)), time(21)),
    (
      .event(
        .materializationHeld(
          Event.Hold(
            attempt: 15, path: Array("photos/2024/a.jpg".utf8), gate: "photos", rule: "hold-photos", time: time(21)))),
      time(21)
    ),
    (
      .event(
        .materializationReleased(
          Event.Release(
            attempt: 15, path: Array("photos/2024/a.jpg".utf8), gate: "photos", by: "command", errno: .timedOut,
            held: 201_000_000, time: time(222)))), time(222)
    ),
    (.configurationChanged(changed), time(410)),
    (.event(.sourceChanged(renamed)), renamed.time), (.event(.refreshFinished(refreshed)), refreshed.time),
    (.event(.handleUnseen(unseen)), unseen.time), (.event(.handleOpen(opened)), opened.time),
    (.event(.accessStarted(access(blocked: nil, outcome: nil))), time(260)),
    (.event(.accessFinished(access(blocked: 5_061_000, outcome: .ok))), time(265)),
    (.waitStack(stack), time(270)),
    (.watchdog(hang(.expired, spared: .notNamed)), time(1_021)), (.watchdog(hang(.signalled)), time(1_022)),
    (.watchdog(hang(.survived)), time(2_022)),
  ]

  private static let coordinated: [(record: LogRecord, time: MonotonicTime)] =
    [
      Event.Coordination.Step.started(waitsFor: [5, 6], place: Array("notes".utf8)),
      .granted(waited: 1_200_000, asking: 3_000_000, materializing: 201_000_000, materialized: 2),
      .finished(
        outcome: "coordination_taken_away", held: 5_000_000_000, message: "the process was stopped while others waited",
        others: 3),
    ].map { (.event(.coordination(coordination($0))), time(280)) }
    + [
      Event.Presenter.Step.started, .answered(intent: 7, what: "replace", took: 3_000_000, outcome: "ok"),
      .finished(outcome: "coordination_bad_request", message: "16384 messages are unread"),
    ].map { (.event(.presenter(presenter($0))), time(290)) }

  static func presenter(_ step: Event.Presenter.Step) -> Event.Presenter {
    Event.Presenter(
      presenter: 4, step: step, path: Array("notes".utf8),
      caller: coordination(.started(waitsFor: [], place: [])).caller,
      time: time(290))
  }

  static func coordination(_ step: Event.Coordination.Step) -> Event.Coordination {
    var caller = caller
    (caller.threadID, caller.isMainThread, caller.threadName) = (0, false, .none)
    return Event.Coordination(
      intent: 7, step: step, path: Array("notes/a.txt".utf8),
      names: [Array("notes/a.txt".utf8), Array("notes/b.txt".utf8)], reads: 1, writes: 1, options: ["replacing"],
      within: 5, caller: caller, time: time(280))
  }

  private static func version(size: Int64, changed: Int64) -> ItemAttributes {
    ItemAttributes(
      device: 1, inode: 790_123, mode: 0o100644, linkCount: 1, uid: 0, gid: 0, specialDevice: 0, size: size, blocks: 96,
      accessTime: Timestamp(seconds: 1_767_000_000, nanoseconds: 0),
      modificationTime: Timestamp(seconds: 1_767_000_000, nanoseconds: 0),
      changeTime: Timestamp(seconds: changed, nanoseconds: 5))
  }

  static let conflictCopy = Array("photos/2024/a (local 2026-01-02).jpg".utf8)
  static func conflict(
    _ change: Event.ConflictRecord.Change, kind: ConflictKind = .changedOnBothSides
  ) -> Event.ConflictRecord {
    Event.ConflictRecord(
      change, path: Array("photos/2024/a.jpg".utf8), kind: kind, mine: version(size: 48_100, changed: 1_767_323_000),
      theirs: version(size: 48_200, changed: 1_767_323_040), time: time(change == .found ? 425 : 426))
  }

  static let renamed = Event.SourceChange(
    path: Array("photos/2025/a.jpg".utf8), change: .renamed, kind: .file, oldPath: Array("photos/2024/a.jpg".utf8),
    old: version(size: 48_000, changed: 1_767_000_000), new: version(size: 48_000, changed: 1_767_323_040),
    by: .command,
    time: time(420))

  static let refreshed: Event.RefreshFinished = {
    var counts = RefreshCounts()
    counts.renamed = 1
    counts.unchanged = 99
    counts.directories = 2
    return Event.RefreshFinished(
      by: .command, counts: counts, failures: 0, outcome: .ok, duration: 1_412_000, time: time(421))
  }()

  private static let changed = ConfigurationChange(
    what: .settings, before: ["latency": .json(Array(#""200ms""#.utf8))],
    after: ["latency": .json(Array(#""2s""#.utf8))],
    by: .command)

  static func lines(_ records: [(record: LogRecord, time: MonotonicTime)]) -> [String] {
    var encoder = LogEncoder(session: session, clock: clock)
    for (index, entry) in records.enumerated() {
      encoder.append(LogRing.Entry(number: UInt64(index + 1), time: entry.time, record: entry.record))
    }
    return String(decoding: encoder.json.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
