internal import HeapModule

/// Which resident files the rules want evicted, and when the next ones are due.
///
/// One entry of the heap for each file at most: an entry stands at the earliest moment that can matter, and when it is
/// due the file's own times decide, or put it back. Who opens and closes a file touches no heap. Used under the
/// engine's lock.
struct PlannedEvictions {
  private struct Plan {
    var rule: String
    var eviction: SystemEviction
    var materializedAt: MonotonicTime
    var lastClose: MonotonicTime
    /// The rules by which it was decided; others may not want it any more.
    var generation: UInt64
    /// The file's entry in the heap; another one with its number is an old one.
    var entry: MonotonicTime?
    /// It was due while it was open: its close evicts it.
    var isOverdue = false
    /// Presenters are asked about it: it is not due again before they have answered.
    var isAsked = false
    /// False once it is dataless, or no rule wants it evicted: what is left is the mark of its entry.
    var isActive = true

    var afterDue: MonotonicTime? { eviction.afterMaterialization.map { materializedAt + $0 } }
    var idleDue: MonotonicTime? { eviction.idle.map { lastClose + $0 } }
  }

  private struct Entry: Comparable {
    let deadline: MonotonicTime
    let node: NodeIndex
    static func < (left: Entry, right: Entry) -> Bool { (left.deadline, left.node) < (right.deadline, right.node) }
  }

  private var plans: [NodeIndex: Plan] = [:]
  private var heap = Heap<Entry>()
  /// When the timer lane calls next.
  private var timer: MonotonicTime?
  /// Counts changes of the rules.
  private(set) var generation: UInt64 = 0

  /// Files that are planned for, and entries of the heap.
  var counts: (plans: Int, entries: Int) { (plans.count { $0.value.isActive }, heap.count) }

  /// The rules change: what was decided by other ones evicts nothing any more.
  ///
  /// - Parameter restartsClock: Whether their windows begin anew.
  /// - Returns: Whether all files have to be decided about anew.
  mutating func changeRules(from old: Simulation, to new: Simulation, restartsClock: Bool) -> Bool {
    guard old.rules.decidesEviction || new.rules.decidesEviction else { return false }
    guard new.rules.decidesEviction else {
      generation += 1
      plans = [:]
      heap = Heap()
      return false
    }
    if !restartsClock, old.seed == new.seed, old.rules.rules == new.rules.rules { return false }
    generation += 1
    return true
  }

  /// A file has become resident, or is so when the rules change.
  ///
  /// - Parameter isRenewed: Whether only the rules have changed: times that are known stay.
  /// - Returns: False if just this was planned already.
  mutating func plan(
    _ node: NodeIndex, _ eviction: SystemEviction, rule: String, isRenewed: Bool, now: MonotonicTime
  ) -> Bool {
    var isNew = true
    var plan = Plan(
      rule: rule, eviction: eviction, materializedAt: now, lastClose: now, generation: generation, entry: nil)
    if let old = plans[node] {
      plan.entry = old.entry
      if isRenewed, old.isActive {
        plan.materializedAt = old.materializedAt
        plan.lastClose = old.lastClose
        plan.isOverdue = old.isOverdue && old.eviction == eviction
        isNew = old.rule != rule || old.eviction != eviction
      }
    }
    let due = [plan.afterDue, plan.idleDue].compactMap { $0 }.min()
    plans[node] = plan
    if let due, !plan.isOverdue { file(node, at: max(due, now)) }
    return isNew
  }

  /// The file is dataless, or no rule wants it evicted.
  mutating func drop(_ node: NodeIndex) {
    guard let plan = plans[node] else { return }
    if plan.entry == nil { plans[node] = nil } else { plans[node]?.isActive = false }
  }

  /// The last handle was closed.
  mutating func closed(_ node: NodeIndex, now: MonotonicTime) {
    guard var plan = plans[node], plan.isActive else { return }
    plan.lastClose = now
    plans[node] = plan
    guard plan.entry == nil else { return }
    if plan.isOverdue {
      plans[node]?.isOverdue = false
      file(node, at: now)
    } else if let due = [plan.afterDue, plan.idleDue].compactMap({ $0 }).min() {
      file(node, at: max(due, now))
    }
  }

  /// The rule that wants a file evicted by an open.
  func ruleBeforeRead(_ node: NodeIndex) -> String? {
    guard let plan = plans[node], plan.isActive, plan.generation == generation, plan.eviction.beforeFirstRead else {
      return nil
    }
    return plan.rule
  }

  /// It could not be evicted although it was due. - Parameter isOpen: Otherwise it is mapped, which no close will tell.
  mutating func refused(_ node: NodeIndex, isOpen: Bool, now: MonotonicTime) {
    guard let plan = plans[node], plan.isActive, plan.entry == nil else { return }
    if isOpen {
      plans[node]?.isOverdue = true
    } else {
      file(node, at: now + max(Self.mappedRetry, plan.eviction.idle ?? plan.eviction.afterMaterialization ?? 0))
    }
  }

  /// How long after a refusal a mapped file is looked at again.
  private static let mappedRetry = Nanoseconds.seconds(1)

  /// Puts a file into the heap, unless it lies there for an earlier moment.
  private mutating func file(_ node: NodeIndex, at deadline: MonotonicTime) {
    if let entry = plans[node]?.entry, entry <= deadline { return }
    plans[node]?.entry = deadline
    heap.insert(Entry(deadline: deadline, node: node))
  }

  /// Takes out what is to be evicted now, at most `limit` entries of the heap.
  mutating func removeDue(_ now: MonotonicTime, limit: Int, isOpen: (NodeIndex) -> Bool) -> [(
    node: NodeIndex, rule: String
  )] {
    var due: [(node: NodeIndex, rule: String)] = []
    var left = limit
    while left > 0, let first = heap.min, first.deadline <= now {
      left -= 1
      _ = heap.removeMin()
      let node = first.node
      guard var plan = plans[node], plan.entry == first.deadline else { continue }
      plan.entry = nil
      plans[node] = plan.isActive ? plan : nil
      // Decided by rules that are no more: it is decided anew, and filed then.
      guard plan.isActive, plan.generation == generation, !plan.isAsked else { continue }
      if isOpen(node) {
        // Its close files it anew, by all of its times: until then no look at it can tell anything.
        guard let afterDue = plan.afterDue else { continue }
        if afterDue <= now {
          plans[node]?.isOverdue = true
        }
      } else if let moment = [plan.afterDue, plan.idleDue].compactMap({ $0 }).min() {
        if moment <= now { due.append((node, plan.rule)) } else { file(node, at: moment) }
      }
    }
    return due
  }

  /// Presenters are about to be asked about a file that is due.
  mutating func beginAsking(_ node: NodeIndex) { plans[node]?.isAsked = true }

  /// Whether they are to be asked about it, or are asked.
  func isAsked(_ node: NodeIndex) -> Bool { plans[node].map { $0.isActive && $0.isAsked } ?? false }

  /// They have answered, or have had their time.
  ///
  /// - Returns: The rule that wants it evicted now. nil: it was written to, or decided about anew, or used since, so
  ///   that it is due later.
  mutating func endAsking(_ node: NodeIndex, now: MonotonicTime) -> String? {
    guard let plan = plans[node], plan.isAsked else { return nil }
    plans[node]?.isAsked = false
    guard plan.isActive, plan.generation == generation,
      let moment = [plan.afterDue, plan.idleDue].compactMap({ $0 }).min()
    else { return nil }
    if moment <= now { return plan.rule }
    file(node, at: moment)
    return nil
  }

  /// When the timer lane is to be asked to call; nil when it will call in time. Who is told asks it.
  mutating func nextCall() -> MonotonicTime? {
    guard let first = heap.min?.deadline, timer.map({ first < $0 }) ?? true else { return nil }
    timer = first
    return first
  }

  /// The timer lane calls, as it was asked to.
  mutating func called(at deadline: MonotonicTime) { if timer == deadline { timer = nil } }
}
