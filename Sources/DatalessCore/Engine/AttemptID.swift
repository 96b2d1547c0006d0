/// An attempt's number: it rises, and is never given twice by one engine.
///
/// Events, the API and the command line tell it as a plain number (`rawValue`).
struct AttemptID: Hashable, Comparable, Sendable, BitwiseCopyable {
  let rawValue: UInt64

  init(rawValue: UInt64) { self.rawValue = rawValue }

  static func < (left: AttemptID, right: AttemptID) -> Bool { left.rawValue < right.rawValue }
}
