/// What a daemon can, by names that do not change: a client asks for them before it uses what older daemons have not.
public enum ControlFeature: String, CaseIterable, Sendable {
  case capacity, conflicts, coordination, events, evict, explain, gates, interrupt, inventory, items
  case logFlush = "log_flush"
  case mark, materialize, pin, pressure, refresh, remove, reset, run, scenario, stacks, status, unmount, version
}

extension ControlRoute {
  /// What the call is a part of.
  public var feature: ControlFeature {
    switch self {
    case .version: .version
    case .status: .status
    case .items: .items
    case .materialize: .materialize
    case .evict: .evict
    case .pin, .unpin: .pin
    case .pressure: .pressure
    case .capacity: .capacity
    case .inventory: .inventory
    case .remove: .remove
    case .refresh: .refresh
    case .conflicts: .conflicts
    case .coordination: .coordination
    case .interrupt: .interrupt
    case .mark: .mark
    case .reset: .reset
    case .flushLog: .logFlush
    case .stacks: .stacks
    case .gates, .releaseGate, .openGate, .closeGate, .waitForGate: .gates
    case .scenario, .replaceScenario, .changeSettings, .addRule, .removeRule: .scenario
    case .explain: .explain
    case .events: .events
    case .runFinished: .run
    case .unmount: .unmount
    }
  }
}
