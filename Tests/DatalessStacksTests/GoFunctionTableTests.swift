import TestSupport
import Testing

@testable import DatalessStacks

/// A .gopclntab made here, of two functions; and what is left of it after it was changed.
@Suite struct GoFunctionTableTests {
  static let text: UInt64 = 0x40_1000

  static func number(_ value: UInt32) -> [UInt8] {
    var (value, bytes): (UInt32, [UInt8]) = (value, [])
    while value >= 0x80 {
      bytes.append(UInt8(value & 0x7f | 0x80))
      value >>= 7
    }
    return bytes + [UInt8(value)]
  }

  /// A table of values: each with the count of bytes for which it holds.
  static func values(_ pairs: [(value: Int32, length: UInt32)]) -> [UInt8] {
    var previous: Int32 = -1
    return pairs.reduce(into: []) { bytes, pair in
      let change = pair.value - previous
      bytes += number(change < 0 ? UInt32(-change) * 2 - 1 : UInt32(change) * 2) + number(pair.length)
      previous = pair.value
    } + [0]
  }

  static func words<Word: FixedWidthInteger>(_ words: [Word]) -> [UInt8] {
    words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
  }

  /// runtime.goexit of 0x40 bytes, main.load of 0x100.
  static func section(magic: UInt32 = 0xffff_fff0) -> [UInt8] {
    let names = Array("\0runtime.goexit\0main.load\0".utf8)
    let units: [UInt8] = words([0, 16] as [UInt32])
    let files = Array("runtime/asm.s\0\0\0/src/main.go\0".utf8)
    var table: [UInt8] = [0]
    let sizes = [table.count]
    table += values([(0, 0x40)])
    let loadSizes = table.count
    table += values([(0, 4), (0x58, 0xf8), (0, 4)])
    let exitFile = table.count
    table += values([(0, 0x40)])
    let loadFile = table.count
    table += values([(1, 0x100)])
    let exitLine = table.count
    table += values([(1571, 0x40)])
    let loadLine = table.count
    table += values([(10, 0x20), (12, 0x20), (11, 0xc0)])
    // Three starts and two places, the last start without one; then the records.
    let records = UInt32(2 * 8 + 4)
    func record(_ entry: UInt32, _ name: UInt32, _ offsets: [Int]) -> [UInt8] {
      words([entry, name, 0, 0] + offsets.map { UInt32($0) } + [0, 0])
    }
    let functions =
      words([0, records, 0x40, records + 36, 0x140] as [UInt32])
      + record(0, 1, [sizes[0], exitFile, exitLine]) + record(0x40, 16, [loadSizes, loadFile, loadLine])
    let nameStart = UInt64(72)
    let unitStart = nameStart + UInt64(names.count)
    let fileStart = unitStart + UInt64(units.count)
    let valueStart = fileStart + UInt64(files.count)
    let functionStart = valueStart + UInt64(table.count)
    return words([magic]) + [0, 0, 1, 8]
      + words([2, 2, text, nameStart, unitStart, fileStart, valueStart, functionStart] as [UInt64])
      + names + units + files + table + functions
  }

  @Test(arguments: [0xffff_fff0, 0xffff_fff1] as [UInt32]) func placesAndFrameSizes(magic: UInt32) throws {
    let table = try #require(GoFunctionTable(Self.section(magic: magic), bias: 0x1000))
    let start = Self.text + 0x1000
    let load = try #require(table.place(at: start + 0x40 + 0x25))
    #expect(String(decoding: load.function, as: UTF8.self) == "main.load")
    #expect(load.file.map { String(decoding: $0, as: UTF8.self) } == "/src/main.go")
    #expect(load.line == 12)
    #expect(table.frameSize(at: start + 0x40) == 0)
    #expect(table.frameSize(at: start + 0x44) == 0x58)
    #expect(table.frameSize(at: start + 0x13b) == 0x58)
    #expect(table.frameSize(at: start + 0x13c) == 0)
    #expect(table.place(at: start)?.line == 1571)
    #expect(table.place(at: start - 1) == nil)
    #expect(table.place(at: start + 0x140) == nil)
    #expect(table.place(at: 0) == nil)
    #expect(table.place(at: .max) == nil)
  }

  @Test func aGoroutineIsWalkedByFrameSizesAlone() throws {
    let table = try #require(GoFunctionTable(Self.section(), bias: 0))
    let stackPointer: UInt64 = 0xc000_0000
    var bytes = [UInt8](repeating: 0, count: 0x100)
    bytes.replaceSubrange(0x58..<0x60, with: Self.words([Self.text + 1]))
    let text = "401000-402000 r-xp 00000000 08:01 1 /bin/go\nc0000000-c0001000 rw-p 00000000 00:00 0\n"
    let capture = ThreadCapture(
      registers: ThreadRegisters(call: 0, stackPointer: stackPointer, programCounter: Self.text + 0x65),
      mappings: try #require(MappingTable(Array(text.utf8), volumes: [])),
      copy: StackCopy(start: stackPointer, bytes: bytes))
    let stack = try #require(GoUnwinder(capture, table: table).unwind())
    #expect(stack.frames.map(\.address) == [Self.text + 0x65, Self.text + 1])
    #expect(stack.isComplete)
    let elsewhere = ThreadCapture(
      registers: ThreadRegisters(call: 0, stackPointer: stackPointer, programCounter: 0x7000),
      mappings: capture.mappings,
      copy: capture.copy)
    #expect(GoUnwinder(elsewhere, table: table).unwind() == nil)
  }

  @Test func anotherVersionIsNotRead() {
    #expect(GoFunctionTable(Self.section(magic: 0xffff_fffa), bias: 0) == nil)
    #expect(GoFunctionTable([], bias: 0) == nil)
    for count in 0..<72 { #expect(GoFunctionTable(Array(Self.section().prefix(count)), bias: 0) == nil) }
  }

  @Test(arguments: TestSeed.seeds) func anyBytesAreReadWithinBounds(seed: UInt64) throws {
    let section = Self.section()
    try Fuzz.run("stacks: pclntab", seed: seed, cases: 5_000) { random, _ in
      let bytes = ByteMutation.mutated(section, &random)
      guard let table = GoFunctionTable(bytes, bias: random.oneIn(2) ? 0 : random.next()) else { return }
      for _ in 0..<8 {
        let address = random.oneIn(4) ? random.next() : Self.text + UInt64(random.below(0x200))
        _ = table.place(at: address)
        _ = table.frameSize(at: address)
      }
    }
  }
}
