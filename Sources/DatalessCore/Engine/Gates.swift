/// The gates that rules name: which attempts each holds, with how many callers, and who waits until callers are blocked
/// at one.
///
/// What is told to those who wait is returned as actions.
struct Gates {
  private struct Gate {
    /// An open gate lets every attempt pass.
    var isOpen = false
    /// The attempts held, each with the callers who wait for it.
    var held: [AttemptID: Int] = [:]
    /// Held calls that need no materialization.
    var accesses: Set<WaiterID> = []
    /// Callers of all of them.
    var callers = 0
    var watchers: [UInt64: Watcher] = [:]
  }

  private struct Watcher {
    let callers: Int
    let completion: @Sendable (Int?) -> Void
    /// Ends the waiting.
    var timer: TimerToken?
  }

  /// What a gate held that is no more.
  struct Released {
    let gate: String
    let held: [AttemptID]
    let accesses: [WaiterID]
  }

  private var gates: [String: Gate] = [:]
  private var lastWatcher: UInt64 = 0

  /// Makes the gates that rules name, closed, keeps those there are, and removes others.
  ///
  /// - Returns: Actions that tell the watchers of those, and what they held, which is to be let go.
  mutating func setNames(_ names: Set<String>) -> ([Action], released: [Released]) {
    var actions: [Action] = []
    var released: [Released] = []
    for name in gates.keys where !names.contains(name) {
      actions += dismissWatchers(of: name)
      if let gate = gates.removeValue(forKey: name), !gate.held.isEmpty || !gate.accesses.isEmpty {
        released.append(Released(gate: name, held: Array(gate.held.keys), accesses: Array(gate.accesses)))
      }
    }
    for name in names where gates[name] == nil { gates[name] = Gate() }
    return (actions, released)
  }

  /// Opens or closes a gate. - Returns: What is to be released now, in no order; nil: there is no such gate.
  mutating func setOpen(_ isOpen: Bool, _ name: String) -> [AttemptID]? {
    guard gates[name] != nil else { return nil }
    gates[name]?.isOpen = isOpen
    return isOpen ? attempts(at: name) : []
  }

  /// Closes all gates. What one holds stays held.
  mutating func closeAll() { for name in gates.keys { gates[name]?.isOpen = false } }

  // MARK: - Looking

  /// Whether a gate holds new attempts.
  func isClosed(_ name: String) -> Bool { gates[name].map { !$0.isOpen } ?? false }

  /// What a gate holds, in no order; nil: there is no such gate.
  ///
  /// A copy: what shared its storage with the gate would have the gate's next change copy all that it holds.
  func attempts(at name: String) -> [AttemptID]? { gates[name].map { Array($0.held.keys) } }

  /// The gates in no order, without a description of what they hold.
  var snapshots: [GateSnapshot] {
    gates.map { name, gate in
      GateSnapshot(
        name: name, isOpen: gate.isOpen, callers: gate.callers, attemptCount: gate.held.count, held: [],
        accessCount: gate.accesses.count, accesses: [])
    }
  }

  // MARK: - Attempts

  /// Holds an attempt with its callers. - Returns: Actions that tell the watchers who have seen enough.
  mutating func hold(_ attempt: AttemptID, at name: String, callers: Int) -> [Action] {
    gates[name]?.held[attempt] = 0
    return addCallers(callers, to: attempt, at: name)
  }

  /// Books callers who have come to an attempt that is held, or have left it. - Returns: As `hold`.
  mutating func addCallers(_ change: Int, to attempt: AttemptID, at name: String) -> [Action] {
    // A gate that no rule named for a moment is another one, of which nothing is left.
    guard let callers = gates[name]?.held[attempt] else { return [] }
    gates[name]?.held[attempt] = callers + change
    return addCallers(change, at: name)
  }

  private mutating func addCallers(_ change: Int, at name: String) -> [Action] {
    gates[name]?.callers += change
    guard let gate = gates[name], !gate.watchers.isEmpty else { return [] }
    var actions: [Action] = []
    for (id, watcher) in gate.watchers where watcher.callers <= gate.callers {
      gates[name]?.watchers[id] = nil
      actions.append(.call({ watcher.completion(gate.callers) }))
      if let timer = watcher.timer { actions.append(.cancelTimer(timer)) }
    }
    return actions
  }

  /// An attempt ends, or goes on.
  mutating func letGo(_ attempt: AttemptID, from name: String) {
    guard let callers = gates[name]?.held.removeValue(forKey: attempt) else { return }
    gates[name]?.callers -= callers
  }

  // MARK: - Accesses

  /// Holds a call that needs no materialization. - Returns: As `hold` of an attempt.
  mutating func hold(_ access: WaiterID, at name: String) -> [Action] {
    guard gates[name]?.accesses.insert(access).inserted == true else { return [] }
    return addCallers(1, at: name)
  }

  /// Such a call has ended.
  mutating func letGo(_ access: WaiterID, from name: String) {
    if gates[name]?.accesses.remove(access) != nil { gates[name]?.callers -= 1 }
  }

  /// The calls that a gate holds, in no order.
  func accesses(at name: String) -> [WaiterID] { gates[name].map { Array($0.accesses) } ?? [] }

  // MARK: - Watchers

  enum Watch {
    /// Enough callers are blocked already; nil: there is no such gate.
    case done(Int?)
    case waiting(WatcherID)
  }

  /// Who waits for callers at a gate.
  struct WatcherID {
    fileprivate let gate: String
    fileprivate let number: UInt64
  }

  /// Waits until so many callers are blocked at a gate.
  ///
  /// - Parameter completion: Called once unless it is done already: with the callers blocked then, or nil when the gate
  ///   goes away.
  mutating func watch(_ name: String, callers: Int, completion: @escaping @Sendable (Int?) -> Void) -> Watch {
    guard let gate = gates[name] else { return .done(nil) }
    if gate.callers >= callers { return .done(gate.callers) }
    lastWatcher += 1
    gates[name]?.watchers[lastWatcher] = Watcher(callers: callers, completion: completion)
    return .waiting(WatcherID(gate: name, number: lastWatcher))
  }

  /// A timer will end the waiting. - Returns: False when it has ended already.
  mutating func setTimer(_ timer: TimerToken, of id: WatcherID) -> Bool {
    gates[id.gate]?.watchers[id.number]?.timer = timer
    return gates[id.gate]?.watchers[id.number] != nil
  }

  /// The time is over. - Returns: The action that says how many are blocked now; nil when the waiting has ended
  /// already.
  mutating func endWatch(_ id: WatcherID) -> Action? {
    guard let watcher = gates[id.gate]?.watchers.removeValue(forKey: id.number) else { return nil }
    let callers = gates[id.gate]?.callers ?? 0
    return .call({ watcher.completion(callers) })
  }

  /// The volume ends. - Returns: Actions that tell all watchers.
  mutating func dismissWatchers() -> [Action] {
    var actions: [Action] = []
    for name in gates.keys { actions += dismissWatchers(of: name) }
    return actions
  }

  private mutating func dismissWatchers(of name: String) -> [Action] {
    let watchers = gates[name]?.watchers ?? [:]
    gates[name]?.watchers = [:]
    return watchers.values.flatMap { watcher -> [Action] in
      [.call({ watcher.completion(nil) })] + (watcher.timer.map { [.cancelTimer($0)] } ?? [])
    }
  }
}
