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
  private let check: ChainCheck
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
    check = ChainCheck(capture, source: source)
    start = capture.registers
  }

  public mutating func unwind() -> Stack {
    var origin = Origin(
      address: start.programCounter, stackPointer: start.stackPointer, certainty: .tables, isExact: true)
    var below: [StackFrame] = []
    // Why a guess was needed: frames may be missing before it, wherever the chain leads from there.
    var gap: Stack.End?
    for _ in 0...Self.guessesMax {
      let part = unwindPart(origin, limit: Stack.framesMax - below.count)
      let stack = Stack(frames: below + part.stack.frames, end: gap ?? part.stack.end)
      // A complete stack, or one that no guess would make better: the thread's own code is where nobody may look.
      guard !part.isAll, part.stack.end != .tooDeep, part.stack.end != .onVolume, let last = part.stack.frames.last,
        let next = guess(after: last)
      else { return stack }
      gap = stack.end
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

  /// A chain, and whether it leads to where threads begin: complete or not, there is no more.
  private typealias Part = (stack: Stack, isAll: Bool)

  private mutating func unwindPart(_ origin: Origin, limit: Int) -> Part {
    let plain = chain(origin, framePointer: nil, limit: limit)
    guard plain.end == .unknownRegister || plain.end == .noTables, let last = plain.frames.last else {
      return (plain, plain.end == .outermost)
    }
    let function = source.function(at: last.lookupAddress)
    let keepsFramePointer = plain.end == .unknownRegister || check.calls.keepsFramePointer(last, function)
    if !keepsFramePointer, check.calls.keepsFramePointer(function) == false { return (plain, false) }
    let count = plain.frames.count
    // Nothing shows that it is the right one, or that it is not.
    var open: Stack?
    for candidate in framePointers(above: last, function: function) {
      guard triesLeft > 0 else { break }
      triesLeft -= 1
      // From the beginning again: rbp may have been missed further below without ending the chain.
      let tried = check.judged(chain(origin, framePointer: candidate.slot, limit: limit), from: count - 1)
      if tried.verdict == .refuted { continue }
      // Code that is not known to keep rbp, and no frame pointer there: the nearest return address, and no more.
      // Of a function of which nothing says where it begins nobody knows how far from rsp its rbp lies: one that is
      // left over from an earlier call, below where its caller's is, holds just as well.
      let isUnknown = function == nil && !candidate.isLikely
      let isGuess = open != nil || isUnknown || (!keepsFramePointer && !candidate.isAbove)
      let certainty: FrameCertainty = isGuess ? .guessed : max(origin.certainty, .framePointerFound)
      let stack = marked(tried.stack, afterFrames: count, atLeast: certainty)
      if tried.verdict == .holds {
        // What is nearer is not passed over, as far as there is anything of it.
        if let open, open.frames.count > count { return (marked(open, afterFrames: count, atLeast: .guessed), false) }
        return (Stack(frames: stack.frames, end: isGuess ? plain.end : .outermost), true)
      }
      if open == nil || candidate.isLikely { open = stack }
      if candidate.isLikely || stack.end == .onVolume { break }
    }
    return (open ?? plain, false)
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
    /// Where the function's code says that rbp is, or below the return address of a direct call of it.
    var isLikely: Bool
    /// Whether what the caller had in rbp can be a frame pointer itself, or is the zero with which threads begin.
    let isAbove: Bool
  }

  /// Slots that can be what rbp points to. First the one that the function's code tells, then all, innermost first: a
  /// chain that begins further out can hold just as well, without the frames between.
  private func framePointers(above frame: StackFrame, function: FunctionSymbol?) -> [FramePointer] {
    var found: [FramePointer] = []
    if let slot = check.calls.framePointer(of: frame, function), var first = framePointer(slot, function) {
      first.isLikely = true
      found.append(first)
    }
    for slot in slots(from: frame.stackPointer) {
      guard copy.word(at: slot &+ 8) != nil, found.count < Self.triesMax else { break }
      if let candidate = framePointer(slot, function) { found.append(candidate) }
    }
    return found
  }

  /// The caller's rbp, which may be anything, as compilers use it for anything, and a return address.
  private func framePointer(_ slot: UInt64, _ function: FunctionSymbol?) -> FramePointer? {
    guard slot < .max - 16, let saved = copy.word(at: slot), let address = copy.word(at: slot + 8),
      let caller = check.calls.caller(at: address, of: function)
    else { return nil }
    let isAbove = saved == 0 || (saved > slot && saved - slot <= Self.frameBytesMax && saved & 7 == 0)
    return FramePointer(slot: slot, isLikely: caller == .direct, isAbove: isAbove)
  }

  /// The next word on the stack that is behind a call which can have come to where `frame` is.
  private func guess(after frame: StackFrame) -> Origin? {
    let function = source.function(at: frame.lookupAddress)
    for slot in slots(from: frame.stackPointer) {
      guard let address = copy.word(at: slot) else { return nil }
      guard walk.mappings.isExecutable(address), check.calls.caller(at: address, of: function) != nil else { continue }
      return Origin(address: address, stackPointer: slot + 8, certainty: .guessed, isExact: false)
    }
    return nil
  }

  private func slots(from stackPointer: UInt64) -> StrideTo<UInt64> {
    let (end, overflow) = stackPointer.addingReportingOverflow(Self.searchBytes)
    // A slot and the one behind it can then be added up without wrapping.
    return stride(from: stackPointer, to: min(overflow ? .max : end, .max - 16), by: 8)
  }
}
