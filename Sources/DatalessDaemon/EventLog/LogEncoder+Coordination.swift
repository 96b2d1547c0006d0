import DatalessCore

extension Event.Coordination.Step {
  var type: EventType {
    switch self {
    case .started: .coordinationStarted
    case .granted: .coordinationGranted
    case .finished: .coordinationFinished
    }
  }
}

extension Event.Presenter.Step {
  var type: EventType {
    switch self {
    case .started: .presenterStarted
    case .answered: .presenterAnswered
    case .finished: .presenterFinished
    }
  }
}

extension LogEncoder {
  mutating func presenter(_ event: Event.Presenter) {
    json.field("presenter", event.presenter)
    json.field("path", event.path)
    caller(event.caller)
    switch event.step {
    case .started: break
    case .answered(let intent, let what, let took, let outcome):
      json.field("intent", intent)
      json.field("what", what)
      json.field("took_ns", took)
      json.field("outcome", outcome)
    case .finished(let outcome, let message):
      json.field("outcome", outcome)
      if let message { json.field("message", message) }
    }
  }

  mutating func coordination(_ event: Event.Coordination) {
    json.field("intent", event.intent)
    json.field("path", event.path)
    if !event.names.isEmpty { texts("names", event.names) }
    json.field("reads", event.reads)
    json.field("writes", event.writes)
    if !event.options.isEmpty {
      json.key("options")
      json.beginArray()
      for option in event.options { json.string(option) }
      json.endArray()
    }
    json.optional("within", event.within)
    caller(event.caller)
    switch event.step {
    case .started(let waitsFor, let place):
      guard !waitsFor.isEmpty else { return }
      json.key("waits_for")
      json.beginArray()
      for intent in waitsFor { json.integer(intent) }
      json.endArray()
      json.field("waits_at", place)
    case .granted(let waited, let asking, let materializing, let materialized):
      json.field("waited_ns", waited)
      json.field("asking_ns", asking)
      json.field("materializing_ns", materializing)
      json.field("materialized", materialized)
    case .finished(let outcome, let held, let message, let others):
      json.field("outcome", outcome)
      json.optional("held_ns", held)
      if let message { json.field("message", message) }
      if others > 0 { json.field("others", others) }
    }
  }
}
