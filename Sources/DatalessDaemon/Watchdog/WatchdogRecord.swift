import DatalessCore

/// What the log says of a main thread that has waited for too long.
struct WatchdogRecord: Sendable {
  enum Kind: Sendable {
    case expired, signalled, survived
  }

  var kind: Kind
  var wait: WatchedWaits.Wait
  var blocked: Nanoseconds
  /// Why there is no signal.
  var spared: AbortAuthority.Refusal?
  /// Of sending the signal: 0 or an errno.
  var failure: Int32 = 0

  var type: EventType {
    switch kind {
    case .expired: .watchdogExpired
    case .signalled: .watchdogSignalled
    case .survived: .watchdogSurvived
    }
  }
}
