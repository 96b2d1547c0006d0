import DatalessCore

/// Attempts of which something that a filter asks for was seen, because later records of them name their number only.
///
/// Memory: some 100 bytes for each selected attempt that is under way; one that has ended, and all its waits, is
/// forgotten.
struct AttemptSelection: Sendable {
  private struct Key: Hashable {
    /// Numbers of attempts hold within one.
    var session: String?
    var number: UInt64
  }

  private struct Attempt {
    var waiting = 0
    var isFinished = false
  }

  private var attempts: [Key: Attempt] = [:]

  /// Whether the attempt of a record is, or is by now, among them. Every record must be shown, in order.
  ///
  /// - Parameter isMatch: Whether the record itself has what is asked for.
  mutating func selects(_ record: LogRecord, isMatch: Bool) -> Bool {
    guard let number = record.attempt else { return isMatch }
    let key = Key(session: record.session, number: number)
    guard var attempt = attempts[key] ?? (isMatch ? Attempt() : nil) else { return false }
    switch record.type {
    case .waitStarted: attempt.waiting += 1
    case .waitFinished: attempt.waiting -= 1
    case .materializationFinished: attempt.isFinished = true
    default: break
    }
    attempts[key] = attempt.isFinished && attempt.waiting <= 0 ? nil : attempt
    return true
  }
}
