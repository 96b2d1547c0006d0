import DatalessCore
import DequeModule

/// The tables of `ProcessTable`: pure bookkeeping, no reads, no clock.
struct ProcessTableState {
  /// A process about to get an id.
  struct Newcomer {
    var look: ProcessSnapshot
    var uid: UInt32?
    var gid: UInt32?
    var cgroup: [UInt8]?
    /// What is known of the arguments before they have been read.
    var arguments: ProcessArguments = .pending
    var isCaller = false
    /// False when the way up to the first process broke off above this one.
    var hasWholeLineage = true
    var seen: MonotonicTime
  }

  private struct Thread {
    var startTicks: UInt64
    var record: ProcessRecord
    /// Calls seen from it, up to 2.
    var calls = 1
  }

  private struct PlaceholderKey: Hashable {
    var reason: Unavailability
    var uid: UInt32
    var gid: UInt32
  }

  private let capacity: Int
  // Ids are given in order, so a record's place follows from its id. 0 is "unknown".
  private var records: Deque<ProcessRecord>
  private var firstID: UInt32 = 1
  private var byPid: [Int32: ProcessRecord]
  private var threads: [Int32: Thread]
  // LIMIT: a descriptor each. A thread has its place by its number, so two may drive each other out.
  private var pins: [ThreadIdentityPin?] = Array(repeating: nil, count: 64)
  private var placeholders: [PlaceholderKey: ProcessRecord] = [:]
  private var budgetRoot: BudgetRoot?

  /// Whose descendants are budgeted.
  private enum BudgetRoot {
    case process(pid: Int32, startTicks: UInt64)
    /// A process that cannot be seen: anybody may descend from it.
    case unknown
  }

  init(capacity: Int) {
    self.capacity = capacity
    // Reserved at once: growing would rehash under the lock while request threads wait for it.
    records = Deque(minimumCapacity: capacity + 1)
    byPid = Dictionary(minimumCapacity: capacity + 1)
    threads = Dictionary(minimumCapacity: capacity + 1)
  }

  func record(_ id: ProcessID) -> ProcessRecord? {
    guard id.rawValue >= firstID, id.rawValue - firstID < UInt32(records.count) else { return nil }
    return records[Int(id.rawValue - firstID)]
  }

  /// The record of the process that was looked at, if it is still the same.
  func current(_ look: ProcessSnapshot) -> ProcessRecord? {
    guard let record = byPid[look.pid], record.startTicks == look.startTicks,
      record.executable.isContinued(by: look.executable)
    else { return nil }
    return record
  }

  /// The process of a thread seen before, if that has not been forgotten.
  func remembered(_ threadID: Int32, startTicks: UInt64) -> ProcessRecord? {
    guard let thread = threads[threadID], thread.startTicks == startTicks, thread.record.id.rawValue >= firstID else {
      return nil
    }
    return thread.record
  }

  /// The pin of a thread that calls often.
  func pin(_ threadID: Int32) -> ThreadIdentityPin? {
    guard let pin = pins[Int(threadID) & 63], pin.threadID == threadID,
      pin.record.id.rawValue >= firstID
    else { return nil }
    return pin
  }

  mutating func keep(_ pin: ThreadIdentityPin) -> ThreadIdentityPin? {
    let place = Int(pin.threadID) & 63
    defer { pins[place] = pin }
    return pins[place]
  }

  /// Counts a call of a remembered thread. - Returns: Whether it calls often enough for a pin.
  mutating func countCall(_ threadID: Int32) -> Bool {
    guard let calls = threads[threadID]?.calls else { return false }
    if calls < 2 { threads[threadID]?.calls = calls + 1 }
    return calls >= 2
  }

  mutating func remember(_ threadID: Int32, startTicks: UInt64, record: ProcessRecord) {
    // A cache: emptied, it fills again at the price of one more look per thread.
    if threads.count >= capacity { threads.removeAll(keepingCapacity: true) }
    threads[threadID] = Thread(startTicks: startTicks, record: record)
  }

  mutating func add(_ newcomer: Newcomer, below parent: ProcessRecord?) -> ProcessRecord {
    let look = newcomer.look
    let parents = parent.map { [$0.id] + $0.parents.prefix(ProcessTable.maximumAncestors - 1) } ?? []
    // Before an exec it was the same process: if it descended from the root then, it still does, whoever adopted it.
    let earlier = byPid[look.pid].flatMap { $0.startTicks == look.startTicks ? $0 : nil }
    // For whom a thread of the kernel works nobody knows.
    let hasWholeLineage = newcomer.hasWholeLineage && !look.executable.isKernelThread
    let record = ProcessRecord(
      id: nextID, pid: look.pid, startTicks: look.startTicks, comm: look.comm, executable: look.executable,
      uid: newcomer.uid, gid: newcomer.gid, cgroup: newcomer.cgroup, parents: parents,
      hasWholeLineage: hasWholeLineage, arguments: newcomer.arguments,
      isBudgeted: isBudgeted(below: parent, hasWholeLineage: hasWholeLineage) || earlier?.isBudgeted == true,
      isCaller: newcomer.isCaller, seen: newcomer.seen)
    append(record)
    byPid[look.pid] = record
    return record
  }

  /// One record stands for all callers of one user that cannot be looked at for the same reason.
  mutating func placeholder(
    _ reason: Unavailability, uid: UInt32, gid: UInt32, seen: MonotonicTime
  ) -> (ProcessRecord, isNew: Bool) {
    let key = PlaceholderKey(reason: reason, uid: uid, gid: gid)
    if let record = placeholders[key], record.id.rawValue >= firstID { return (record, false) }
    let record = ProcessRecord(
      id: nextID, pid: nil, startTicks: nil, comm: nil, executable: .unavailable(reason), uid: uid, gid: gid,
      cgroup: nil, parents: [], hasWholeLineage: false, arguments: .unavailable(reason),
      isBudgeted: isBudgeted(below: nil, hasWholeLineage: false), seen: seen)
    if placeholders.count >= capacity { placeholders.removeAll() }
    placeholders[key] = record
    append(record)
    return (record, true)
  }

  /// - Parameter startTicks: nil for a process that cannot be looked at.
  mutating func setBudgetRoot(pid: Int32, startTicks: UInt64?) {
    budgetRoot = startTicks.map { .process(pid: pid, startTicks: $0) } ?? .unknown
    // Parents come before their children.
    for record in records {
      let parent = record.parents.first.flatMap { self.record($0) }
      record.setBudgeted(isBudgeted(below: parent, hasWholeLineage: record.hasWholeLineage))
    }
  }

  /// Who may descend from the root counts as who does: what a budget does not see would be a pass that nobody has
  /// earned.
  private func isBudgeted(below parent: ProcessRecord?, hasWholeLineage: Bool) -> Bool {
    switch budgetRoot {
    case nil: false
    case .unknown: true
    case .process(let pid, let startTicks):
      !hasWholeLineage
        || parent.map { $0.isBudgeted || ($0.pid == pid && $0.startTicks == startTicks) } ?? false
    }
  }

  private var nextID: ProcessID { ProcessID(rawValue: firstID + UInt32(records.count)) }

  private mutating func append(_ record: ProcessRecord) {
    records.append(record)
    guard records.count > capacity, let oldest = records.popFirst() else { return }
    firstID += 1
    if let pid = oldest.pid, byPid[pid] === oldest { byPid[pid] = nil }
  }
}
