/// Where CPython keeps what a stack of Python functions is read from, in bytes from the beginning of each structure.
///
/// One row for each minor version, from `offsetof` on its internal headers (S8). A version without a row is not read: a
/// wrong line is worse than none.
public struct PythonLayout: Sendable, Equatable {
  public let minor: Int
  /// In `_PyRuntime`: the first interpreter.
  var interpreters: Int
  var nextInterpreter: Int
  var firstThread: Int
  var nextThread: Int
  var thread: ThreadIdentity
  var frame: FramePath
  var previousFrame: Int
  var code: Int
  var instruction: Instruction
  /// What kind of frame it is, and from which value on it stands for C calling Python; nil where there are none such.
  var owner: Owner?
  var file: Int
  var name: Int
  var firstLine: Int
  var lineTable: Int
  var text: TextLayout

  enum ThreadIdentity: Sendable, Equatable {
    /// The thread's number is there.
    case native(Int)
    /// pthread_self() is there; glibc on x86-64 keeps the number 720 bytes behind what that points to.
    case posix(Int)
  }

  /// From a thread's state to its innermost frame.
  enum FramePath: Sendable, Equatable {
    case direct(Int)
    case through(Int, Int)
  }

  enum Instruction: Sendable, Equatable {
    /// A 32-bit count of two-byte instructions.
    case index(Int)
    /// A pointer; `bytes` is where a code object keeps its instructions.
    case pointer(Int, bytes: Int)
  }

  struct Owner: Sendable, Equatable {
    let offset: Int
    let firstShim: UInt8
  }

  /// Of str and bytes objects.
  struct TextLayout: Sendable, Equatable {
    var length: Int
    var state: Int
    /// Where the characters of an ASCII text are, and those of any other compact one.
    var asciiData: Int
    var compactData: Int
    /// Of bytes objects.
    var byteCount: Int
    var byteData: Int

    static let bytes = (count: 16, data: 32)
  }

  static let glibcThreadNumber = 720

  private static let rows: [Int: PythonLayout] = [
    10: PythonLayout(
      minor: 10, interpreters: 32, nextInterpreter: 0, firstThread: 8, nextThread: 8, thread: .posix(176),
      frame: .direct(24), previousFrame: 24, code: 32, instruction: .index(96), owner: nil, file: 104, name: 112,
      firstLine: 40, lineTable: 120, text: oldText),
    11: PythonLayout(
      minor: 11, interpreters: 40, nextInterpreter: 0, firstThread: 16, nextThread: 8, thread: .native(160),
      frame: .through(56, 8), previousFrame: 48, code: 32, instruction: .pointer(56, bytes: 184), owner: nil,
      file: 112, name: 128, firstLine: 72, lineTable: 136, text: oldText),
    12: PythonLayout(
      minor: 12, interpreters: 40, nextInterpreter: 0, firstThread: 72, nextThread: 8, thread: .native(144),
      frame: .through(56, 0), previousFrame: 8, code: 0, instruction: .pointer(56, bytes: 192),
      owner: Owner(offset: 70, firstShim: 3), file: 112, name: 128, firstLine: 68, lineTable: 136,
      text: TextLayout(length: 16, state: 32, asciiData: 40, compactData: 56, byteCount: 16, byteData: 32)),
  ]
  private static let oldText = TextLayout(
    length: 16, state: 32, asciiData: 48, compactData: 72, byteCount: 16, byteData: 32)
}

extension PythonLayout {
  /// nil for a version that is not known. 3.13 describes itself: see `init(described:minor:)`.
  public init?(minor: Int) {
    guard let row = Self.rows[minor] else { return nil }
    self = row
  }

  /// How much of `_PyRuntime` describes the rest.
  public static let descriptionBytes = 1024

  // LIMIT: an offset into a structure; the interpreter's is the largest, with some 250 KB.
  private static let offsetMax: UInt64 = 4 << 20

  /// By the description with which `_PyRuntime` begins since 3.13 (`_Py_DebugOffsets`).
  ///
  /// - Returns: nil for another version than 3.13, whose fields have other places, and for offsets that are none.
  public init?(described bytes: [UInt8], minor: Int) {
    guard minor == 13, bytes.prefix(8).elementsEqual("xdebugpy".utf8) else { return nil }
    func offset(_ number: Int) -> Int? {
      guard let value = bytes.word(UInt64.self, at: number * 8), value <= Self.offsetMax else { return nil }
      return Int(value)
    }
    guard let interpreters = offset(5), let nextInterpreter = offset(8), let firstThread = offset(9),
      let nextThread = offset(21), let native = offset(25), let frame = offset(23), let previous = offset(29),
      let code = offset(30), let instruction = offset(31), let owner = offset(33), let file = offset(35),
      let name = offset(37), let lineTable = offset(38), let firstLine = offset(39), let codeBytes = offset(43),
      let state = offset(68), let length = offset(69), let ascii = offset(70), let byteData = offset(66)
    else { return nil }
    self.init(
      minor: 13, interpreters: interpreters, nextInterpreter: nextInterpreter, firstThread: firstThread,
      nextThread: nextThread, thread: .native(native), frame: .direct(frame), previousFrame: previous, code: code,
      instruction: .pointer(instruction, bytes: codeBytes), owner: Owner(offset: owner, firstShim: 3), file: file,
      name: name, firstLine: firstLine, lineTable: lineTable,
      // utf8_length and utf8 lie between.
      text: TextLayout(
        length: length, state: state, asciiData: ascii, compactData: ascii + 16, byteCount: 16, byteData: byteData))
  }
}
