@testable import DatalessStacks

/// A program that exists in a test alone: functions of 256 bytes from `base` on, their rules, and a stack built of
/// calls.
struct ScriptedProgram: UnwindSource {
  enum Rule: Equatable {
    /// Frame sizes by the tables, in bytes with the return address.
    case fixed(UInt64)
    /// The tables count from rbp, which the function has pushed: the frame is that large above the stack pointer.
    case framePointer(UInt64)
    /// No tables; the function keeps rbp.
    case bare(UInt64)
    /// No tables, no rbp.
    case blind(UInt64)
    case outermost
  }

  static let base: UInt64 = 0x40_0000
  static let length: UInt64 = 256
  /// Behind the call in a function.
  static let callEnd: UInt64 = 0x80

  /// From the outermost in.
  var rules: [Rule]
  var hasSymbols = true
  /// Whether functions are called through a register: then any of them can be the one that was called.
  var callsIndirectly = false
  /// Whether functions that keep rbp say in their code how large their frame is.
  var hasPrologues = false
  /// Functions whose code nobody can read: it was generated.
  var unseen: Set<Int> = []

  static func start(_ index: Int) -> UInt64 { base + UInt64(index) * length }
  static func returnAddress(_ index: Int) -> UInt64 { start(index) + callEnd }

  private func index(_ address: UInt64) -> Int? {
    guard address >= Self.base, address < Self.start(rules.count) else { return nil }
    return Int((address - Self.base) / Self.length)
  }

  func row(at address: UInt64) -> UnwindRow? {
    guard let index = index(address), !unseen.contains(index) else { return nil }
    let returnAddress = RegisterRule.location([
      DwarfOperation(code: 0x9c), DwarfOperation(code: 0x23, first: UInt64(bitPattern: -8)),
    ])
    switch rules[index] {
    case .fixed(let size):
      return UnwindRow(
        frameAddress: [DwarfOperation(code: 0x92, first: 7, second: size)], returnAddress: returnAddress)
    case .framePointer:
      let saved = RegisterRule.location([
        DwarfOperation(code: 0x9c), DwarfOperation(code: 0x23, first: UInt64(bitPattern: -16)),
      ])
      return UnwindRow(
        frameAddress: [DwarfOperation(code: 0x92, first: 6, second: 16)], returnAddress: returnAddress,
        saved: [6: saved])
    case .bare, .blind: return nil
    case .outermost:
      return UnwindRow(frameAddress: [DwarfOperation(code: 0x92, first: 7, second: 8)], returnAddress: .undefined)
    }
  }

  func function(at address: UInt64) -> FunctionSymbol? {
    guard hasSymbols, let index = index(address), !unseen.contains(index) else { return nil }
    return FunctionSymbol(start: Self.start(index), name: Array("f\(index)".utf8))
  }

  func code(at address: UInt64, count: Int) -> [UInt8]? {
    guard let first = index(address), let last = index(address + UInt64(count) - 1),
      unseen.isDisjoint(with: first...last)
    else { return nil }
    return (0..<UInt64(count)).map { byte(at: address + $0) }
  }

  /// nop, but for a prologue that keeps rbp, and a call of the next function before `callEnd`.
  private func byte(at address: UInt64) -> UInt8 {
    guard let index = index(address) else { return 0x90 }
    let offset = Int(address - Self.start(index))
    let prologue = prologue(of: rules[index])
    if offset < prologue.count { return prologue[offset] }
    guard index + 1 < rules.count else { return 0x90 }
    let distance = UInt32(Self.length - Self.callEnd)
    let call: [UInt8] = callsIndirectly ? [0x90, 0x90, 0x90, 0xff, 0xd0] : [0xe8] + Self.bytes(distance)
    let begin = Int(Self.callEnd) - call.count
    return call.indices.contains(offset - begin) ? call[offset - begin] : 0x90
  }

  private func prologue(of rule: Rule) -> [UInt8] {
    switch rule {
    case .framePointer(let size) where hasPrologues:
      // push rbp; mov rbp, rsp; sub rsp, size
      [0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec] + Self.bytes(UInt32(size - 16))
    case .framePointer, .bare: [0x55, 0x48, 0x89, 0xe5]
    default: []
    }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }
}

extension ScriptedProgram {
  /// The thread stands in the innermost function.
  ///
  /// - Returns: What is captured of it, and the frames that there are, innermost first.
  ///
  /// - Parameter outerFramePointer: What the outermost function has in rbp.
  func capture(
    outerFramePointer: UInt64 = 0, filler: (UInt64) -> UInt64 = { _ in 0 }
  ) -> (capture: ThreadCapture, addresses: [UInt64]) {
    let top: UInt64 = 0x7fff_0010_0000
    var words: [UInt64: UInt64] = [:]
    var framePointer = outerFramePointer
    // The stack pointer in the function that is looked at, from the outermost in.
    var stackPointer = top - 0x100
    for index in rules.indices.dropFirst() {
      stackPointer -= 8
      words[stackPointer] = Self.returnAddress(index - 1)
      switch rules[index] {
      case .fixed(let size), .blind(let size): stackPointer -= size - 8
      case .framePointer(let size), .bare(let size):
        words[stackPointer - 8] = framePointer
        framePointer = stackPointer - 8
        stackPointer -= size - 8
      case .outermost: break
      }
    }
    var bytes: [UInt8] = []
    for address in stride(from: stackPointer, to: top, by: 8) {
      withUnsafeBytes(of: (words[address] ?? filler(address)).littleEndian) { bytes += $0 }
    }
    let last = rules.count - 1
    let addresses = [Self.start(last) + 0x90] + (0..<last).reversed().map(Self.returnAddress)
    let text = """
      400000-\(String(Self.start(rules.count) + 0xfff & ~0xfff, radix: 16)) r-xp 00000000 08:01 1 /bin/scripted
      7fff00000000-7fff00100000 rw-p 00000000 00:00 0 [stack]

      """
    let mappings = MappingTable(Array(text.utf8), volumes: [])
    let registers = ThreadRegisters(call: 0, stackPointer: stackPointer, programCounter: addresses[0])
    return (
      ThreadCapture(
        registers: registers, mappings: mappings ?? MappingTable.empty,
        copy: StackCopy(start: stackPointer, bytes: bytes)), addresses
    )
  }
}

extension MappingTable {
  /// For texts of tests, which have their form.
  static var empty: MappingTable { MappingTable([], volumes: [])! }
}
