import struct DatalessControl.BudgetExcess
import struct DatalessControl.BudgetStatus
import struct DatalessControl.CallerStack
import struct DatalessControl.RunChild
import struct DatalessControl.RunChildren
import struct DatalessControl.RunFinishedRequest
import enum DatalessControl.WireCoding
import struct DatalessControl.WireProcess
import DatalessCore
import DatalessStacks
import SystemPackage

@testable import DatalessDaemon

/// Records with names that are not UTF-8 and with everything that a type can have, and such with as little as there can
/// be.
enum ExtremeRecords {
  private static let odd: [UInt8] = [0x61, 0xff]
  private static let unknown = Caller(
    process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 1000, gid: 1000, isBudgeted: false)

  /// A caller whose thread has a name that is not UTF-8.
  private static let oddlyNamed: Caller = {
    var caller = SampleRecords.caller
    caller.threadName = ThreadName(odd)
    return caller
  }()

  static let all = (full + least + changes + together).map { (record: $0, time: SampleRecords.time(500)) }

  private static let changes = ChangeRecords.extremes(odd: odd, unknown: unknown, named: oddlyNamed).map {
    LogRecord.event(.changed($0))
  }

  // MARK: - With everything

  private static let reads = Event.HandleReads(
    reads: 1, bytesRead: 2, coveredBytes: 3, coveredUnit: 4096, mappedBytes: 4, highWaterMark: 5, ranges: [0..<5])

  private static let budget = BudgetStatus(
    files: 1, bytes: 2, exceeded: [BudgetExcess(budget: "bytes", limit: 1, used: 2, path: odd)])
  private static let children = RunChildren(
    waitedNanoseconds: 1, end: "interrupted",
    left: [
      RunChild(process: WireProcess(pid: 1, comm: "sh", exe: odd), holds: [], ended: true),
      RunChild(process: WireProcess(pid: 1), ended: false),
    ])

  private static let full: [LogRecord] = {
    var started = SampleRecords.started
    (started.path, started.names, started.callerPath, started.name) = (odd, [odd, odd], odd, odd)
    started.caller = oddlyNamed
    var waited = wait(oddlyNamed, .ok)
    waited.lookup = Event.AnsweredLookup(name: odd, found: .emptyFile)
    var finished = SampleRecords.finished
    (finished.path, finished.entries, finished.waiters) = (odd, 1, [waited])
    var closed = SampleRecords.closed
    (closed.path, closed.names, closed.reads) = (odd, [odd], reads)
    closed.readers = [Event.HandleClosed.Reader(process: closed.process, reads: reads)]
    var unseen = SampleRecords.unseen
    unseen.path = odd
    var evicted = SampleRecords.eviction(nil)
    (evicted.path, evicted.names, evicted.purge, evicted.area) = (odd, [odd], .temporary, "tmp")
    var refused = SampleRecords.eviction(.resourceBusy)
    (refused.path, refused.names) = (odd, [odd])
    var exceeded = SampleRecords.exceeded
    (exceeded.path, exceeded.caller) = (odd, oddlyNamed)
    var changed = SampleRecords.renamed
    (changed.path, changed.oldPath) = (odd, odd)
    var owned = SampleRecords.renamed
    (owned.change, owned.new) = (.changed, owned.old)
    var disputed = SampleRecords.conflict(.resolved(.keepBoth, copy: odd))
    disputed.path = odd
    var bare = SampleRecords.conflict(.found, kind: .changedHereGoneThere)
    (bare.path, bare.mine, bare.theirs) = (odd, nil, nil)
    var ended = SampleRecords.conflict(.ended, kind: .changedHereGoneThere)
    (ended.path, ended.mine, ended.theirs) = (odd, nil, nil)
    var accessed = SampleRecords.access(blocked: nil, outcome: nil)
    (accessed.path, accessed.names, accessed.gate, accessed.caller) = (odd, [odd, odd], "g", oddlyNamed)
    var answered = SampleRecords.access(blocked: 1, outcome: .failed(.interrupted))
    (answered.path, answered.names, answered.gate, answered.caller) = (odd, [odd, odd], "g", oddlyNamed)
    var mounted = SampleRecords.mounted
    (mounted.source, mounted.mountpoint, mounted.tellsTogether) = (odd, odd, true)
    let refusal = Event.Refusal(trigger: started, errno: .deadlock, policy: "process")
    let held = Event.Hold(attempt: 1, path: odd, gate: "g", rule: "r", time: SampleRecords.time(1))
    let released = Event.Release(
      attempt: 1, path: odd, gate: "g", by: "command", errno: .timedOut, held: 1, time: SampleRecords.time(1)
    )
    var written = SampleRecords.counters
    written.changes = ["dirty_files": 1, "dirty_bytes": 2, "names_made": 3, "names_removed": 4, "other_attributes": 5]
    return coordination(odd, isFull: true) + [
      .counters(written, dropped: 0), .unmounted(reason: "r", counters: written, dropped: 0),
      .mark(label: "l", counters: written),
      .event(.materializationStarted(started)), .event(.materializationFinished(finished)),
      .event(.waitStarted(wait(oddlyNamed, nil))), .event(.waitFinished(waited)), .event(.handleClosed(closed)),
      .event(.handleOpen(closed)), .event(.handleUnseen(unseen)), .event(.evictionFinished(evicted)),
      .event(.evictionRefused(refused)), .event(.budgetExceeded(exceeded)), .event(.sourceChanged(changed)),
      .event(.conflict(bare)), .event(.conflict(disputed)), .event(.conflict(ended)), .event(.sourceChanged(owned)),
      .event(.accessStarted(accessed)), .event(.accessFinished(answered)),
      .event(.materializationRefused(refusal)), .event(.materializationHeld(held)),
      .event(.materializationReleased(released)), .waitStack(stack(odd)), .waitStack(accessStack),
      .watchdog(hang(.expired, odd, .otherUser)), .watchdog(hang(.signalled, odd, .ended)),
      .watchdog(hang(.survived, odd, nil)), .watchdog(accessHang(.expired)), .watchdog(accessHang(.signalled)),
      .watchdog(accessHang(.survived)), .mounted(mounted), .process(process),
      .process(lateProcess),
      .process(script),
      .runStarted(command: [odd], isWithheld: true, pid: 1),
      .runFinished(
        RunEnd(RunFinishedRequest(signal: "SIGKILL", notStarted: "ENOENT", interruptedBy: "SIGTERM")),
        budgets: Volume.budgetValue(budget), rules: SampleRecords.rules, children: LogValue(children)),
    ]
  }()

  /// Who writes beside whom, with every key, and with as few as there can be.
  private static let together: [LogRecord] = {
    var full = SampleRecords.together
    full.path = odd
    (full.found.writer, full.found.lock) = (oddlyNamed, .held)
    var least = full
    (least.path, least.handle) = ([], 0)
    least.found = SharedWrite.Together(writer: unknown, other: .unknown, otherWrites: false, lock: .unknown(.unseen))
    var free = full
    free.found.lock = .free
    return [full, least, free].map { .event(.handleTogether($0)) }
  }()

  /// Intents and presenters with every key, or with as few as there can be.
  private static func coordination(_ path: [UInt8], isFull: Bool) -> [LogRecord] {
    let intents: [Event.Coordination.Step] = [
      .started(waitsFor: isFull ? [1] : [], place: path),
      .granted(waited: 0, asking: 0, materializing: 0, materialized: 0),
      .finished(outcome: "ok", held: isFull ? 1 : nil, message: isFull ? "m" : nil, others: isFull ? .max : 0),
    ]
    let presenters: [Event.Presenter.Step] = [
      .started, .answered(intent: 1, what: "read", took: 0, outcome: "withdrawn"),
      .finished(outcome: "ok", message: isFull ? "m" : nil),
    ]
    return intents.map { step in
      var intent = SampleRecords.coordination(step)
      intent.path = path
      (intent.names, intent.options) = isFull ? ([path, path], ["moving"]) : ([], [])
      if !isFull { intent.within = nil }
      return .event(.coordination(intent))
    }
      + presenters.map { step in
        var presenter = SampleRecords.presenter(step)
        presenter.path = path
        return .event(.presenter(presenter))
      }
  }

  private static func wait(_ caller: Caller, _ outcome: Outcome?) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: 1, caller: caller, trigger: .readdir, offset: nil, length: nil, blocked: outcome == nil ? nil : 1,
      outcome: outcome, time: SampleRecords.time(1))
  }

  /// Of a delayed call.
  private static let accessStack: WaitStack = {
    var taken = stack(odd)
    taken.wait = StackRequests.Wait(cause: .access(1, .read), caller: oddlyNamed)
    taken.wait.path = odd
    return taken
  }()

  /// Of a delayed call.
  private static func accessHang(_ kind: WatchdogRecord.Kind) -> WatchdogRecord {
    var record = hang(kind, odd, nil)
    record.wait.cause = .access(1, .getattr)
    return record
  }

  private static func hang(
    _ kind: WatchdogRecord.Kind, _ path: [UInt8]?, _ spared: AbortAuthority.Refusal?
  ) -> WatchdogRecord {
    var record = SampleRecords.hang(kind, spared: spared)
    (record.wait.path, record.wait.caller.process) = (path, .unknown)
    return record
  }

  /// The name of a function, a file and a module are a caller's.
  private static func stack(_ name: [UInt8]?, failure: StackFailure? = nil) -> WaitStack {
    let content = name.flatMap { name in
      let frame = NamedFrame(module: name, offset: .max, symbol: name, file: name, line: 1, certainty: .guessed)
      let function = InterpretedFunction(function: name, file: name, line: nil)
      let interpreted = InterpretedStack(language: name, isReadable: true, isComplete: false, frames: [function])
      let stack = NamedStack(
        frames: [frame, NamedFrame(module: [], offset: 0, certainty: .tables)], end: .tooDeep, interpreted: interpreted,
        problem: name)
      return try? WireCoding.encode(CallerStack(stack))
    }
    return WaitStack(
      wait: StackRequests.Wait(cause: .attempt(1, .readdir), caller: unknown), failure: failure,
      number: failure == nil ? .max : nil, stack: content)
  }

  /// In a container of which neither name nor unit is UTF-8.
  private static let group = Array("/lxc.payload.".utf8) + odd + Array("/".utf8) + odd + Array(".service".utf8)

  private static func process(
    _ arguments: ProcessArguments, exe: ProcessExecutable, isKnown: Bool = true
  ) -> ProcessRecord {
    ProcessRecord(
      id: ProcessID(rawValue: 5), pid: isKnown ? 1 : nil, startTicks: isKnown ? 2 : nil, comm: isKnown ? odd : nil,
      executable: exe, uid: isKnown ? 3 : nil, gid: isKnown ? 4 : nil, cgroup: isKnown ? group : nil,
      parents: isKnown ? [ProcessID(rawValue: 5), ProcessID(rawValue: 9)] : [],
      arguments: arguments, isBudgeted: false, seen: SampleRecords.time(1))
  }

  private static let process = process(
    .known([Array("/bin/sh".utf8), odd], isTruncated: true), exe: .path(Array("/bin/sh".utf8) + [0xff]))
  private static let lateProcess = process(.pending, exe: .path(Array("/bin/sh".utf8)))
  private static let script = process(.withheld(script: odd), exe: .path(Array("/bin/sh".utf8)))

  // MARK: - With as little as there can be

  private static let least: [LogRecord] = {
    let started = Event.MaterializationStarted(
      attempt: 1, path: [], inode: 1, kind: .directory, size: 0, trigger: .readdir, caller: unknown, itemAttempt: 1,
      inFlight: 1, priorOpens: 0, priorStats: 0, priorXattrCalls: 0, time: SampleRecords.time(1))
    let finished = Event.MaterializationFinished(
      attempt: 1, path: [], kind: .file, bytes: 0, entries: nil, outcome: .ok, message: nil, rule: nil,
      requestedDelay: 0, delay: 0, held: 0, queued: 0, storeTime: 0,
      duration: 0, waiterCount: 1, waiters: [wait(unknown, .ok)], time: SampleRecords.time(1))
    let reads = Event.HandleReads(reads: 0, bytesRead: 0, coveredBytes: 0, highWaterMark: 0)
    let closed = Event.HandleClosed(
      path: [], inode: 1, handle: 1, process: .unknown, size: 0, reads: reads,
      readers: [Event.HandleClosed.Reader(process: .unknown, reads: reads)], triggered: false, io: .direct,
      time: SampleRecords.time(1))
    var unread = closed
    unread.readers = []
    let changed = Event.SourceChange(
      path: [], change: .gone, kind: .directory, old: nil, new: nil, by: .poll, time: SampleRecords.time(1))
    func access(_ outcome: Outcome?) -> Event.AccessRecord {
      Event.AccessRecord(
        access: 1, operation: .lookup, path: [], kind: .directory, caller: unknown, requestedDelay: 1,
        blocked: outcome == nil ? nil : 1, outcome: outcome, time: SampleRecords.time(1))
    }
    let refusal = Event.Refusal(trigger: started, errno: .deadlock, policy: "volume")
    var exceeded = SampleRecords.exceeded
    (exceeded.path, exceeded.caller) = ([], unknown)
    let released = Event.Release(
      attempt: 1, path: [], gate: "g", by: "api", errno: nil, held: 1, time: SampleRecords.time(1))
    let replaced = ConfigurationChange(what: .scenario, before: .null, after: .null, by: .api)
    return coordination([], isFull: false) + [
      .event(.materializationStarted(started)), .event(.waitStarted(wait(unknown, nil))),
      .event(.waitFinished(wait(unknown, .ok))),
      .event(.materializationFinished(finished)), .event(.handleClosed(closed)), .event(.handleOpen(unread)),
      .event(.handleClosed(unread)), .event(.sourceChanged(changed)), .event(.materializationRefused(refusal)),
      .event(.materializationReleased(released)), .event(.budgetExceeded(exceeded)),
      .event(.accessStarted(access(nil))),
      .event(.accessFinished(access(.ok))), .configurationChanged(replaced), .waitStack(stack(nil)),
      .waitStack(stack(nil, failure: .memoryLocked)), .watchdog(hang(.expired, nil, nil)),
      .watchdog(hang(.signalled, nil, nil)), .watchdog(hang(.survived, nil, nil)),
      .process(process(.withheld(script: nil), exe: .unavailable(.exited), isKnown: false)),
      .process(process(.unavailable(.permission), exe: .unavailable(.permission), isKnown: false)),
      .runStarted(command: [], isWithheld: false, pid: 1),
      .runFinished(
        RunEnd(), budgets: ["files": 0, "bytes": 0, "in_flight": 0, "exceeded": []],
        rules: SampleRecords.rules,
        children: nil),
    ]
  }()
}
