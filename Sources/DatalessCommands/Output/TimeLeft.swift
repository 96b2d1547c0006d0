import DatalessControl

/// How long something may still take, by how long the part of it took that is done.
struct TimeLeft {
  /// LIMIT: how long it is watched before anything is said: what the first steps took says little of the others.
  static let patience = Duration.seconds(2)

  private var first: (share: Double, at: ContinuousClock.Instant)?
  private var last = 0.0

  /// - Parameter share: Of the whole that is done, 0 to 1.
  /// - Returns: nil while that cannot be told.
  mutating func note(_ share: Double, at now: ContinuousClock.Instant) -> Duration? {
    defer { last = share }
    // It has begun anew, with another whole.
    guard let begin = first, share >= last else {
      first = (share, now)
      return nil
    }
    let (done, taken) = (share - begin.share, begin.at.duration(to: now))
    guard done > 0, taken >= Self.patience else { return nil }
    return taken * (max(0, 1 - share) / done)
  }

  /// `about 12 s left`
  static func text(_ left: Duration) -> String {
    let seconds = max(left.components.seconds, 1)
    let text: String =
      switch seconds {
      case ..<100: "\(seconds) s"
      case ..<6000: "\(seconds / 60) min"
      default: "\(HumanText.count(seconds / 3600)) h"
      }
    return "about \(text) left"
  }
}
