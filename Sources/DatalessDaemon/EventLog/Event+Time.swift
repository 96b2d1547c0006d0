import DatalessCore

extension Event {
  /// When it happened.
  var time: MonotonicTime {
    switch self {
    case .materializationStarted(let event): event.time
    case .waitStarted(let event), .waitFinished(let event): event.time
    case .materializationFinished(let event): event.time
    case .handleClosed(let event), .handleOpen(let event): event.time
    case .handleUnseen(let event): event.time
    case .evictionFinished(let event), .evictionRefused(let event): event.time
    case .materializationRefused(let event): event.trigger.time
    case .materializationHeld(let event): event.time
    case .materializationReleased(let event): event.time
    case .budgetExceeded(let event): event.time
    case .sourceChanged(let event): event.time
    case .refreshFinished(let event): event.time
    }
  }
}
