/// Whether a return address can be that of a call of a function, by the code before it and by where that call leads.
///
/// A word that passes may still be left over from an earlier call; one that does not is no caller's.
struct CallCheck {
  // LIMIT: bytes of a function that are searched for jumps, and functions that are followed: what is longer is not
  // held against a caller.
  static let codeMax: UInt64 = 4096
  static let functionsMax = 16

  enum Caller: Equatable {
    /// A direct call of the very function.
    case direct
    /// A call through a register or a table, or of a function that may have jumped on to this one.
    case possible
    /// Its code cannot be read: it is generated, or its file may not be had.
    case unseen
  }

  // LIMIT: answers that are kept for one stack, on which the same addresses are looked at again and again.
  private static let answersMax = 1 << 16

  let mappings: MappingTable
  let source: any UnwindSource
  /// See `ThreadCapture.framedCode`.
  private let framedCode: [Range<UInt64>]
  private let answers = Answers()

  private final class Answers {
    var callers: [Question: Caller?] = [:]
    var leads: [Question: Bool] = [:]
  }

  private struct Question: Hashable {
    let address: UInt64
    /// Where the function begins of whose caller it is asked.
    let function: UInt64?
  }

  init(mappings: MappingTable, source: any UnwindSource, framedCode: [Range<UInt64>] = []) {
    self.mappings = mappings
    self.source = source
    self.framedCode = framedCode
  }

  /// - Parameter function: nil where nothing says which it is.
  /// - Returns: nil when it is no return address, or that of a call of something else.
  func caller(at address: UInt64, of function: FunctionSymbol?) -> Caller? {
    guard mappings.isExecutable(address &- 1) || mappings.isOnVolume(address &- 1) else { return nil }
    let question = Question(address: address, function: function?.start)
    if let known = answers.callers[question] { return known }
    let caller = newCaller(at: address, of: function)
    if answers.callers.count < Self.answersMax { answers.callers[question] = .some(caller) }
    return caller
  }

  private func newCaller(at address: UInt64, of function: FunctionSymbol?) -> Caller? {
    let length = UInt64(CallSite.codeMax)
    guard address > length else { return nil }
    if mappings.isOnVolume(address - 1) { return .unseen }
    guard let code = source.code(at: address - length, count: CallSite.codeMax) else {
      return source.code(at: address - 1, count: 1) == nil ? .unseen : nil
    }
    switch CallSite(code, returnAddress: address) {
    // A handler of signals returns to code that has not called it.
    case .none:
      let isPossible = source.row(at: address - 1)?.isSignalFrame == true || isOfRebuiltFrame(address)
      return isPossible ? .possible : nil
    case .indirect: return .possible
    case .direct(let target):
      guard mappings.isExecutable(target) || mappings.isOnVolume(target) else { return nil }
      guard let function else { return .possible }
      if target == function.start { return .direct }
      return mayLead(from: target, to: function) ? .possible : nil
    }
  }

  /// Whether V8 has a frame go on at an address to which no call returns: it makes the frames of functions that were
  /// inlined into optimized code when it gives that up. Those of constructors go on where the stub for them jumps to
  /// behind its own calls.
  private func isOfRebuiltFrame(_ address: UInt64) -> Bool {
    if source.isEntryOfRebuiltFrame(address) { return true }
    guard let function = source.function(at: address), function.isOfV8, let code = wholeCode(of: function.start) else {
      return false
    }
    return code.indices.dropFirst(CallSite.codeMax).contains { offset in
      guard case .direct(address) = Jump(code, at: offset, address: function.start) else { return false }
      let before = Array(code[offset - CallSite.codeMax..<offset])
      return CallSite(before, returnAddress: function.start + UInt64(offset)) != .none
    }
  }

  /// Whether a frame that has called something is one of a function that keeps rbp. What V8 compiles does, builtins,
  /// too, which may do so behind their first steps: all of its own walks over the stack go by that.
  func keepsFramePointer(_ frame: StackFrame, _ function: FunctionSymbol?) -> Bool {
    if keepsFramePointer(function) == true { return true }
    if frame.isExact { return source.isEntryOfRebuiltFrame(frame.address) }
    return function?.isOfV8 == true || framedCode.contains { $0.contains(frame.lookupAddress) }
  }

  /// Whether a function keeps rbp as its frame pointer: it begins with `push rbp; mov rbp, rsp`. nil where its code
  /// cannot be had.
  func keepsFramePointer(_ function: FunctionSymbol?) -> Bool? {
    guard let function, let code = source.code(at: function.start, count: 20) else { return nil }
    // endbr64 may come first.
    let first = code.starts(with: [0xf3, 0x0f, 0x1e, 0xfa]) ? 4 : 0
    guard code[first] == 0x55 else { return false }
    return (first + 1..<18).contains { code[$0..<$0 + 3].elementsEqual([0x48, 0x89, 0xe5]) }
  }

  /// Where rbp is in a frame of a function that keeps it, by what the function's code has done with rsp.
  func framePointer(of frame: StackFrame, _ function: FunctionSymbol?) -> UInt64? {
    guard let start = function?.start, frame.address > start,
      let code = source.code(at: start, count: Int(min(frame.address - start, FunctionPrologue.codeMax))),
      let depth = FunctionPrologue(code).depth
    else { return nil }
    let (slot, overflow) = frame.stackPointer.addingReportingOverflow(depth)
    return overflow ? nil : slot
  }

  /// Whether what was called can have jumped on to the function, as its last step or as a part of it that lies
  /// elsewhere. What is no function by its symbol (an entry of a table of addresses, say) can lead anywhere.
  private func mayLead(from target: UInt64, to function: FunctionSymbol) -> Bool {
    let question = Question(address: target, function: function.start)
    if let known = answers.leads[question] { return known }
    let leads = searchJumps(from: target, to: function)
    if answers.leads.count < Self.answersMax { answers.leads[question] = leads }
    return leads
  }

  private func searchJumps(from target: UInt64, to function: FunctionSymbol) -> Bool {
    var known: Set<UInt64> = [target]
    var waiting = [target]
    while let start = waiting.popLast() {
      guard source.function(at: start)?.start == start, let code = wholeCode(of: start) else { return true }
      for offset in code.indices {
        guard let jump = Jump(code, at: offset, address: start) else { continue }
        guard case .direct(let next) = jump else { return true }
        guard mappings.isExecutable(next) else { continue }
        guard let reached = source.function(at: next)?.start, reached != function.start else { return true }
        guard known.insert(reached).inserted else { continue }
        guard known.count <= Self.functionsMax else { return true }
        waiting.append(reached)
      }
    }
    return false
  }

  /// nil when it cannot be read, or is too long.
  private func wholeCode(of start: UInt64) -> [UInt8]? {
    guard let mapping = mappings.mapping(at: start) else { return nil }
    var (inside, outside): (UInt64, UInt64) = (0, min(Self.codeMax, mapping.end - start))
    if outside == Self.codeMax, source.function(at: start + outside - 1)?.start == start { return nil }
    // Where the next function begins, or what is none.
    while outside - inside > 1 {
      let middle = (inside + outside) / 2
      if source.function(at: start + middle)?.start == start { inside = middle } else { outside = middle }
    }
    return source.code(at: start, count: Int(outside))
  }
}

/// A jump of x86-64: what a function does that calls another one as its last step.
private enum Jump {
  case direct(target: UInt64)
  /// Through a register or memory.
  case indirect

  /// - Parameter address: Of the first byte of `code`.
  init?(_ code: [UInt8], at offset: Int, address: UInt64) {
    guard code.count - offset >= 2 else { return nil }
    let next = code[offset + 1]
    var distance: Int64?
    var length = 2
    switch code[offset] {
    case 0xff where next & 0x38 == 0x20:
      self = .indirect
      return
    case 0xeb, 0x70...0x7f: distance = Int64(Int8(bitPattern: next))
    case 0xe9: (distance, length) = (code.word(Int32.self, at: UInt64(offset) + 1).map(Int64.init), 5)
    case 0x0f where next & 0xf0 == 0x80:
      (distance, length) = (code.word(Int32.self, at: UInt64(offset) + 2).map(Int64.init), 6)
    default: break
    }
    guard let distance else { return nil }
    self = .direct(target: address &+ UInt64(offset + length) &+ UInt64(bitPattern: distance))
  }
}
