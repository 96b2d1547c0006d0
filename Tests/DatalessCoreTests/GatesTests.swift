@testable import DatalessCore
import Synchronization
import TestSupport
import Testing

/// `Gates` beside a model that adds up what each gate holds anew.
@Suite struct GatesTests {
  private final class Told: Sendable {
    let counts = Mutex<[Int: Int?]>([:])
    func take() -> [Int: Int?] {
      counts.withLock { counts in
        defer { counts = [:] }
        return counts
      }
    }
  }

  private struct Model {
    var isOpen = false
    var held: [AttemptID: Int] = [:]
    var accesses: Set<WaiterID> = []
    var watchers: [Int: Int] = [:]
    var callers: Int { held.values.reduce(0, +) + accesses.count }
  }

  private static let names = ["a", "b", "c"]

  private static func perform(_ actions: [Action]) {
    for case .call(let call) in actions { call() }
  }

  /// The two side by side.
  private struct Pair {
    var gates = Gates()
    var model: [String: Model] = [:]
    let told = Told()
    var nextWatcher = 0
    var ids: [Int: Gates.WatcherID] = [:]

    mutating func addCallers(_ change: Int, _ attempt: AttemptID, _ name: String, _ actions: [Action]) {
      let old = model[name]?.held[attempt]
      if let old { model[name]?.held[attempt] = old + change }
      expectTold(by: actions, at: name, isChanged: old != nil)
    }

    mutating func hold(_ access: WaiterID, _ name: String) {
      model[name]?.accesses.insert(access)
      expectTold(by: gates.hold(access, at: name), at: name, isChanged: model[name] != nil)
    }

    /// The watchers who have seen enough, and nobody else.
    private mutating func expectTold(by actions: [Action], at name: String, isChanged: Bool) {
      perform(actions)
      var expected: [Int: Int?] = [:]
      if isChanged {
        let callers = model[name]?.callers ?? 0
        for (watcher, wanted) in model[name]?.watchers ?? [:] where wanted <= callers {
          expected[watcher] = callers
          model[name]?.watchers[watcher] = nil
        }
      }
      #expect(told.take() == expected)
    }

    mutating func setNames(_ names: Set<String>) {
      let (actions, released) = gates.setNames(names)
      perform(actions)
      var gone: [Int: Int?] = [:]
      for (name, gate) in model where !names.contains(name) {
        for watcher in gate.watchers.keys { gone[watcher] = .some(nil) }
        #expect(Set(released.first { $0.gate == name }?.held ?? []) == Set(gate.held.keys))
        #expect(Set(released.first { $0.gate == name }?.accesses ?? []) == gate.accesses)
        model[name] = nil
      }
      #expect(told.take() == gone)
      for name in names where model[name] == nil { model[name] = Model() }
    }

    mutating func watch(_ name: String, _ callers: Int) {
      nextWatcher += 1
      let (watcher, told) = (nextWatcher, told)
      switch gates.watch(name, callers: callers, completion: { count in told.counts.withLock { $0[watcher] = count } })
      {
      case .done(let count): #expect(count == model[name]?.callers && count.map { $0 >= callers } ?? true)
      case .waiting(let id):
        #expect(model[name].map { $0.callers < callers } ?? false)
        model[name]?.watchers[watcher] = callers
        ids[watcher] = id
      }
    }

    mutating func endWatch(_ watcher: Int) {
      guard let id = ids[watcher] else { return }
      let gate = model.first { $0.value.watchers[watcher] != nil }
      let (isWaiting, action) = (gates.setTimer(TimerToken(rawValue: 1), of: id), gates.endWatch(id))
      #expect(isWaiting == (gate != nil) && (action != nil) == (gate != nil))
      if let action { perform([action]) }
      #expect(told.take() == (gate.map { [watcher: $0.value.callers] } ?? [:]))
      if let gate { model[gate.key]?.watchers[watcher] = nil }
    }

    func check() {
      for name in names {
        #expect(gates.isClosed(name) == (model[name].map { !$0.isOpen } ?? false))
        #expect(gates.attempts(at: name).map(Set.init) == model[name].map { Set($0.held.keys) })
        #expect(Set(gates.accesses(at: name)) == model[name]?.accesses ?? [])
      }
      let counts = Dictionary(uniqueKeysWithValues: gates.snapshots.map { ($0.name, $0.callers) })
      #expect(counts == model.mapValues(\.callers))
    }
  }

  @Test(arguments: TestSeed.seeds) func countsCallersAndTellsEachWatcherOnce(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var pair = Pair()
    for number in 1...3_000 as ClosedRange<UInt64> {
      let name = Self.names[random.below(3)]
      let held = (pair.model[name]?.held.keys ?? [:].keys).sorted()
      let attempt = held.isEmpty ? AttemptID(rawValue: number) : held[random.below(held.count)]
      let accesses = (pair.model[name]?.accesses ?? []).sorted { $0.rawValue < $1.rawValue }
      switch random.below(14) {
      case 0: pair.setNames(Set(Self.names.filter { _ in random.below(4) > 0 }))
      case 1:
        let isOpen = random.oneIn(2)
        let released = pair.gates.setOpen(isOpen, name)
        #expect(released.map(Set.init) == pair.model[name].map { isOpen ? Set($0.held.keys) : [] }, "seed \(seed)")
        pair.model[name]?.isOpen = isOpen
      case 2...4:
        let new = AttemptID(rawValue: number)
        pair.model[name]?.held[new] = 0
        let callers = 1 + random.below(3)
        pair.addCallers(callers, new, name, pair.gates.hold(new, at: name, callers: callers))
      case 5, 6: pair.addCallers(1, attempt, name, pair.gates.addCallers(1, to: attempt, at: name))
      case 7:
        guard let callers = pair.model[name]?.held[attempt], callers > 0 else { continue }
        pair.addCallers(-1, attempt, name, pair.gates.addCallers(-1, to: attempt, at: name))
      case 8, 9:
        pair.gates.letGo(attempt, from: name)
        pair.model[name]?.held[attempt] = nil
      case 10: pair.watch(name, random.below(12))
      case 11: pair.hold(WaiterID(rawValue: number), name)
      case 12:
        let access = accesses.isEmpty ? WaiterID(rawValue: number) : random.element(of: accesses)
        pair.gates.letGo(access, from: name)
        pair.model[name]?.accesses.remove(access)
      default: pair.endWatch(1 + random.below(max(pair.nextWatcher, 1)))
      }
      pair.check()
    }
    Self.perform(pair.gates.dismissWatchers())
    let rest = pair.model.values.flatMap { Array($0.watchers.keys) }
    #expect(pair.told.take() == Dictionary(uniqueKeysWithValues: rest.map { ($0, nil) }), "seed \(seed)")
  }
}
