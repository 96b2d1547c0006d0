/// One chain of frames from known registers on, as far as rules lead.
///
/// Nothing is searched here: `StackUnwinder` decides from where, and with which rbp, a chain is tried.
struct ChainWalk {
  let copy: StackCopy
  let mappings: MappingTable
  let source: any UnwindSource

  /// - Parameters:
  ///   - certainty: Of the first frame; a step by rbp alone makes all after it `framePointerFound` at least.
  ///   - isExact: Whether `address` is where the thread stands, not behind a call.
  ///   - limit: Frames, at most.
  func frames(
    from address: UInt64, _ start: RegisterFile, certainty: FrameCertainty, isExact: Bool, limit: Int
  ) -> Stack {
    var stack = Stack(frames: [], end: .tooDeep)
    var (address, registers, certainty, isExact) = (address, start, certainty, isExact)
    while stack.frames.count < limit {
      guard let stackPointer = registers[RegisterFile.stackPointer] else { return stack }
      stack.frames.append(
        StackFrame(
          address: address, stackPointer: stackPointer, framePointer: registers[RegisterFile.framePointer],
          certainty: certainty, isExact: isExact))
      let lookup = isExact ? address : address &- 1
      switch caller(lookup, registers) {
      case .failure(let end):
        stack.end = end != .outermost && source.function(at: lookup)?.isOutermost == true ? .outermost : end
        return stack
      case .success(let next):
        if next.isByFramePointer { certainty = max(certainty, .framePointerFound) }
        (address, registers, isExact) = (next.address, next.registers, next.isExact)
        guard mappings.isExecutable(address) else {
          stack.end = mappings.isOnVolume(address) ? .onVolume : .outsideCode
          return stack
        }
      }
    }
    return stack
  }

  private struct Caller {
    var address: UInt64
    var registers: RegisterFile
    var isExact: Bool
    var isByFramePointer: Bool
  }

  private enum Step {
    case success(Caller)
    case failure(Stack.End)
  }

  private func caller(_ lookup: UInt64, _ registers: RegisterFile) -> Step {
    guard let row = source.row(at: lookup) else { return callerByFramePointer(registers) }
    if row.returnAddress == .undefined { return .failure(.outermost) }
    do throws(DwarfExpression.Failure) {
      return try caller(row, registers)
    } catch {
      switch error {
      case .unknownRegister: return .failure(.unknownRegister)
      case .unreadable: return .failure(.outsideCopy)
      case .malformed: return .failure(.noTables)
      }
    }
  }

  private func caller(_ row: UnwindRow, _ registers: RegisterFile) throws(DwarfExpression.Failure) -> Step {
    let first = DwarfExpression(registers: registers, frameAddress: nil, memory: copy.word(at:))
    // Both kinds are the number itself: a frame's address is no place where it is kept.
    let frameAddress =
      switch try first.evaluate(row.frameAddress) {
      case .address(let address), .value(let address): address
      }
    guard let stackPointer = registers[RegisterFile.stackPointer], frameAddress > stackPointer else {
      return .failure(.notAscending)
    }
    let rules = DwarfExpression(registers: registers, frameAddress: frameAddress, memory: copy.word(at:))
    var next = RegisterFile(stackPointer: frameAddress)
    for number in RegisterFile.saved {
      // One that cannot be told is unknown, which matters only to a rule that wants it.
      next[number] = try? value(row.saved[number] ?? .same, of: number, by: rules)
    }
    guard let address = try value(row.returnAddress, of: RegisterFile.returnAddress, by: rules) else {
      return .failure(.unknownRegister)
    }
    return .success(Caller(address: address, registers: next, isExact: row.isSignalFrame, isByFramePointer: false))
  }

  private func value(
    _ rule: RegisterRule, of number: Int, by expression: DwarfExpression
  ) throws(DwarfExpression.Failure) -> UInt64? {
    switch rule {
    case .undefined: return nil
    case .same: return expression.registers[number]
    case .location(let operations):
      switch try expression.evaluate(operations) {
      case .value(let value): return value
      case .address(let address):
        guard let word = copy.word(at: address) else { throw .unreadable }
        return word
      }
    }
  }

  /// Code without tables that keeps frame pointers: [rbp] is the caller's rbp, [rbp + 8] the return address.
  private func callerByFramePointer(_ registers: RegisterFile) -> Step {
    guard let framePointer = registers[RegisterFile.framePointer],
      let stackPointer = registers[RegisterFile.stackPointer]
    else { return .failure(.noTables) }
    guard framePointer >= stackPointer, framePointer <= .max - 16 else { return .failure(.notAscending) }
    guard let saved = copy.word(at: framePointer), let address = copy.word(at: framePointer + 8) else {
      return .failure(.outsideCopy)
    }
    return .success(
      Caller(
        address: address, registers: RegisterFile(stackPointer: framePointer + 16, framePointer: saved),
        isExact: source.isEntryOfRebuiltFrame(address), isByFramePointer: true))
  }
}
