@testable import DatalessCore
import Testing

/// Calls that a scenario may delay, as tests make them.
enum AccessCalls {
  static let ms = Nanoseconds.milliseconds(1)

  static func configuration(
    _ delays: [AccessOperation: Int64], rules: [Rule] = []
  ) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    for (operation, delay) in delays { configuration.simulation.access[operation] = LatencyModel(.fixed(delay * ms)) }
    configuration.simulation.rules = RuleSet(rules)
    return configuration
  }

  static func rule(_ name: String, _ delays: [AccessOperation: Int64], _ change: (inout Rule) -> Void) -> Rule {
    var rule = Rule(name: name, match: RuleMatch(), effects: RuleEffects())
    for (operation, delay) in delays { rule.effects.access[operation] = LatencyModel(.fixed(delay * ms)) }
    change(&rule)
    return rule
  }

  /// One call; nil where nothing is to be waited for.
  static func call(
    _ fixture: EngineFixture, _ operation: AccessOperation, of node: NodeID, offset: Int64 = 0, length: Int64 = 0,
    waiter: WaiterID? = nil, thread: Int32 = 10
  ) -> Answer? {
    call(
      fixture, Access(operation, of: .node(node), caller: EngineFixture.caller(thread), offset: offset, length: length),
      waiter: waiter)
  }

  static func call(_ fixture: EngineFixture, _ access: Access, waiter: WaiterID? = nil) -> Answer? {
    let answer = Answer()
    let waiter = waiter ?? fixture.makeWaiter()
    fixture.engine.expect(waiter)
    let verdict = fixture.engine.delay(access, waiter: waiter) { error in
      answer.set(error.map { .failed($0) } ?? .ready)
    }
    #expect(fixture.engine.state.withLock { $0.calls.announcedCount == 0 }, "a waiter is taken, delayed or not")
    return verdict == .delayed ? answer : nil
  }

  static func records(_ fixture: EngineFixture) -> [Event.AccessRecord] {
    fixture.events.all.compactMap { if case .accessFinished(let record) = $0 { record } else { nil } }
  }

  /// A file whose content is there, and its node.
  static func resident(_ fixture: EngineFixture, _ path: String) -> NodeID {
    let node = fixture.node(path)
    fixture.trigger(node)
    fixture.lane.runAll()
    fixture.events.clear()
    return node
  }
}
