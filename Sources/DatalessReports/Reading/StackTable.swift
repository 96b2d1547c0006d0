import DatalessControl
import DatalessCore

/// One function on a stack, as reports show it.
struct ReportFrame: Sendable, Hashable, Encodable {
  /// `load_thumbnail (fm.py:42)`, `libfoo.so+0x1234`: escaped for a terminal.
  var name: String
  /// As the program knows it, escaped; nil where it is not known.
  var file: String?
  var line: UInt32?
  /// True where the function begins at the line, and stands nobody knows where.
  var isFunctionLine: Bool?
  /// Whether its address may be left over from an earlier call.
  var isGuess: Bool?
  /// The path of the file as it is, where `file` is not it: escaped, or cut.
  var rawFile: [UInt8]?
  /// `load (nb.cjs)`, where the line in `name` is only that at which the function begins.
  var nameWithoutLine: String?

  /// For what has no room for words.
  var shortName: String { nameWithoutLine ?? name }

  enum CodingKeys: String, CodingKey {
    case name, file, line
    case isFunctionLine = "function_lines"
    case isGuess = "guess"
  }
}

/// The stacks of one session, each once.
struct StackTable: Sendable {
  struct Stack: Sendable {
    /// The language of a program of whose version no functions can be read: the frames are its interpreter's.
    var unreadable: String?
    /// Innermost first: of the interpreter where there is one that can be read, else native.
    var frames: [ReportFrame]
    var isComplete: Bool
    /// Why functions are missing behind them, in words; nil where none is known to be.
    var gap: String?
    /// Whose each of them is.
    var origins: [FrameOrigin] = []
    /// The frame of the program that a developer should look at; nil where none is the program's.
    var own: Int?
    /// The frames that a line of text shows.
    var shown: Range<Int>

    /// What a line of text shows, innermost first.
    func text(framesMax: Int) -> String {
      let names = shown.prefix(framesMax).map { frames[$0].name }
      return names.joined(separator: " < ") + (gap == nil || names.isEmpty ? "" : CallerStack.incomplete)
    }
  }

  // LIMIT: a log may have been written by anybody.
  static let stacksMax = 20_000
  private static let framesMax = 512
  private static let nameMax = 300

  private(set) var stacks: [Stack] = []
  private var indexOfID: [UInt64: Int] = [:]

  subscript(index: Int) -> Stack { stacks[index] }

  /// What a `wait.stack` record says of its wait.
  mutating func stack(of record: LogRecord) -> ReportStack {
    let json = record.json
    guard let id = json.unsigned("stack_id") else { return .missing(json.string("outcome") ?? "unknown") }
    if let index = indexOfID[id] { return .known(index) }
    guard stacks.count < Self.stacksMax else { return .missing("too_many_stacks") }
    guard let raw = json.raw("stack"),
      let stack = try? WireCoding.decode(CallerStack.self, from: Array(raw), named: "a stack")
    else { return .missing("not_in_log") }
    indexOfID[id] = stacks.count
    var named = Self.stack(stack)
    named.unreadable = stack.unreadableLanguage
    stacks.append(named)
    return .known(stacks.count - 1)
  }

  static func stack(_ stack: CallerStack) -> Stack {
    var kept = stack
    var isCut = stack.frames.count > framesMax
    var isComplete = stack.isComplete && !isCut
    kept.frames = Array(stack.frames.prefix(framesMax))
    let frames: [ReportFrame]
    if let interpreted = stack.interpreted, !interpreted.frames.isEmpty {
      let functions = Array(interpreted.frames.prefix(framesMax))
      kept.interpreted?.frames = functions
      isCut = interpreted.frames.count > framesMax
      isComplete = interpreted.isComplete && !isCut
      frames = functions.map { frame($0, hasFunctionLines: interpreted.hasFunctionLines == true) }
    } else {
      frames = kept.frames.map { frame($0) }
    }
    let program = ProgramFrames(kept)
    return Stack(
      frames: frames, isComplete: isComplete, gap: stack.gap ?? (isCut ? StackOutcome.tooDeep : nil),
      origins: program.origins, own: program.own, shown: program.shown)
  }

  private static func frame(_ frame: InterpretedFrame, hasFunctionLines: Bool) -> ReportFrame {
    self.frame(
      name(frame.functionBytes), file: frame.file.isEmpty ? nil : frame.fileBytes, line: frame.line,
      isFunctionLine: hasFunctionLines && frame.line != nil)
  }

  private static func frame(_ frame: CallerFrame) -> ReportFrame {
    let module = PathBytes.lastComponent(frame.moduleBytes)
    let address = (module.isEmpty ? "" : name(module) + "+") + "0x" + String(frame.offset, radix: 16)
    guard let symbol = frame.symbolBytes else {
      return self.frame(address, file: nil, line: nil, isGuess: frame.foundBy == "guess")
    }
    return self.frame(
      frame.file == nil ? "\(name(symbol)) (\(address))" : name(symbol), file: frame.fileBytes, line: frame.line,
      isGuess: frame.foundBy == "guess")
  }

  private static func frame(
    _ name: String, file: [UInt8]?, line: UInt32?, isFunctionLine: Bool = false, isGuess: Bool = false
  ) -> ReportFrame {
    func text(_ line: UInt32?) -> String {
      PlaceText.text(
        name, file: file.map { Self.name(PathBytes.lastComponent($0)) }, line: line, isFunctionLine: isFunctionLine)
    }
    let shown = file.map { Self.name($0) }
    return ReportFrame(
      name: text(line), file: shown, line: line, isFunctionLine: isFunctionLine ? true : nil,
      isGuess: isGuess ? true : nil, rawFile: shown.map { Array($0.utf8) } == file ? nil : file,
      nameWithoutLine: isFunctionLine ? text(nil) : nil)
  }

  private static func name(_ bytes: [UInt8]) -> String {
    bytes.count <= nameMax
      ? TerminalText.escaped(bytes) : TerminalText.escaped(bytes.prefix(nameMax)) + "..."
  }
}
