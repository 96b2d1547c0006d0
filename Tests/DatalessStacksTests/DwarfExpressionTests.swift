import TestSupport
import Testing

@testable import DatalessStacks

/// Expressions of unwind tables, as compilers write them and as nobody should.
@Suite struct DwarfExpressionTests {
  private static func operation(_ code: UInt8, _ first: Int64 = 0, _ second: Int64 = 0, at offset: UInt64 = 0)
    -> DwarfOperation
  {
    DwarfOperation(
      code: code, first: UInt64(bitPattern: first), second: UInt64(bitPattern: second), offset: offset)
  }

  private static func evaluate(
    _ operations: [DwarfOperation], _ registers: RegisterFile = RegisterFile(stackPointer: 0x1000),
    frameAddress: UInt64? = nil
  ) throws(DwarfExpression.Failure) -> DwarfExpression.Value {
    try DwarfExpression(registers: registers, frameAddress: frameAddress) { $0 == 0x1008 ? 0x42 : nil }
      .evaluate(operations)
  }

  @Test func theRuleOfAnEntryOfThePLT() throws {
    // rsp + 8 + ((rip & 15) >= 11) << 3, as every linker writes it.
    let rule = [
      Self.operation(0x77, 8), Self.operation(0x80), Self.operation(0x3f), Self.operation(0x1a),
      Self.operation(0x3b), Self.operation(0x2a), Self.operation(0x33), Self.operation(0x24), Self.operation(0x22),
    ]
    var registers = RegisterFile(stackPointer: 0x1000)
    registers[16] = 0x5006
    #expect(try Self.evaluate(rule, registers) == .address(0x1008))
    registers[16] = 0x500b
    #expect(try Self.evaluate(rule, registers) == .address(0x1010))
    registers[16] = nil
    #expect(throws: DwarfExpression.Failure.unknownRegister) { try Self.evaluate(rule, registers) }
  }

  @Test func placesAndValues() throws {
    #expect(
      try Self.evaluate([Self.operation(0x9c), Self.operation(0x23, -8)], frameAddress: 0x1010) == .address(0x1008))
    #expect(try Self.evaluate([Self.operation(0x92, 7, 16)]) == .address(0x1010))
    #expect(try Self.evaluate([Self.operation(0x57)]) == .value(0x1000))
    #expect(try Self.evaluate([Self.operation(0x77, 8), Self.operation(0x06), Self.operation(0x9f)]) == .value(0x42))
    #expect(throws: DwarfExpression.Failure.unreadable) {
      try Self.evaluate([Self.operation(0x77), Self.operation(0x06)])
    }
    #expect(throws: DwarfExpression.Failure.malformed) { try Self.evaluate([Self.operation(0x9c)]) }
    #expect(throws: DwarfExpression.Failure.malformed) { try Self.evaluate([]) }
  }

  @Test func branches() throws {
    // lit1, bra +1 (over the lit2), lit2, lit3.
    let rule = [
      Self.operation(0x34, at: 0), Self.operation(0x31, at: 1), Self.operation(0x28, 1, at: 2),
      Self.operation(0x32, at: 5), Self.operation(0x96, at: 6),
    ]
    #expect(try Self.evaluate(rule) == .address(4))
    #expect(throws: DwarfExpression.Failure.malformed, "a loop") {
      try Self.evaluate([Self.operation(0x31, at: 0), Self.operation(0x2f, -4, at: 1)])
    }
    #expect(throws: DwarfExpression.Failure.malformed, "into an operation") {
      try Self.evaluate([Self.operation(0x2f, 7, at: 0), Self.operation(0x31, at: 3)])
    }
  }

  @Test(arguments: TestSeed.seeds) func anyOperationsEnd(seed: UInt64) throws {
    try Fuzz.run("stacks: expressions", seed: seed, cases: 20_000) { random, _ in
      var registers = RegisterFile(stackPointer: random.next(), framePointer: random.oneIn(2) ? random.next() : nil)
      registers[16] = random.next()
      let operations = (0..<random.below(40)).map { index in
        let numbers: [UInt64] = [0, 1, 8, .max, .max - 7, 1 << 63, random.next()]
        return DwarfOperation(
          code: random.oneIn(2) ? random.byte() : UInt8(0x30 + random.below(0x70)),
          first: random.element(of: numbers), second: random.element(of: numbers), offset: UInt64(index * 3))
      }
      let frameAddress: UInt64? = random.oneIn(2) ? random.next() : nil
      let word: UInt64? = random.oneIn(3) ? nil : random.next()
      _ = try? DwarfExpression(registers: registers, frameAddress: frameAddress) { _ in word }.evaluate(operations)
    }
  }
}
