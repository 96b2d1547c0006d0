/// A point in wall-clock time as the protocol carries it. C: `struct timespec`.
public struct FuseTime: Sendable, Hashable {
  /// Seconds since 1970, negative before.
  public var seconds: Int64
  /// 0..<1_000_000_000.
  public var nanoseconds: UInt32

  public init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
