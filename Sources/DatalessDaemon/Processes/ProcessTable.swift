import DatalessCore
import Glibc
import Synchronization

/// Tells who calls: finds the process of a calling thread, gives it an id for the log, and its ancestors too.
///
/// All reads on the calling thread are of files in /proc that take no lock of the process; the arguments are read by
/// the capture lane afterwards. Lock order: the table's lock, then the sink's.
final class ProcessTable: Sendable {
  // LIMIT: as Linux allows 4 million processes, a chain of ancestors has no natural end.
  static let maximumAncestors = 32

  private let state: Mutex<ProcessTableState>
  private let capture: CaptureLane
  private let sink: any ProcessSink
  private let policy: ArgumentPolicy
  private let look: @Sendable (Int32) -> ProcessSnapshot?

  /// - Parameters:
  ///   - policy: Whose arguments are read: by default those of callers.
  ///   - capacity: processes remembered, 65,536 by default. The oldest is forgotten first; seen again, it gets a new id
  ///     and is written again.
  ///   - look: Looks at a process by its id; in /proc by default.
  init(
    capture: CaptureLane, sink: any ProcessSink, policy: ArgumentPolicy = .callers, capacity: Int = 65_536,
    look: @escaping @Sendable (Int32) -> ProcessSnapshot? = { ProcessSnapshot($0) }
  ) {
    self.capture = capture
    self.policy = policy
    self.sink = sink
    self.look = look
    state = Mutex(ProcessTableState(capacity: max(capacity, 1)))
  }

  /// The caller of a request, or of a command of the control API. Call it while the caller is blocked, and before the
  /// first event that names it.
  ///
  /// - Parameters:
  ///   - threadID: `pid` of the FUSE request, which is a thread's; 0 when it lives in another pid namespace. A process
  ///     id will do.
  ///   - uid, gid: of the request.
  func caller(threadID: Int32, uid: UInt32, gid: UInt32) -> Caller {
    let (record, isFirst) = identify(threadID, uid: uid, gid: gid, isCaller: true)
    if !record.isCaller { noteCall(of: record) }
    // A thread of the kernel is a process to /proc, and of no program.
    let isMainThread = isFirst && !record.executable.isKernelThread
    return Caller(
      process: record.id, threadID: max(threadID, 0), pid: record.pid ?? 0, isMainThread: isMainThread, uid: uid,
      gid: gid, isBudgeted: record.isBudgeted)
  }

  /// What the thread of a caller is called, if not as its process. Call it while the caller is blocked, and only for
  /// calls that may have to wait: it reads a file of /proc for each thread that is not its process' first.
  func threadName(of caller: Caller) -> ThreadName {
    guard caller.threadID > 0, !caller.isMainThread else { return .none }
    let (pin, record) = state.withLock { state in (state.pin(caller.threadID), state.record(caller.process)) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
      var count = pin.flatMap { $0.record === record ? $0.readName(into: buffer) : nil } ?? 0
      if count <= 0 { count = ProcReader.read(caller.threadID, "comm", into: buffer) }
      // It ends with a line end.
      guard count > 1 else { return .none }
      let name = buffer[..<(count - 1)]
      return record?.comm.map { $0.elementsEqual(name) } == true ? .none : ThreadName(name)
    }
  }

  /// A process that calls nobody, but is asked about: with its ancestors it is made known, and its arguments stay its
  /// own.
  ///
  /// - Returns: nil when there is no such process.
  func inspect(_ pid: Int32) -> (record: ProcessRecord, lineage: [ProcessFacts])? {
    guard Self.startTicks(of: pid) != nil else { return nil }
    let (record, _) = identify(pid, uid: 0, gid: 0, isCaller: false)
    return (record, lineage(of: record.id))
  }

  /// An ancestor of others calls itself: what the log keeps of it may be more from now on, and is told before the call.
  private func noteCall(of record: ProcessRecord) {
    let isAncestor = state.withLock { _ in
      guard !record.isCaller else { return false }
      defer { record.setCaller() }
      guard policy == .callers, record.pid != nil else { return false }
      record.expectArguments()
      sink.processSeen(record)
      return true
    }
    if isAncestor { captureArguments(of: record, isCaller: true) }
  }

  /// What is known about a process; nil for an unknown id and for one that has been forgotten.
  func info(_ id: ProcessID) -> ProcessRecord? { state.withLock { $0.record(id) } }

  /// What a living process has become by exec(2) since its record was made; nil: nothing else, or it has ended.
  func successor(of id: ProcessID) -> ProcessSnapshot? {
    guard let record = info(id), let pid = record.pid, let now = look(pid), now.startTicks == record.startTicks,
      !record.executable.isContinued(by: now.executable)
    else { return nil }
    return now
  }

  /// From now on `Caller.isBudgeted` holds for the descendants of this process, but not for itself; and for callers
  /// that cannot be looked at, or whose ancestors cannot be followed to the first process: they may be descendants. A
  /// process that was seen before is judged by the ancestors it had then.
  ///
  /// - Parameter startTicks: nil when the process cannot be looked at: then it holds for all callers.
  func setBudgetRoot(pid: Int32, startTicks: UInt64?) {
    state.withLock { $0.setBudgetRoot(pid: pid, startTicks: startTicks) }
  }

  /// When a living process (or thread) started, in clock ticks since boot; nil when there is none.
  static func startTicks(of pid: Int32) -> UInt64? { ProcessSnapshot(pid)?.startTicks }

  /// Whether SIGKILL waits for the thread or its process: the kernel turns every fatal signal into it.
  ///
  /// - Returns: nil when the thread is gone.
  static func hasPendingFatalSignal(threadID: Int32) -> Bool? {
    guard threadID > 0 else { return nil }
    var failure: Int32 = 0
    return ProcessStatus.read(threadID, failure: &failure)?.hasPendingFatalSignal
  }

  private func identify(
    _ threadID: Int32, uid: UInt32, gid: UInt32, isCaller: Bool
  ) -> (ProcessRecord, isMainThread: Bool) {
    guard threadID > 0 else { return (placeholder(.pidNamespace, uid: uid, gid: gid), false) }
    if let pin = state.withLock({ $0.pin(threadID) }), pin.isSame() {
      return (pin.record, pin.record.pid == threadID)
    }
    if let record = recheck(threadID) {
      keepPin(threadID, record)
      return (record, record.pid == threadID)
    }
    var failure: Int32 = 0
    guard let status = ProcessStatus.read(threadID, failure: &failure) else {
      return (placeholder(Self.reason(threadID, failure), uid: uid, gid: gid), false)
    }
    guard let record = find(status, isCaller: isCaller), let thread = look(threadID) else {
      return (placeholder(.exited, uid: uid, gid: gid), false)
    }
    state.withLock { $0.remember(threadID, startTicks: thread.startTicks, record: record) }
    return (record, status.threadGroup == threadID)
  }

  /// From the third call on. Looked at once more after the descriptor was taken: it is this thread's, not a later
  /// owner's.
  private func keepPin(_ threadID: Int32, _ record: ProcessRecord) {
    guard record.executable.bytes != nil, state.withLock({ $0.countCall(threadID) }),
      let pin = ThreadIdentityPin(threadID: threadID, record: record), recheck(threadID) === record
    else { return }
    // The old one closes its descriptor after the lock is released.
    _ = state.withLock { $0.keep(pin) }
  }

  /// The way for a thread seen before that calls rarely: it is the same one if its start time is, and the same program
  /// if its executable is. Allocates nothing.
  private func recheck(_ threadID: Int32) -> ProcessRecord? {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { buffer in
      let count = ProcReader.readStat(threadID, into: buffer)
      guard count > 0, let stat = ProcessStat(UnsafeBufferPointer(rebasing: buffer[..<count])) else { return nil }
      // The line has been parsed: its buffer serves again. A longer path takes the other way.
      let length = ProcReader.readExecutable(threadID, into: buffer)
      guard length < buffer.count else { return nil }
      return state.withLock { state in
        guard let record = state.remembered(threadID, startTicks: stat.startTicks),
          record.executable.isContinued(count: length, buffer: buffer)
        else { return nil }
        return record
      }
    }
  }

  /// The record of a process, made with those of its ancestors where the table has none.
  private func find(_ status: ProcessStatus, isCaller: Bool) -> ProcessRecord? {
    var unknown: [ProcessTableState.Newcomer] = []
    var ancestor: ProcessRecord?
    var pid = status.threadGroup
    var childStart = UInt64.max
    while pid > 0, unknown.count <= Self.maximumAncestors, let look = look(pid) {
      // A parent started before its child. If not, the parent has ended and its pid is another's.
      guard look.startTicks <= childStart else { break }
      ancestor = state.withLock { $0.current(look) }
      if ancestor != nil { break }
      let isFirst = pid == status.threadGroup
      unknown.append(newcomer(look, status: isFirst ? status : nil, isCaller: isFirst && isCaller))
      childStart = look.startTicks
      pid = look.parent
    }
    guard !unknown.isEmpty else { return ancestor }
    unknown[unknown.count - 1].hasWholeLineage = pid <= 0 || ancestor != nil
    let (record, added) = state.withLock { state -> (ProcessRecord?, [ProcessRecord]) in
      var added: [ProcessRecord] = []
      for newcomer in unknown.reversed() {
        // Another thread may have been here meanwhile.
        if let known = state.current(newcomer.look) {
          ancestor = known
        } else {
          let record = state.add(newcomer, below: ancestor)
          // Under the lock: nobody can learn the id and write an event with it before this record is in the log's ring.
          sink.processSeen(record)
          added.append(record)
          ancestor = record
        }
      }
      return (ancestor, added)
    }
    for record in added { captureArguments(of: record, isCaller: record.isCaller) }
    return record
  }

  private func newcomer(_ look: ProcessSnapshot, status: ProcessStatus?, isCaller: Bool) -> ProcessTableState.Newcomer {
    var failure: Int32 = 0
    let status = status ?? ProcessStatus.read(look.pid, failure: &failure)
    // Linux limits a cgroup's path to 4 KiB; cgroup 1 hierarchies come before the line we want.
    let text = ProcReader.bytes(look.livingThread ?? look.pid, "cgroup", limit: 8192, failure: &failure)
    return ProcessTableState.Newcomer(
      look: look, uid: status?.uid, gid: status?.gid, cgroup: text.flatMap { Self.cgroup($0) },
      arguments: policy == .none ? .withheld(script: nil) : .pending, isCaller: isCaller, seen: .current)
  }

  /// The path of the unified hierarchy (line "0::/path"), or of the first one listed.
  static func cgroup(_ text: [UInt8]) -> [UInt8]? {
    let lines = text.split(separator: UInt8(ascii: "\n"))
    guard let line = lines.first(where: { $0.starts(with: Array("0::".utf8)) }) ?? lines.first else { return nil }
    let fields = line.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    return fields.last.map { Array($0) }
  }

  private func captureArguments(of record: ProcessRecord, isCaller: Bool) {
    guard policy != .none, let pid = record.pid, let startTicks = record.startTicks else { return }
    let keepsAll = isCaller || policy == .all
    let isAccepted = capture.submit { [sink] in
      let arguments = ProcessArguments.read(pid: pid, startTicks: startTicks, executable: record.executable)
      record.setArguments(
        keepsAll ? arguments : arguments.withheld(executable: record.executable), isCaller: isCaller)
      sink.argumentsResolved(of: record)
    }
    guard !isAccepted else { return }
    record.setArguments(.unavailable(.late), isCaller: isCaller)
    sink.argumentsResolved(of: record)
  }

  private func placeholder(_ reason: Unavailability, uid: UInt32, gid: UInt32) -> ProcessRecord {
    state.withLock { state in
      let (record, isNew) = state.placeholder(reason, uid: uid, gid: gid, seen: .current)
      if isNew { sink.processSeen(record) }
      return record
    }
  }

  /// With hidepid a process of another user looks as if it did not exist, but can be told from one that does not.
  private static func reason(_ threadID: Int32, _ failure: Int32) -> Unavailability {
    switch failure {
    case EACCES, EPERM: .permission
    default: kill(threadID, 0) == 0 || errno == EPERM ? .permission : .exited
    }
  }
}

extension ProcessTable: ProcessDirectory {
  /// As each was when it was first seen; one that was forgotten is left out.
  func lineage(of process: ProcessID) -> [ProcessFacts] {
    guard let record = info(process) else { return [] }
    return [ProcessFacts(record)] + record.parents.compactMap { info($0).map(ProcessFacts.init) }
  }

  func running() -> [ProcessFacts] { RunningProcesses.facts() }
}

extension ProcessFacts {
  init(_ record: ProcessRecord) {
    self.init(executable: record.exe, commandName: record.comm, cgroup: record.cgroup, uid: record.uid)
  }
}

/// Receives processes as they are first seen, before any event that refers to them.
protocol ProcessSink: Sendable {
  /// Called under the table's lock, once per id. Must return at once.
  func processSeen(_ process: ProcessRecord)
  /// The arguments of this process are known now, or will not be. Called on the capture lane.
  func argumentsResolved(of process: ProcessRecord)
}
