/// Makes a stack of a capture: by the tables, with a search for rbp where they want it (S2), with guesses where there
/// is nothing else (S4). Pure, and bounded whatever the stack and the files say.
public struct StackUnwinder {
  // LIMIT: how far above a frame's stack pointer something is searched for, in bytes. Larger frames are rare.
  static let searchBytes: UInt64 = 16 << 10
  // LIMIT: how far above its own place a saved rbp may point: the caller's frame is no larger.
  static let frameBytesMax: UInt64 = 1 << 20
  // LIMIT: values of rbp that are tried for one stack. One or two were enough in all chains that were compared.
  static let triesMax = 64
  // LIMIT: parts of a stack that begin with a guess.
  static let guessesMax = 32

  private let walk: ChainWalk
  private let start: ThreadRegisters
  private var triesLeft = Self.triesMax

  private var source: any UnwindSource { walk.source }
  private var copy: StackCopy { walk.copy }

  /// Where a chain begins: the thread itself, or a guessed return address.
  private struct Origin {
    let address: UInt64
    let stackPointer: UInt64
    let certainty: FrameCertainty
    let isExact: Bool
  }

  public init(_ capture: ThreadCapture, source: any UnwindSource) {
    walk = ChainWalk(copy: capture.copy, mappings: capture.mappings, source: source)
    start = capture.registers
  }

  public mutating func unwind() -> Stack {
    var origin = Origin(
      address: start.programCounter, stackPointer: start.stackPointer, certainty: .tables, isExact: true)
    var below: [StackFrame] = []
    for _ in 0...Self.guessesMax {
      let part = unwindPart(origin, limit: Stack.framesMax - below.count)
      let stack = Stack(frames: below + part.frames, end: part.end)
      // A complete stack, or one that no guess would make better: the thread's own code is where nobody may look.
      guard part.end != .outermost, part.end != .tooDeep, part.end != .onVolume, let last = part.frames.last,
        let next = guess(after: last)
      else { return stack }
      below = stack.frames
      origin = next
      if below.count >= Stack.framesMax { return Stack(frames: below, end: .tooDeep) }
    }
    return Stack(frames: below, end: .tooDeep)
  }

  private func chain(_ origin: Origin, framePointer: UInt64?, limit: Int) -> Stack {
    walk.frames(
      from: origin.address, RegisterFile(stackPointer: origin.stackPointer, framePointer: framePointer),
      certainty: origin.certainty, isExact: origin.isExact, limit: limit)
  }

  private mutating func unwindPart(_ origin: Origin, limit: Int) -> Stack {
    let plain = chain(origin, framePointer: nil, limit: limit)
    guard plain.end == .unknownRegister || plain.end == .noTables, let last = plain.frames.last else { return plain }
    let function = source.function(at: last.lookupAddress)
    if plain.end == .noTables, let function, keepsFramePointer(function.start) == false { return plain }
    var best = plain
    for candidate in framePointers(above: last.stackPointer, function: function) {
      guard triesLeft > 0 else { break }
      triesLeft -= 1
      // From the beginning again: rbp may have been missed further below without ending the chain.
      let tried = chain(origin, framePointer: candidate.slot, limit: limit)
      let isLonger = tried.frames.count > best.frames.count
      if tried.end == .outermost || isLonger { best = tried }
      if tried.end == .outermost || (isLonger && candidate.callsFunction) { break }
    }
    return marked(best, afterFrames: plain.frames.count, atLeast: max(origin.certainty, .framePointerFound))
  }

  /// What came out with a found rbp only is marked so.
  private func marked(_ stack: Stack, afterFrames count: Int, atLeast certainty: FrameCertainty) -> Stack {
    var stack = stack
    for index in stack.frames.indices where index >= count {
      let frame = stack.frames[index]
      stack.frames[index] = StackFrame(
        address: frame.address, stackPointer: frame.stackPointer, framePointer: frame.framePointer,
        certainty: max(frame.certainty, certainty), isExact: frame.isExact)
    }
    return stack
  }

  private struct FramePointer {
    let slot: UInt64
    /// A direct call of the very function whose caller is looked for.
    let callsFunction: Bool
  }

  /// Slots that can be what rbp points to: the caller's rbp, and a return address. Those behind a direct call of the
  /// very function come first, and hold whatever the caller had in rbp: compilers use it for anything. Of others, which
  /// may be left over or belong to a caller further out, the rbp has to lie above.
  private func framePointers(above stackPointer: UInt64, function: FunctionSymbol?) -> [FramePointer] {
    var found: [FramePointer] = []
    for slot in slots(from: stackPointer) {
      guard let saved = copy.word(at: slot), let address = copy.word(at: slot &+ 8) else { break }
      let isAbove = saved == 0 || (saved > slot && saved - slot <= Self.frameBytesMax && saved & 7 == 0)
      guard let call = call(before: address, of: function) else { continue }
      let callsFunction = function.map { call == .direct(target: $0.start) } ?? false
      guard isAbove || callsFunction else { continue }
      found.append(FramePointer(slot: slot, callsFunction: callsFunction))
      if found.count == Self.triesMax { break }
    }
    return found.filter(\.callsFunction) + found.filter { !$0.callsFunction }
  }

  /// The next word on the stack that is behind a call which can have come to where `frame` is.
  private func guess(after frame: StackFrame) -> Origin? {
    let function = source.function(at: frame.lookupAddress)
    for slot in slots(from: frame.stackPointer) {
      guard let address = copy.word(at: slot) else { return nil }
      guard call(before: address, of: function) != nil else { continue }
      return Origin(address: address, stackPointer: slot + 8, certainty: .guessed, isExact: false)
    }
    return nil
  }

  private func slots(from stackPointer: UInt64) -> StrideTo<UInt64> {
    let (end, overflow) = stackPointer.addingReportingOverflow(Self.searchBytes)
    // A slot and the one behind it can then be added up without wrapping.
    return stride(from: stackPointer, to: min(overflow ? .max : end, .max - 16), by: 8)
  }

  /// The call before a return address; nil when there is none, or one of another function than `function`.
  ///
  /// A call that leads into another file, or between functions, goes through a table of addresses: it can have called
  /// anything.
  private func call(before address: UInt64, of function: FunctionSymbol?) -> CallSite? {
    let length = UInt64(CallSite.codeMax)
    guard address > length, walk.mappings.isExecutable(address - 1),
      let code = source.code(at: address - length, count: CallSite.codeMax)
    else { return nil }
    switch CallSite(code, returnAddress: address) {
    case .none: return nil
    case .indirect: return .indirect
    case .direct(let target):
      guard walk.mappings.isExecutable(target) else { return nil }
      guard let function, target != function.start else { return .direct(target: target) }
      let isSameFile = fileIdentity(target) == fileIdentity(function.start)
      return isSameFile && source.function(at: target)?.start == target ? nil : .direct(target: target)
    }
  }

  private func fileIdentity(_ address: UInt64) -> [UInt64]? {
    walk.mappings.mapping(at: address).map { [UInt64($0.device.major), UInt64($0.device.minor), $0.inode] }
  }

  /// Whether a function begins with `push rbp; mov rbp, rsp`; nil where its code cannot be had.
  private func keepsFramePointer(_ start: UInt64) -> Bool? {
    guard let code = source.code(at: start, count: 20) else { return nil }
    // endbr64 may come first.
    let first = code.starts(with: [0xf3, 0x0f, 0x1e, 0xfa]) ? 4 : 0
    guard code[first] == 0x55 else { return false }
    return (first + 1..<18).contains { code[$0..<$0 + 3].elementsEqual([0x48, 0x89, 0xe5]) }
  }
}
