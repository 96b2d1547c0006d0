/// One frame with what is known of it.
public struct NamedFrame: Sendable, Equatable {
  /// The file's path as the caller sees it; a name in brackets, or nothing, for memory without a file.
  public var module: [UInt8]
  /// nil where the file has none, or could not be had.
  public var buildID: BuildID?
  /// The address as the file has it; in memory without a file, that of the process.
  public var offset: UInt64
  /// Demangled; empty where no symbol says so.
  public var symbol: [UInt8]
  /// Empty, and 0, without debug information.
  public var file: [UInt8]
  public var line: UInt32
  public var certainty: FrameCertainty
  /// Of a function that the compiler has put into the one behind it, which has the same address.
  public var isInlined = false
  /// rbp there, as far as it is known, else 0: between the processes only.
  public var framePointer: UInt64 = 0

  public init(
    module: [UInt8], buildID: BuildID? = nil, offset: UInt64, symbol: [UInt8] = [], file: [UInt8] = [],
    line: UInt32 = 0, certainty: FrameCertainty
  ) {
    self.module = module
    self.buildID = buildID
    self.offset = offset
    self.symbol = symbol
    self.file = file
    self.line = line
    self.certainty = certainty
  }
}

/// The functions of an interpreted program, beside the native frames of its interpreter.
public struct InterpretedStack: Sendable, Equatable {
  /// `python`, `node` or `bash`.
  public var language: [UInt8]
  /// False for a version whose structures are not known: then there are no frames, and no guesses.
  public var isReadable: Bool
  public var isComplete: Bool
  /// Whether lines are where the functions begin, not where they stand.
  public var hasFunctionLines: Bool
  public var frames: [InterpretedFunction]

  public init(
    language: [UInt8], isReadable: Bool, isComplete: Bool, hasFunctionLines: Bool = false, frames: [InterpretedFunction]
  ) {
    self.language = language
    self.isReadable = isReadable
    self.isComplete = isComplete
    self.hasFunctionLines = hasFunctionLines
    self.frames = frames
  }
}

/// A stack as it is shown and logged.
public struct NamedStack: Sendable, Equatable {
  public var frames: [NamedFrame]
  public var end: Stack.End
  public var interpreted: InterpretedStack?
  /// Why there are no better names; empty when nothing is missing.
  public var problem: [UInt8]

  public var isComplete: Bool { end == .outermost }
  public var certainty: FrameCertainty { frames.lazy.map(\.certainty).max() ?? .tables }

  public init(
    frames: [NamedFrame], end: Stack.End, interpreted: InterpretedStack? = nil, problem: [UInt8] = []
  ) {
    self.frames = frames
    self.end = end
    self.interpreted = interpreted
    self.problem = problem
  }
}
