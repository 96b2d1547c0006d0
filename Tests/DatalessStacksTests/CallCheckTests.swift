import TestSupport
import Testing

@testable import DatalessStacks

/// Which return addresses can be those of a call, and what the beginning of a function says of its frame.
@Suite struct CallCheckTests {
  /// Functions of 64 bytes from 0x401000 on, with code of their own; behind them a table of addresses.
  private struct Functions: UnwindSource {
    static let base: UInt64 = 0x40_1000
    static let table = base + 0x800
    var code: [[UInt8]]
    var signalFrame: UInt64?

    static func start(_ index: Int) -> UInt64 { base + UInt64(index) * 64 }

    func row(at address: UInt64) -> UnwindRow? {
      address == signalFrame
        ? UnwindRow(frameAddress: [], returnAddress: .undefined, isSignalFrame: true) : nil
    }

    func function(at address: UInt64) -> FunctionSymbol? {
      guard address >= Self.base, address < Self.start(code.count) else { return nil }
      return FunctionSymbol(start: Self.start(Int((address - Self.base) / 64)), name: [])
    }

    func code(at address: UInt64, count: Int) -> [UInt8]? {
      guard address >= 0x40_0000, address + UInt64(count) <= 0x40_2000 else { return nil }
      return (0..<UInt64(count)).map { offset in
        guard let start = function(at: address + offset)?.start else { return 0xff }
        let (index, place) = (Int((start - Self.base) / 64), Int(address + offset - start))
        return place < code[index].count ? code[index][place] : 0x90
      }
    }
  }

  private static func jump(_ opcode: [UInt8], from: UInt64, to target: UInt64) -> [UInt8] {
    let distance = Int32(truncatingIfNeeded: Int64(target) - Int64(from) - Int64(opcode.count) - 4)
    return opcode + withUnsafeBytes(of: distance.littleEndian) { Array($0) }
  }

  /// - Returns: What is said of a call of function 1 as the caller of function 2.
  private static func caller(_ middle: [UInt8], other: [UInt8] = [], calling index: Int = 1) -> CallCheck.Caller? {
    let start = Functions.start(0)
    let functions = Functions(
      code: [jump([0xe8], from: start, to: Functions.start(index)), middle, [0xc3], other])
    return check(functions).caller(at: start + 5, of: functions.function(at: Functions.start(2)))
  }

  private static func check(_ functions: Functions) -> CallCheck {
    let text = """
      400000-402000 r-xp 00000000 08:01 1 /bin/f
      500000-501000 r-xp 00000000 00:00 0
      600000-601000 r-xp 00000000 00:77 1 /volume/f

      """
    let mappings = MappingTable(Array(text.utf8), volumes: [DeviceNumber(major: 0, minor: 0x77)])
    return CallCheck(mappings: mappings ?? .empty, source: functions)
  }

  @Test func callsOfTheFunctionAndOfOthers() {
    #expect(Self.caller([0xc3], calling: 2) == .direct)
    #expect(Self.caller([0xc3]) == nil)
    #expect(Self.caller([0xff, 0xd0, 0xc3]) == nil)
  }

  @Test func aFunctionThatJumpsOnCanHaveBeenCalled() {
    let (middle, function, other) = (Functions.start(1), Functions.start(2), Functions.start(3))
    for opcode: [UInt8] in [[0xe9], [0x0f, 0x84]] {
      #expect(Self.caller(Self.jump(opcode, from: middle, to: function)) == .possible)
      // By way of a third one, and of itself.
      let onward = Self.jump(opcode, from: middle, to: other)
      #expect(Self.caller(onward, other: Self.jump(opcode, from: other, to: function)) == .possible)
      #expect(Self.caller(onward, other: Self.jump(opcode, from: other, to: middle)) == nil)
      // A table of addresses leads anywhere.
      #expect(Self.caller(Self.jump(opcode, from: middle, to: Functions.table)) == .possible)
    }
    #expect(Self.caller([0xeb, 62]) == .possible)
    #expect(Self.caller([0xeb, 60]) == nil)
    #expect(Self.caller([0xff, 0xe0]) == .possible)
    #expect(Self.caller([0xff, 0x25, 0, 0, 0, 0]) == .possible)
  }

  @Test func codeThatNobodyCanRead() {
    var functions = Functions(code: [[0xff, 0xd0]])
    var check = Self.check(functions)
    #expect(check.caller(at: 0x50_0010, of: nil) == .unseen)
    #expect(check.caller(at: 0x60_0010, of: nil) == .unseen)
    #expect(check.caller(at: 0x70_0010, of: nil) == nil)
    #expect(check.caller(at: Functions.base + 2, of: nil) == .possible)
    #expect(check.caller(at: Functions.base + 9, of: nil) == nil)
    // No call comes before where a handler of signals returns to.
    functions.signalFrame = Functions.base + 31
    check = Self.check(functions)
    #expect(check.caller(at: Functions.base + 32, of: nil) == .possible)
    for address in [0, 1, 7, UInt64.max] { #expect(check.caller(at: address, of: nil) == nil) }
  }

  @Test func howFarBelowRbpAFunctionHasRsp() {
    let keep: [UInt8] = [0x55, 0x48, 0x89, 0xe5]
    let call: [UInt8] = [0xe8, 0, 0, 0, 0]
    let cases: [(code: [UInt8], depth: UInt64?)] = [
      (keep + call, 0), ([0xf3, 0x0f, 0x1e, 0xfa] + keep + call, 0), ([0x48, 0x83, 0xec, 0x28] + call, nil),
      // push r15; push rbx; sub rsp, 0x28
      (keep + [0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x28] + call, 0x38),
      // mov edx, 1 between the two; sub rsp, 0x1770; lea rsi, [rbp - 0x1770]
      (
        [
          0x55, 0xba, 1, 0, 0, 0, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0x70, 0x17, 0, 0, 0x48, 0x8d, 0xb5, 0x90, 0xe8,
          0xff, 0xff,
        ] + call, 0x1770
      ),
      // add rsp, -128; push rax for a multiple of 16
      (keep + [0x48, 0x83, 0xc4, 0x80] + call, 128), (keep + [0x50] + call, 8),
      // The canary: mov rax, fs:[0x28]; mov [rbp - 8], rax
      (
        keep + [0x48, 0x83, 0xec, 0x20, 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0, 0x48, 0x89, 0x45, 0xf8] + call,
        0x20
      ),
      // Arguments: sub rsp, 8; push rdi. mov rdi, rax; push rdi. A stack that is aligned: and rsp, -32. Unknown: pxor.
      (keep + [0x48, 0x83, 0xec, 8, 0x57] + call, nil), (keep + [0x48, 0x89, 0xc7, 0x57] + call, nil),
      (keep + [0x48, 0x83, 0xe4, 0xe0] + call, nil), (keep + [0x66, 0x0f, 0xef, 0xc0] + call, nil), ([], nil),
    ]
    for (code, depth) in cases { #expect(FunctionPrologue(code).depth == depth, "\(code)") }
  }

  @Test(arguments: TestSeed.seeds) func anyBytesCanBegin(seed: UInt64) throws {
    try Fuzz.run("stacks: prologues", seed: seed, cases: 2000) { random, _ in
      let keep: [UInt8] = [0x55, 0x48, 0x89, 0xe5, 0x48]
      let bytes = (0..<random.below(12)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      _ = FunctionPrologue((random.oneIn(2) ? keep : []) + bytes)
    }
  }
}
