/// How long the kernel may use a name or attributes without asking again.
public struct CacheTimeout: Sendable, Hashable {
  public var seconds: UInt64
  /// 0..<1_000_000_000.
  public var nanoseconds: UInt32

  public init(seconds: UInt64, nanoseconds: UInt32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Rounds towards zero; a negative duration is `none`.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else {
      self = .none
      return
    }
    self.init(seconds: UInt64(seconds), nanoseconds: UInt32(attoseconds / 1_000_000_000))
  }

  /// Ask again at every use.
  public static let none = CacheTimeout(seconds: 0)

  /// Until invalidated. 136 years: the kernel converts to jiffies, and the largest 64-bit value would wrap.
  public static let forever = CacheTimeout(seconds: UInt64(UInt32.max))
}
