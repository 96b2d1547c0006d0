import Glibc
import TestSupport
import Testing

@testable import DatalessStacks

@Suite struct PerfMapTests {
  private static func names(_ text: String, _ addresses: Set<UInt64>) -> [UInt64: String] {
    PerfMap.names(of: addresses, in: Array(text.utf8)).mapValues { String(decoding: $0, as: UTF8.self) }
  }

  @Test func theLaterLineCounts() {
    let text = "1000 100 JS:~load a.js:1:1\n2000 10 b\n1080 10 again\n"
    #expect(
      Self.names(text, [0xfff, 0x1000, 0x1080, 0x108f, 0x1090, 0x10ff, 0x1100, 0x200f])
        == [
          0x1000: "JS:~load a.js:1:1", 0x1080: "again", 0x108f: "again", 0x1090: "JS:~load a.js:1:1",
          0x10ff: "JS:~load a.js:1:1", 0x200f: "b",
        ])
  }

  @Test func whatIsNoLineIsSkipped() {
    let text = "\n \n1000\n1000 10\n1000 10 \nxyz 10 a\n1000 g a\nffffffffffffffff ffffffffffffffff top\n1000 10 cut"
    #expect(Self.names(text, [0x1000, .max]) == [.max: "top"])
    #expect(Self.names("", [1]).isEmpty)
    #expect(Self.names("0 1 a\n", []).isEmpty)
  }

  /// As jcmd Compiler.perfmap of JDK 17 writes them.
  @Test func numbersMayHaveAPrefix() {
    let java = "0x00007fd2a0e4f380 0x00000000000002c0 int T.load(java.lang.String)\n"
    let text = java + "0X10 8 b\n20 0X8 c\n0x 8 d\n0x0x30 8 e\n"
    #expect(
      Self.names(text, [0x7fd2_a0e4_f380, 0x7fd2_a0e4_f63f, 0x7fd2_a0e4_f640, 0x10, 0x27, 0, 0x30])
        == [
          0x7fd2_a0e4_f380: "int T.load(java.lang.String)", 0x7fd2_a0e4_f63f: "int T.load(java.lang.String)",
          0x10: "b", 0x27: "c",
        ])
  }

  /// A page that is awaited by the first instruction: the byte before is another function's.
  @Test func whereTheThreadStandsMayBeWhereItsFunctionBegins() throws {
    let file = try #require(tmpfile())
    defer { fclose(file) }
    fputs("1000 100 before\n1100 100 load\n", file)
    fflush(file)
    let files = MappedFiles(
      .empty, library: nil, cache: FileCache(), open: { _ in nil }, findDebug: { _, _, _ in .missing })
    let naming = FrameNaming(files: files, mappings: .empty, demangler: Demangler())
    let stack = NamedStack(
      frames: [0x1100, 0x1200].map { NamedFrame(module: [], offset: $0, certainty: .tables) }, end: .noTables)
    func names(exact: Set<UInt64>) -> [String] {
      naming.withPerfMap(stack, exact: exact, FileBytes(descriptor: fileno(file))).frames
        .map { String(decoding: $0.symbol, as: UTF8.self) }
    }
    #expect(names(exact: [0x1100]) == ["load", "load"])
    #expect(names(exact: []) == ["before", "load"])
  }

  @Test func aLongNameIsCut() {
    let name = Self.names("1 1 " + String(repeating: "x", count: 1 << 20) + "\n", [1])[1]
    #expect(name?.utf8.count == PerfMap.nameMax)
  }

  @Test(arguments: TestSeed.seeds) func namesAreThoseOfTheLastLineThatHoldsAnAddress(seed: UInt64) throws {
    try Fuzz.run("stacks: perf map", seed: seed, cases: 300) { random, note in
      let lines = (0..<random.below(40)).map { _ in (start: UInt64(random.below(200)), size: UInt64(random.below(50))) }
      let text = lines.enumerated().map {
        "\(String($1.start, radix: 16)) \(String($1.size, radix: 16)) n\($0)\n"
      }.joined()
      let addresses = Set((0..<20).map { _ in UInt64(random.below(260)) })
      let found = Self.names(text, addresses)
      for address in addresses {
        let last = lines.lastIndex { address >= $0.start && address - $0.start < $0.size }
        #expect(found[address] == last.map { "n\($0)" }, "\(note)")
      }
      _ = PerfMap.names(of: addresses, in: ByteMutation.mutated(Array(text.utf8), &random))
    }
  }
}
