/// What was found of a thread's Python functions.
public enum PythonStack: Sendable, Equatable {
  /// Innermost first; `isComplete` is false where memory could not be read, or the chain did not end.
  case frames([InterpretedFunction], isComplete: Bool)
  /// The process is Python, but of a version whose structures are not known, or the thread is none of Python's.
  case notReadable
}

/// Reads the frames of a blocked thread from its interpreter's structures. Bounded, whatever the memory says.
public struct PythonWalk<Memory: CallerMemory> {
  // LIMIT: interpreters, threads and frames that are looked at, and bytes of a name.
  static var interpretersMax: Int { 100 }
  static var threadsMax: Int { 20_000 }
  static var framesMax: Int { 512 }
  static var textMax: Int { 1000 }

  private let memory: Memory
  private let layout: PythonLayout
  /// Of `_PyRuntime`.
  private let runtime: UInt64

  public init(memory: Memory, layout: PythonLayout, runtime: UInt64) {
    self.memory = memory
    self.layout = layout
    self.runtime = runtime
  }

  public func stack(of threadID: Int32) -> PythonStack {
    guard let state = threadState(threadID), var frame = innermostFrame(state) else { return .notReadable }
    var frames: [InterpretedFunction] = []
    for _ in 0..<Self.framesMax {
      if frame == 0 { return .frames(frames, isComplete: true) }
      guard let isShim = isShim(frame), let previous = memory.word(UInt64.self, at: frame, layout.previousFrame) else {
        return .frames(frames, isComplete: false)
      }
      if !isShim {
        guard let found = function(of: frame) else { return .frames(frames, isComplete: false) }
        frames.append(found)
      }
      frame = previous
    }
    return .frames(frames, isComplete: false)
  }

  private func threadState(_ threadID: Int32) -> UInt64? {
    var threads = 0
    var interpreter = memory.word(UInt64.self, at: runtime, layout.interpreters) ?? 0
    for _ in 0..<Self.interpretersMax where interpreter != 0 {
      var state = memory.word(UInt64.self, at: interpreter, layout.firstThread) ?? 0
      while state != 0, threads < Self.threadsMax {
        if number(of: state) == threadID { return state }
        threads += 1
        state = memory.word(UInt64.self, at: state, layout.nextThread) ?? 0
      }
      interpreter = memory.word(UInt64.self, at: interpreter, layout.nextInterpreter) ?? 0
    }
    return nil
  }

  private func number(of state: UInt64) -> Int32? {
    switch layout.thread {
    case .native(let offset):
      memory.word(UInt64.self, at: state, offset).flatMap { Int32(exactly: $0) }
    case .posix(let offset):
      memory.word(UInt64.self, at: state, offset).flatMap {
        memory.word(Int32.self, at: $0, PythonLayout.glibcThreadNumber)
      }
    }
  }

  private func innermostFrame(_ state: UInt64) -> UInt64? {
    switch layout.frame {
    case .direct(let offset): memory.word(UInt64.self, at: state, offset)
    case .through(let first, let second):
      memory.word(UInt64.self, at: state, first).flatMap { memory.word(UInt64.self, at: $0, second) }
    }
  }

  private func isShim(_ frame: UInt64) -> Bool? {
    guard let owner = layout.owner else { return false }
    return memory.word(UInt8.self, at: frame, owner.offset).map { $0 >= owner.firstShim }
  }

  private func function(of frame: UInt64) -> InterpretedFunction? {
    guard var code = memory.word(UInt64.self, at: frame, layout.code) else { return nil }
    // The lowest bits can be a tag.
    code &= ~7
    let text = PythonText(layout: layout.text)
    guard let name = memory.word(UInt64.self, at: code, layout.name).flatMap({ text.string($0, in: memory) }),
      let file = memory.word(UInt64.self, at: code, layout.file).flatMap({ text.string($0, in: memory) })
    else { return nil }
    return InterpretedFunction(function: name, file: file, line: line(of: frame, code: code, text: text))
  }

  private func line(of frame: UInt64, code: UInt64, text: PythonText) -> Int? {
    guard let first = memory.word(Int32.self, at: code, layout.firstLine), let instruction = instruction(frame, code),
      let table = memory.word(UInt64.self, at: code, layout.lineTable).flatMap({ text.bytes($0, in: memory) })
    else { return nil }
    return PythonLineTable.line(table, instruction: instruction, firstLine: Int(first), minor: layout.minor)
  }

  private func instruction(_ frame: UInt64, _ code: UInt64) -> Int? {
    switch layout.instruction {
    case .index(let offset): return memory.word(Int32.self, at: frame, offset).map { Int($0) * 2 }
    case .pointer(let offset, let bytes):
      guard let address = memory.word(UInt64.self, at: frame, offset), code <= .max - UInt64(bytes),
        address >= code + UInt64(bytes)
      else { return nil }
      return Int(exactly: address - code - UInt64(bytes))
    }
  }
}
