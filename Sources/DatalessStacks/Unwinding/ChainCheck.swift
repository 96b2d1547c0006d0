/// Whether a chain that begins with a found rbp can be what it seems: each frame called by the next one.
struct ChainCheck {
  enum Verdict {
    /// Each frame can have called the one before it, up to where threads begin.
    case holds
    /// By the tables a frame would be called by something that cannot have called it: what was found is no rbp.
    case refuted
    /// Neither: the chain ends before it could be told.
    case open
  }

  let copy: StackCopy
  let source: any UnwindSource

  let calls: CallCheck

  init(_ capture: ThreadCapture, source: any UnwindSource) {
    copy = capture.copy
    self.source = source
    calls = CallCheck(mappings: capture.mappings, source: source, framedCode: capture.framedCode)
  }

  /// - Parameter first: The frame whose caller the found rbp has told.
  /// - Returns: The chain as far as it can be relied on.
  func judged(_ stack: Stack, from first: Int) -> (verdict: Verdict, stack: Stack) {
    // The last frame whose caller rbp alone has told, without tables: if that is no frame pointer, it is anything.
    var bare: Int?
    func failed() -> (verdict: Verdict, stack: Stack) {
      guard let bare else { return (.refuted, stack) }
      return (.open, Stack(frames: Array(stack.frames[...bare]), end: .noTables))
    }
    for index in stack.frames.indices.dropLast().dropFirst(first) {
      let (frame, caller) = (stack.frames[index], stack.frames[index + 1])
      // What a signal interrupted has not called anything.
      if caller.isExact, !source.isEntryOfRebuiltFrame(caller.address) { continue }
      let function = source.function(at: frame.lookupAddress)
      // Code without tables that does not keep rbp: where rbp leads from there is its caller's caller.
      if index > first, source.row(at: frame.lookupAddress) == nil, calls.keepsFramePointer(function) == false {
        bare = index
      }
      guard calls.caller(at: caller.address, of: function) != nil else { return failed() }
      guard source.row(at: frame.lookupAddress) == nil else { continue }
      bare = index
      // Of the first frame's, whoever has found this rbp has seen all places.
      guard index == first || isNearest(caller, of: frame, function) else { return failed() }
    }
    // It led nowhere.
    if let last = stack.frames.last, source.row(at: last.lookupAddress) == nil { bare = stack.frames.count - 1 }
    switch stack.end {
    case .outermost: return (.holds, stack)
    case .outsideCode, .notAscending: return failed()
    // Up to the end of the stack, unless that is too large.
    case .outsideCopy: return copy.bytes.count < StackCopy.bytesMax ? failed() : (.open, stack)
    case .noTables, .unknownRegister, .onVolume, .tooDeep: return (.open, stack)
    }
  }

  /// Whether code without tables keeps rbp, or has nothing else below it on the stack that could be its caller: if rbp
  /// is another frame's, those between would be passed over.
  private func isNearest(_ caller: StackFrame, of frame: StackFrame, _ function: FunctionSymbol?) -> Bool {
    if calls.keepsFramePointer(frame, function) { return true }
    // The two words below the caller's frame are rbp and the return address.
    guard caller.stackPointer >= 16, caller.stackPointer - 16 >= frame.stackPointer else { return false }
    return !stride(from: frame.stackPointer, to: caller.stackPointer - 8, by: 8).contains { slot in
      copy.word(at: slot).flatMap { calls.caller(at: $0, of: function) } != nil
    }
  }
}
