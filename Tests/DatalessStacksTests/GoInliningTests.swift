import Glibc
import TestSupport
import Testing

@testable import DatalessStacks

/// Functions that Go has put into others: a line and the function to which it belongs.
@Suite struct GoInliningTests {
  private static let text: UInt64 = 0x40_1000
  private static let magics: [UInt32] = [0xffff_fff0, 0xffff_fff1]

  /// A table of one function, main.main of 0x100 bytes, with main.loadThumb in it from 0x40 to 0x80, and os.ReadFile in
  /// that from 0x60 on; and the data of functions, with their tree at 8.
  private static func program(magic: UInt32) -> (section: [UInt8], data: [UInt8]) {
    let isNew = magic == 0xffff_fff1
    let names = Array("\0main.main\0main.loadThumb\0os.ReadFile\0".utf8)
    let files = Array("/src/g.go\0/go/os/file.go\0".utf8)
    let units = GoFunctionTableTests.words([0, 10] as [UInt32])
    let tables = [
      GoFunctionTableTests.values([(0x58, 0x100)]), GoFunctionTableTests.values([(0, 0x60), (1, 0x20), (0, 0x80)]),
      GoFunctionTableTests.values([(10, 0x40), (3, 0x20), (700, 0x20), (11, 0x80)]),
      GoFunctionTableTests.values([(-1, 0x40), (0, 0x20), (1, 0x20), (-1, 0x80)]),
    ]
    var (values, places): ([UInt8], [UInt32]) = ([0], [])
    for table in tables {
      places.append(UInt32(values.count))
      values += table
    }
    var record: [UInt32] = [0, 1, 0, 0, places[0], places[1], places[2], 3, 0] + (isNew ? [5] : [])
    // The last byte of this word is the count of its data.
    record += [4 << 24, 0, 0, places[3], .max, .max, .max, 8]
    let functions = GoFunctionTableTests.words([0, 12, 0x100] as [UInt32]) + GoFunctionTableTests.words(record)
    var starts: [UInt64] = [72]
    for part in [names, units, files, values] { starts.append((starts.last ?? 0) + UInt64(part.count)) }
    let section =
      GoFunctionTableTests.words([magic]) + [0, 0, 1, 8]
      + GoFunctionTableTests.words([1, 2, text] + starts) + names + units + files + values + functions
    // main.loadThumb is called on the line of 0x20, os.ReadFile on that of 0x50.
    let tree: [UInt32] =
      isNew
      ? [0, 11, 0x20, 3, 0, 26, 0x50, 690] : [0xffff, 0, 10, 11, 0x20, 0, 0, 3, 26, 0x50]
    return (section, [UInt8](repeating: 0xee, count: 8) + GoFunctionTableTests.words(tree))
  }

  private static func calls(_ table: GoFunctionTable, at offset: UInt64, _ data: [UInt8]) -> [String]? {
    table.inlined(at: text + offset) { data.bytes(at: $0, count: $1) }?.map {
      "\(String(decoding: $0.function, as: UTF8.self)) \(String(decoding: $0.file, as: UTF8.self)):\($0.line)"
    }
  }

  @Test(arguments: magics) func theFunctionOfEachLineAndWhereItIsCalled(magic: UInt32) throws {
    let (section, data) = Self.program(magic: magic)
    let table = try #require(GoFunctionTable(section, bias: 0))
    #expect(table.place(at: Self.text + 0x61)?.line == 700)
    #expect(Self.calls(table, at: 0x3f, data) == [])
    #expect(Self.calls(table, at: 0x40, data) == ["main.loadThumb /src/g.go:10"])
    #expect(
      Self.calls(table, at: 0x7f, data) == ["os.ReadFile /src/g.go:3", "main.loadThumb /src/g.go:10"])
    #expect(Self.calls(table, at: 0x80, data) == [])
    #expect(Self.calls(table, at: 0x100, data) == [])
  }

  @Test(arguments: magics) func whatCannotBeReadIsNotTakenForNone(magic: UInt32) throws {
    let (section, data) = Self.program(magic: magic)
    let table = try #require(GoFunctionTable(section, bias: 0))
    #expect(table.inlined(at: Self.text + 0x40) { _, _ in nil } == nil)
    // Without a tree the code of the function itself is told all the same.
    #expect(table.inlined(at: Self.text) { _, _ in nil } == [])
    // A name that begins in another one; a call outside of the function; one that leads to itself.
    let name = magic == 0xffff_fff1 ? 12 : 20
    for (place, word) in [(name, 12), (name, 900), (name + 4, 0x100), (name + 4, 0x7fff_ffff), (name + 4, 0x41)] {
      var data = data
      data.replaceSubrange(place..<place + 4, with: GoFunctionTableTests.words([UInt32(word)]))
      #expect(Self.calls(table, at: 0x40, data) == nil, "\(place): \(word)")
    }
  }

  @Test(arguments: TestSeed.seeds) func anyTreeEnds(seed: UInt64) throws {
    try Fuzz.run("stacks: inlined functions of Go", seed: seed, cases: 3000) { random, _ in
      let (section, data) = Self.program(magic: random.element(of: Self.magics))
      let table = GoFunctionTable(random.oneIn(2) ? section : ByteMutation.mutated(section, &random), bias: 0)
      let bytes = ByteMutation.mutated(data, &random)
      for _ in 0..<8 {
        let calls = table?.inlined(at: Self.text + UInt64(random.below(0x120))) { bytes.bytes(at: $0, count: $1) }
        #expect((calls ?? []).count <= 64)
      }
    }
  }

  @Test(.enabled(if: BlockedProgram.isInstalled("go")), arguments: [[], ["-ldflags=-s -w"]])
  func aProgramOfGo(
    options: [String]
  ) throws {
    let program = try BlockedProgram(
      go: """
        package main
        import ("os"; "syscall")
        func loadThumb(file int) int { n, _ := syscall.Read(file, make([]byte, 1))
          return n }
        func main() {
          for range os.Args {
            loadThumb(0)
          }
        }
        """, options: options)
    guard case .stack(let stack) = try ServedStacks().stack(of: program) else {
      Issue.record("no stack")
      return
    }
    let own = stack.frames.filter { $0.symbol.starts(with: "main.".utf8) }
    let lines = own.map { "\(String(decoding: $0.symbol, as: UTF8.self)):\($0.line)" }
    #expect(lines == ["main.loadThumb:3", "main.main:7"])
    #expect(own.map(\.isInlined) == [true, false])
  }
}
