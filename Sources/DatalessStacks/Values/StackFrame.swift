/// How it is known that a frame is one.
public enum FrameCertainty: UInt8, Sendable, Comparable, CaseIterable {
  /// The unwind tables of the file say where the frame's caller is.
  case tables
  /// The tables, or the code, want rbp, which the kernel does not tell: it was found on the stack, and a chain that
  /// begins with it ends where the tables say that chains end.
  case framePointerFound
  /// A word on the stack that is behind a call instruction. It may be left over from an earlier call.
  case guessed

  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One frame of a native stack, before it has names.
public struct StackFrame: Sendable, Equatable {
  /// Where the thread is (the innermost frame), or goes on when what it called returns.
  public let address: UInt64
  /// rsp at `address`.
  public let stackPointer: UInt64
  /// rbp at `address`, as far as it is known: frames of V8 are found by it.
  public let framePointer: UInt64?
  public let certainty: FrameCertainty
  /// Whether `address` is where the thread stands itself, not behind a call: the innermost frame, what a signal
  /// interrupted, and what V8 has made to go on at the beginning of a builtin.
  public let isExact: Bool

  /// What symbols and lines are looked up for: a call may be the last instruction of its function.
  public var lookupAddress: UInt64 { isExact ? address : address &- 1 }

  public init(
    address: UInt64, stackPointer: UInt64, framePointer: UInt64? = nil, certainty: FrameCertainty, isExact: Bool
  ) {
    self.address = address
    self.stackPointer = stackPointer
    self.framePointer = framePointer
    self.certainty = certainty
    self.isExact = isExact
  }
}
