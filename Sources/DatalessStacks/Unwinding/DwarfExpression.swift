/// Carries out the expressions of unwind tables.
///
/// They come from a caller's file: each has a bound of steps and of depth, arithmetic wraps, and what is not
/// understood, or wants what is not known, is nil.
struct DwarfExpression {
  // LIMIT: glibc's longest, that of a signal frame, has 3 operations; a PLT's has 8.
  static let stepsMax = 256
  static let depthMax = 64

  enum Value: Equatable {
    case address(UInt64)
    case value(UInt64)
  }

  enum Failure: Error, Equatable {
    case unknownRegister
    case unreadable
    case malformed
  }

  let registers: RegisterFile
  /// DW_OP_call_frame_cfa; nil while it is computed.
  let frameAddress: UInt64?
  let memory: (UInt64) -> UInt64?

  private struct Machine {
    var stack: [UInt64] = []

    mutating func pop() throws(Failure) -> UInt64 {
      guard let value = stack.popLast() else { throw .malformed }
      return value
    }

    mutating func push(_ value: UInt64) throws(Failure) {
      guard stack.count < DwarfExpression.depthMax else { throw .malformed }
      stack.append(value)
    }

    func peek(_ depth: UInt64) throws(Failure) -> UInt64 {
      guard depth < UInt64(stack.count) else { throw .malformed }
      return stack[stack.count - 1 - Int(depth)]
    }
  }

  func evaluate(_ operations: [DwarfOperation]) throws(Failure) -> Value {
    var machine = Machine()
    var position = 0
    var steps = 0
    while position < operations.count {
      steps += 1
      guard steps <= Self.stepsMax else { throw .malformed }
      let operation = operations[position]
      position += 1
      switch operation.code {
      case 0x9f: return .value(try machine.pop())  // stack_value
      case 0x50...0x6f: return .value(try register(Int(operation.code) - 0x50))  // reg0 to reg31
      case 0x90: return .value(try register(Int(clamping: operation.first)))  // regx
      case 0x2f, 0x28:  // skip, bra
        if operation.code == 0x28, try machine.pop() == 0 { continue }
        position = try Self.target(of: operation, in: operations)
      default: try step(operation, &machine)
      }
    }
    return .address(try machine.pop())
  }

  /// A branch counts bytes from its own end, which is 3 behind its beginning. Its end may be the expression's.
  private static func target(
    of operation: DwarfOperation, in operations: [DwarfOperation]
  ) throws(Failure) -> Int {
    let distance = UInt64(bitPattern: Int64(Int16(truncatingIfNeeded: operation.first)))
    let offset = operation.offset &+ 3 &+ distance
    guard let index = operations.firstIndex(where: { $0.offset == offset }) else { throw .malformed }
    return index
  }

  private func register(_ number: Int) throws(Failure) -> UInt64 {
    guard let value = registers[number] else { throw .unknownRegister }
    return value
  }

  private func load(_ address: UInt64) throws(Failure) -> UInt64 {
    guard let value = memory(address) else { throw .unreadable }
    return value
  }

  private func step(_ operation: DwarfOperation, _ machine: inout Machine) throws(Failure) {
    let first = operation.first
    switch operation.code {
    case 0x03, 0x08, 0x0a, 0x0c, 0x0e, 0x10: try machine.push(first)  // addr, const1u to const8u, constu
    // Signed constants come with their sign extended.
    case 0x09, 0x0b, 0x0d, 0x0f, 0x11: try machine.push(first)
    case 0x06: try machine.push(try load(try machine.pop()))  // deref
    case 0x12: try machine.push(try machine.peek(0))  // dup
    case 0x13: _ = try machine.pop()  // drop
    case 0x14: try machine.push(try machine.peek(1))  // over
    case 0x15: try machine.push(try machine.peek(first))  // pick
    case 0x16:  // swap
      let top = try machine.pop()
      let next = try machine.pop()
      try machine.push(top)
      try machine.push(next)
    case 0x1f: try machine.push(0 &- (try machine.pop()))  // neg
    case 0x20: try machine.push(~(try machine.pop()))  // not
    case 0x23: try machine.push(try machine.pop() &+ first)  // plus_uconst
    case 0x1a, 0x1c, 0x1e, 0x21, 0x22, 0x24...0x27, 0x29...0x2e: try combine(operation.code, &machine)
    case 0x30...0x4f: try machine.push(UInt64(operation.code - 0x30))  // lit0 to lit31
    case 0x70...0x8f: try machine.push(try register(Int(operation.code) - 0x70) &+ first)  // breg0 to breg31
    case 0x92: try machine.push(try register(Int(clamping: first)) &+ operation.second)  // bregx
    case 0x94:  // deref_size
      guard (1...8).contains(first) else { throw .malformed }
      let value = try load(try machine.pop())
      try machine.push(first == 8 ? value : value & (1 << (first * 8) - 1))
    case 0x96: break  // nop
    case 0x9c:  // call_frame_cfa
      guard let frameAddress else { throw .malformed }
      try machine.push(frameAddress)
    default: throw .malformed
    }
  }

  private func combine(_ code: UInt8, _ machine: inout Machine) throws(Failure) {
    let right = try machine.pop()
    let left = try machine.pop()
    let (signedLeft, signedRight) = (Int64(bitPattern: left), Int64(bitPattern: right))
    switch code {
    case 0x1a: try machine.push(left & right)
    case 0x1c: try machine.push(left &- right)
    case 0x1e: try machine.push(left &* right)
    case 0x21: try machine.push(left | right)
    case 0x22: try machine.push(left &+ right)
    case 0x24: try machine.push(left << right)
    case 0x25: try machine.push(left >> right)
    case 0x26: try machine.push(UInt64(bitPattern: signedLeft >> Int64(clamping: right)))
    case 0x27: try machine.push(left ^ right)
    case 0x29: try machine.push(signedLeft == signedRight ? 1 : 0)
    case 0x2a: try machine.push(signedLeft >= signedRight ? 1 : 0)
    case 0x2b: try machine.push(signedLeft > signedRight ? 1 : 0)
    case 0x2c: try machine.push(signedLeft <= signedRight ? 1 : 0)
    case 0x2d: try machine.push(signedLeft < signedRight ? 1 : 0)
    default: try machine.push(signedLeft != signedRight ? 1 : 0)
    }
  }
}
