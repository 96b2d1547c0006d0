/// The frames of a thread, innermost first, and whether they are all.
public struct Stack: Sendable, Equatable {
  /// Why there are no more frames.
  public enum End: String, Sendable, CaseIterable {
    /// The tables leave the return address undefined there, or the function is one in which threads begin. The only
    /// end of a complete stack.
    case outermost
    /// No tables for the code, no frame pointer, and nothing on the stack that could be a return address.
    case noTables = "no_tables"
    /// A rule needs a register that is not known.
    case unknownRegister = "unknown_register"
    /// A word lies outside the copy of the stack.
    case outsideCopy = "outside_copy"
    /// The address found is in no executable mapping.
    case outsideCode = "outside_code"
    /// The address found is in a mapping of a volume, which nobody may read while its owner waits (S15).
    case onVolume = "on_volume"
    /// The next frame does not lie above: a chain that is no stack.
    case notAscending = "not_ascending"
    case tooDeep = "too_deep"
  }

  public var frames: [StackFrame]
  public var end: End

  public var isComplete: Bool { end == .outermost }
  /// The weakest of its frames.
  public var certainty: FrameCertainty { frames.lazy.map(\.certainty).max() ?? .tables }

  public init(frames: [StackFrame], end: End) {
    self.frames = frames
    self.end = end
  }

  // LIMIT: frames of one stack. A recursion of 10,000 keeps its innermost ones, and says `tooDeep`.
  public static let framesMax = 512
}
