/// How far below its rbp a function has its rsp, by the instructions with which it begins.
///
/// Only what compilers put there is understood. The stack may be lower at a call (alloca, arguments): then there is no
/// frame where this says, which is for others to see.
struct FunctionPrologue {
  // LIMIT: bytes that are looked at.
  static let codeMax: UInt64 = 96

  /// In bytes; nil when the function does not keep rbp, or does something that is not understood.
  let depth: UInt64?

  /// - Parameter code: From the function's beginning, as far as it has been carried out.
  init(_ code: [UInt8]) {
    var reader = Reader(code: code)
    var depth: UInt64?
    var (isPushing, isLowered) = (true, false)
    while let instruction = reader.next() {
      switch instruction {
      case .keepRbp: (depth, isPushing, isLowered) = (0, true, false)
      case .push(let isSaved):
        // What comes later, or is no register that a function saves, is an argument: gone at the next call.
        guard depth == nil || (!isLowered && (isSaved || isPushing)) else {
          self.depth = nil
          return
        }
        depth = depth.map { $0 + 8 }
      case .lower(let bytes): (depth, isLowered) = (depth.map { $0 + bytes }, true)
      case .other: isPushing = false
      case .changeRsp:
        self.depth = nil
        return
      }
    }
    // What was not understood comes before what is looked for, unless that was seen.
    self.depth = isLowered || reader.isAtBranch ? depth : nil
  }

  private enum Instruction {
    case keepRbp
    case push(isSaved: Bool)
    case lower(UInt64)
    case changeRsp
    case other
  }

  /// Up to the first jump, call or instruction that prologues have not.
  private struct Reader {
    let code: [UInt8]
    var position = 0

    private func byte(_ offset: Int) -> UInt8 { code.indices.contains(offset) ? code[offset] : 0 }

    mutating func next() -> Instruction? {
      if code.dropFirst(position).starts(with: [0xf3, 0x0f, 0x1e, 0xfa]) { position += 4 }  // endbr64
      // The canary of the stack is read by fs.
      var at = byte(position) == 0x64 ? position + 1 : position
      let rex = byte(at) & 0xf0 == 0x40 ? byte(at) : 0
      if rex != 0 { at += 1 }
      let opcode = byte(at)
      let (length, instruction): (Int, Instruction)
      switch opcode {
      case 0x50...0x57: (length, instruction) = (1, .push(isSaved: Self.isSaved(opcode & 7, isHigh: rex & 1 != 0)))
      case 0xb8...0xbf: (length, instruction) = (rex & 8 != 0 ? 9 : 5, .other)
      case 0x81, 0x83, 0xc6, 0xc7: (length, instruction) = withNumber(opcode, at: at + 1, rex)
      case 0x01, 0x09, 0x21, 0x29, 0x31, 0x39, 0x85, 0x88, 0x89,  // to register or memory
        0x03, 0x0b, 0x23, 0x2b, 0x33, 0x3b, 0x63, 0x8a, 0x8b, 0x8d:  // to a register
        (length, instruction) = (1 + operandLength(at + 1), ofRegisters(opcode, operand: byte(at + 1), rex))
      case 0x0f where [0x10, 0x11, 0x1f, 0x28, 0x29, 0xb6, 0xb7, 0xbe, 0xbf].contains(byte(at + 1)):
        (length, instruction) = (2 + operandLength(at + 2), .other)
      default: return nil
      }
      guard at + length <= code.count else { return nil }
      position = at + length
      return instruction
    }

    /// Whether all is understood up to a jump, a call, or where the code is cut.
    var isAtBranch: Bool {
      switch byte(position) {
      case 0x70...0x7f, 0xe8, 0xe9, 0xeb, 0xff: true
      case 0x0f: byte(position + 1) & 0xf0 == 0x80
      default: position >= code.count
      }
    }

    /// rbx, rbp, r12 to r15.
    private static func isSaved(_ register: UInt8, isHigh: Bool) -> Bool {
      isHigh ? register >= 4 : register == 3 || register == 5
    }

    /// Of the ModRM byte with what follows it, without constants.
    private func operandLength(_ at: Int) -> Int {
      let (mode, register) = (byte(at) >> 6, byte(at) & 7)
      if mode == 3 { return 1 }
      let hasIndex = register == 4
      let base = hasIndex ? byte(at + 1) & 7 : register
      let distance = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0
      return 1 + (hasIndex ? 1 : 0) + distance
    }

    private func withNumber(_ opcode: UInt8, at: Int, _ rex: UInt8) -> (Int, Instruction) {
      let (operand, operandLength) = (byte(at), operandLength(at))
      let isByte = opcode == 0x83 || opcode == 0xc6
      let length = 1 + operandLength + (isByte ? 1 : 4)
      // rsp itself: subtracted from, or a negative number added to.
      guard operand & 0xc7 == 0xc4, rex & 1 == 0 else { return (length, .other) }
      let number =
        isByte
        ? Int64(Int8(bitPattern: byte(at + 1)))
        : code.word(Int32.self, at: UInt64(at + 1)).map(Int64.init) ?? 0
      switch operand >> 3 & 7 {
      case 5 where number > 0: return (length, .lower(UInt64(number)))
      case 0 where number < 0: return (length, .lower(number.magnitude))
      default: return (length, .changeRsp)
      }
    }

    private func ofRegisters(_ opcode: UInt8, operand: UInt8, _ rex: UInt8) -> Instruction {
      if rex == 0x48, (opcode, operand) == (0x89, 0xe5) || (opcode, operand) == (0x8b, 0xec) { return .keepRbp }
      // Which of the two is written to is a bit of the operation.
      let isLoad = opcode & 2 != 0 || opcode == 0x8d
      let (target, isHigh) = isLoad ? (operand >> 3 & 7, rex & 4 != 0) : (operand & 7, rex & 1 != 0)
      let isRegister = isLoad || operand >> 6 == 3
      return isRegister && target == 4 && !isHigh ? .changeRsp : .other
    }
  }
}
