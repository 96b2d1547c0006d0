import DatalessControl
import DatalessStacks

/// The stacks that are in the log: each is written once in a session, and named by its number afterwards.
struct KnownStacks {
  /// What is remembered of a stack: two hashes with keys of this process, so that nobody can make two that look the
  /// same.
  struct Print: Hashable {
    private let first: Int
    private let second: Int

    /// - Parameter bytes: The stack, as its process told it.
    init(_ bytes: [UInt8]) {
      var one = Hasher()
      one.combine(bytes)
      var other = Hasher()
      other.combine(UInt8(1))
      other.combine(bytes)
      (first, second) = (one.finalize(), other.finalize())
    }
  }

  // LIMIT: stacks that are remembered; beyond, all are forgotten, and written again.
  static let countMax = 100_000
  private var numbers: [Print: UInt64] = [:]
  private var last: UInt64 = 0

  /// nil for one that is new.
  func number(of print: Print) -> UInt64? { numbers[print] }

  /// - Returns: Its number from now on.
  mutating func add(_ print: Print) -> UInt64 {
    if numbers.count >= Self.countMax { numbers.removeAll() }
    last += 1
    numbers[print] = last
    return last
  }
}

/// What the log says of the stack of one wait.
struct WaitStack: Sendable {
  var wait: StackRequests.Wait
  /// Why there is none.
  var failure: StackFailure?
  var number: UInt64?
  /// As JSON, the first time.
  var stack: [UInt8]?
  var times: StackRequests.Times?
}

extension CallerStack {
  /// - Parameter stack: Texts of any bytes.
  init(_ stack: NamedStack) {
    self.init(
      isComplete: stack.isComplete, end: stack.end.rawValue, frames: stack.frames.map(CallerFrame.init),
      interpreted: stack.interpreted.map(InterpretedCaller.init),
      problem: stack.problem.isEmpty ? nil : String(decoding: stack.problem, as: UTF8.self))
  }
}

extension CallerFrame {
  init(_ frame: NamedFrame) {
    let foundBy =
      switch frame.certainty {
      case .tables: "tables"
      case .framePointerFound: "frame_pointer"
      case .guessed: "guess"
      }
    self.init(
      module: frame.module, buildID: frame.buildID?.description, offset: frame.offset,
      symbol: frame.symbol.isEmpty ? nil : frame.symbol, file: frame.file.isEmpty ? nil : frame.file,
      line: frame.line == 0 ? nil : frame.line, foundBy: foundBy)
    if frame.isInlined { isInlined = true }
  }
}

extension InterpretedCaller {
  init(_ stack: InterpretedStack) {
    self.init(
      language: String(decoding: stack.language, as: UTF8.self), isReadable: stack.isReadable,
      isComplete: stack.isComplete,
      frames: stack.frames.map {
        InterpretedFrame(function: $0.function, file: $0.file, line: $0.line.flatMap { UInt32(exactly: $0) })
      })
    if stack.hasFunctionLines { hasFunctionLines = true }
  }
}
