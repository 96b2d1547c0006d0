/// Whether an address is behind a call instruction of x86-64: what every return address is.
enum CallSite: Equatable {
  case none
  /// Through a register or memory: it can have called anything.
  case indirect
  case direct(target: UInt64)

  /// The longest call is that long.
  static let codeMax = 7

  /// - Parameter code: The 7 bytes before `returnAddress`.
  init(_ code: [UInt8], returnAddress: UInt64) {
    guard code.count == Self.codeMax else {
      self = .none
      return
    }
    if code[2] == 0xe8, let distance = code.word(Int32.self, at: 3) {
      self = .direct(target: returnAddress &+ UInt64(bitPattern: Int64(distance)))
      return
    }
    // ff /2, with: no displacement; 8 bits; a scaled index and 8 bits; 32 bits; a scaled index and 32 bits.
    let isIndirect = [5, 4, 3, 1, 0].contains { code[$0] == 0xff && code[$0 + 1] & 0x38 == 0x10 }
    self = isIndirect ? .indirect : .none
  }
}
