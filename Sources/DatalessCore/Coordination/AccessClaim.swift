/// One name that an intent is for.
public struct AccessClaim: Sendable, Equatable {
  /// From the volume's root, without `.`, `..` or an empty component; the root itself is the empty path.
  public var path: [UInt8]
  public var isWrite: Bool

  public init(_ path: [UInt8], isWrite: Bool) {
    self.path = path
    self.isWrite = isWrite
  }
}

/// What becomes of an intent when it is taken up.
public enum AccessStart: Sendable, Equatable {
  /// It is held from now on.
  case held
  /// It waits for others.
  case waits
  /// Nothing is taken up: those it would have to wait for wait for what its own group holds.
  case deadlock
  /// Nothing is taken up: it was to be within another one, which is not held.
  case outerNotHeld
  /// Nothing is taken up: too many are within that one.
  case tooManyWithin
}

/// Why an intent would wait for ever.
public struct AccessCircle: Sendable, Equatable {
  /// A name at which it would wait, and for whom.
  public var path: [UInt8]
  public var keeper: UInt64
  /// The one with which the circle closes, often `keeper` itself: it waits for what is not given back before the intent
  /// was answered, or is that.
  public var last: UInt64
}
