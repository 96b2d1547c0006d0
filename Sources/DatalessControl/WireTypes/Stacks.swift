/// Answer of `GET /v1/stacks`: everybody who waits right now.
public struct StackList: Codable, Sendable, Equatable {
  /// Oldest attempt first.
  public var callers: [BlockedCaller]

  public init(callers: [BlockedCaller]) { self.callers = callers }
}

/// A blocked caller and its stack.
public struct BlockedCaller: Codable, Sendable, Equatable {
  /// Of the attempt that it waits for; absent for a delayed call on what is local.
  public var attempt: UInt64?
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `file` or `directory`.
  public var kind: String
  public var waiter: InFlightWaiter
  /// `ok`, or why there is no stack.
  public var outcome: String
  /// Absent when there is none.
  public var stack: CallerStack?

  enum CodingKeys: String, CodingKey {
    case attempt, path, kind, waiter, outcome, stack
    case pathBase64 = "path_b64"
  }

  public init(
    attempt: UInt64?, path: [UInt8], kind: String, waiter: InFlightWaiter, outcome: String = "ok",
    stack: CallerStack? = nil
  ) {
    self.attempt = attempt
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.waiter = waiter
    self.outcome = outcome
    self.stack = stack
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// The stack of a blocked thread, innermost frame first.
public struct CallerStack: Codable, Sendable, Equatable {
  /// Whether its outermost frame is one in which threads begin.
  public var isComplete: Bool
  /// Why there are no more frames.
  public var end: String
  public var frames: [CallerFrame]
  /// The functions of an interpreted program; absent when it is none that is known.
  public var interpreted: InterpretedCaller?
  /// Why there are no better names; absent when nothing is missing.
  public var problem: String?

  enum CodingKeys: String, CodingKey {
    case end, frames, interpreted, problem
    case isComplete = "complete"
  }

  public init(
    isComplete: Bool, end: String, frames: [CallerFrame], interpreted: InterpretedCaller? = nil,
    problem: String? = nil
  ) {
    self.isComplete = isComplete
    self.end = end
    self.frames = frames
    self.interpreted = interpreted
    self.problem = problem
  }
}

/// One native frame.
public struct CallerFrame: Codable, Sendable, Equatable {
  /// The file's path as the caller sees it; empty for memory without a file.
  public var module: String
  public var moduleBase64: String?
  /// Hexadecimal; absent where the file has none.
  public var buildID: String?
  /// The address as the file has it.
  public var offset: UInt64
  /// Demangled; absent where no symbol says so.
  public var symbol: String?
  public var symbolBase64: String?
  /// Absent without debug information.
  public var file: String?
  public var fileBase64: String?
  public var line: UInt32?
  /// `tables`, `frame_pointer` or `guess`.
  public var foundBy: String
  /// True of a function that the compiler has put into the one of the next frame, which has the same address.
  public var isInlined: Bool?

  enum CodingKeys: String, CodingKey {
    case module, offset, symbol, file, line
    case isInlined = "inlined"
    case moduleBase64 = "module_b64"
    case buildID = "build_id"
    case symbolBase64 = "symbol_b64"
    case fileBase64 = "file_b64"
    case foundBy = "found_by"
  }

  public init(
    module: [UInt8], buildID: String? = nil, offset: UInt64, symbol: [UInt8]? = nil, file: [UInt8]? = nil,
    line: UInt32? = nil, foundBy: String
  ) {
    (self.module, moduleBase64) = WirePath.split(module)
    self.buildID = buildID
    self.offset = offset
    if let symbol { (self.symbol, symbolBase64) = WirePath.split(symbol) }
    if let file { (self.file, fileBase64) = WirePath.split(file) }
    self.line = line
    self.foundBy = foundBy
  }

  public var moduleBytes: [UInt8] { WirePath.bytes(module, moduleBase64) }
  public var symbolBytes: [UInt8]? { symbol.map { WirePath.bytes($0, symbolBase64) } }
  public var fileBytes: [UInt8]? { file.map { WirePath.bytes($0, fileBase64) } }
}

/// The functions of an interpreted program, innermost first.
public struct InterpretedCaller: Codable, Sendable, Equatable {
  /// `python`, `node` or `bash`.
  public var language: String
  /// False for a version whose structures are not known.
  public var isReadable: Bool
  public var isComplete: Bool
  /// True where lines are those at which functions begin, not those at which they stand.
  public var hasFunctionLines: Bool?
  public var frames: [InterpretedFrame]

  enum CodingKeys: String, CodingKey {
    case language, frames
    case isReadable = "readable"
    case hasFunctionLines = "function_lines"
    case isComplete = "complete"
  }

  public init(language: String, isReadable: Bool, isComplete: Bool, frames: [InterpretedFrame]) {
    self.language = language
    self.isReadable = isReadable
    self.isComplete = isComplete
    self.frames = frames
  }
}

/// One function of an interpreted program.
public struct InterpretedFrame: Codable, Sendable, Equatable {
  public var function: String
  public var functionBase64: String?
  public var file: String
  public var fileBase64: String?
  /// Absent where the instruction belongs to no line.
  public var line: UInt32?

  enum CodingKeys: String, CodingKey {
    case function, file, line
    case functionBase64 = "function_b64"
    case fileBase64 = "file_b64"
  }

  public init(function: [UInt8], file: [UInt8], line: UInt32? = nil) {
    (self.function, functionBase64) = WirePath.split(function)
    (self.file, fileBase64) = WirePath.split(file)
    self.line = line
  }

  public var functionBytes: [UInt8] { WirePath.bytes(function, functionBase64) }
  public var fileBytes: [UInt8] { WirePath.bytes(file, fileBase64) }
}

extension CallerStack {
  /// The language of an interpreted program of whose version no functions can be read: the native frames are its
  /// interpreter's. nil for all others.
  public var unreadableLanguage: String? {
    interpreted.flatMap { $0.isReadable ? nil : $0.language }
  }

  /// What is to be said beside such frames, escaped for a terminal.
  public static func unreadable(_ language: String) -> String {
    "\(TerminalText.escaped(language)): frames not readable in this version"
  }
}
