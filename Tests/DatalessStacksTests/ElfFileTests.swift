import TestSupport
import Testing

@testable import DatalessStacks

/// An ELF file made here, with the parts that are read; and what is left of it after it was changed.
@Suite struct ElfFileTests {
  @Test(
    arguments: [
      ("read@GLIBC_2.2.5", "read"), ("read@@GLIBC_2.2.5", "read"), ("read", "read"), ("@x", "@x"), ("", ""),
      ("_ZN1a1bEv@V1", "_ZN1a1bEv"),
    ])
  func versionsOfSymbolsAreNoPartOfTheirNames(symbol: String, name: String) {
    #expect(SymbolTable.withoutVersion(Array(symbol.utf8)[...]).elementsEqual(name.utf8))
  }

  struct Section {
    let name: String
    let type: UInt32
    let content: [UInt8]
    var link: UInt32 = 0
    var entrySize: UInt64 = 0
  }

  static func words<Word: FixedWidthInteger>(_ words: Word...) -> [UInt8] {
    words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { Array($0) } }
  }

  static func symbol(_ name: UInt32, _ info: UInt8, section: UInt16 = 1, _ address: UInt64, _ size: UInt64) -> [UInt8] {
    words(name) + [info, 0] + words(section) + words(address, size)
  }

  static func file(_ sections: [Section]) -> [UInt8] {
    var names: [UInt8] = [0]
    var body: [UInt8] = []
    var headers = [UInt8](repeating: 0, count: 64)
    let first = 64 + 56
    for section in sections + [Section(name: ".shstrtab", type: 3, content: [])] {
      let name = UInt32(names.count)
      names += Array(section.name.utf8) + [0]
      let content = section.name == ".shstrtab" ? names : section.content
      headers +=
        words(name, section.type) + words(0, 0, UInt64(first + body.count), UInt64(content.count))
        + words(section.link, 0) + words(0, section.entrySize)
      body += content
    }
    let segment =
      words(1 as UInt32, 5) + words(0 as UInt64, 0x40_0000, 0x40_0000, UInt64(first + body.count), 0x1_0000, 0x1000)
    let header =
      [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9) + words(3 as UInt16, 62) + words(1 as UInt32)
      + words(0 as UInt64, 64, UInt64(first + body.count)) + words(0 as UInt32)
      + words(64 as UInt16, 56, 1, 64, UInt16(sections.count + 2), UInt16(sections.count + 1))
    return header + segment + body + headers
  }

  static let identifier: [UInt8] = (1...20).map { $0 }

  static func sample() -> [UInt8] {
    let strings = Array("\0load\0_load\0outer\0_PyRuntime\0sizeless\0".utf8)
    let symbols =
      symbol(0, 0, 0, 0) + symbol(1, 0x12, 0x1000, 0x40) + symbol(6, 0x02, 0x1000, 0x40)
      + symbol(12, 0x02, 0x2000, 0x10) + symbol(18, 0x11, 0x9000, 8) + symbol(29, 0x12, 0x3000, 0)
    let note = words(4 as UInt32, 20, 3) + Array("GNU\0".utf8) + identifier
    let other = words(4 as UInt32, 2, 1) + Array("GNU\0".utf8) + [1, 2, 0, 0]
    return file([
      Section(name: ".note", type: 7, content: other + note),
      Section(name: ".symtab", type: 2, content: symbols, link: 3, entrySize: 24),
      Section(name: ".strtab", type: 3, content: strings),
      Section(
        name: ".gnu_debuglink", type: 1, content: Array("a.debug\0".utf8) + words(0xcafe_f00d as UInt32)),
    ])
  }

  @Test func buildIDSymbolsAndSections() throws {
    let elf = try #require(ElfFile(Self.sample()))
    let buildID = try #require(elf.buildID)
    #expect(buildID.bytes == Self.identifier)
    #expect(buildID.debugPath == ".build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug")
    let functions = try #require(elf.functions)
    #expect(functions.function(at: 0x1010)?.name == Array("load".utf8), "the global name of two")
    #expect(functions.function(at: 0x1040) == nil, "behind it")
    #expect(functions.function(at: 0x200f)?.address == 0x2000)
    #expect(functions.function(at: 0x3456)?.name == Array("sizeless".utf8))
    #expect(functions.function(at: 0xfff) == nil)
    #expect(elf.address(ofSymbol: "_PyRuntime") == 0x9000)
    #expect(elf.address(ofSymbol: "_PyRuntim") == nil)
    #expect(elf.address(ofFileOffset: 0x10) == 0x40_0010)
    #expect(elf.address(ofFileOffset: .max) == nil)
    let link = try #require(elf.section(named: ".gnu_debuglink").flatMap { DebugLink($0) })
    #expect(link == DebugLink(Array("a.debug\0".utf8) + Self.words(0xcafe_f00d as UInt32)))
    #expect(
      link.candidates(program: "/usr/bin/a") == [
        "/usr/bin/a.debug", "/usr/bin/.debug/a.debug", "/usr/lib/debug/usr/bin/a.debug",
      ])
    #expect(link.candidates(program: "/usr/bin/a.debug").count == 2, "not itself")
  }

  @Test(arguments: ["", ".", "..", "a/b", "../x", "/etc/shadow"]) func linksThatLeadElsewhere(name: String) {
    let bytes = Array(name.utf8) + [0]
    let padded = bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    #expect(DebugLink(padded + [1, 2, 3, 4]) == nil)
  }

  @Test func linksThatAreCut() {
    #expect(DebugLink(Array("abcdefgh".utf8)) == nil)
    #expect(DebugLink(Array("abc\0".utf8) + [1, 2, 3]) == nil)
    #expect(DebugLink(Array("abc\0".utf8) + [1, 2, 3, 4])?.checksum == 0x0403_0201)
    #expect(DebugLink([0xff, 0, 0, 0, 1, 2, 3, 4]) == nil, "not UTF-8")
  }

  @Test func checksum() {
    var checksum = Checksum()
    checksum.add(Array("12345".utf8))
    checksum.add(Array("6789".utf8))
    #expect(checksum.value == 0xcbf4_3926)
  }

  @Test func whatIsNoFileOfThisKind() {
    let sample = Self.sample()
    for count in [0, 1, 63, 64, 100, sample.count - 1] { #expect(ElfFile(Array(sample.prefix(count))) == nil) }
    for (place, value) in [(4, 1), (5, 2), (6, 0), (54, 57), (58, 63)] as [(Int, UInt8)] {
      var bytes = sample
      bytes[place] = value
      #expect(ElfFile(bytes) == nil, "\(place)")
    }
  }

  @Test(arguments: TestSeed.seeds) func anyBytesAreReadWithinBounds(seed: UInt64) throws {
    let sample = Self.sample()
    try Fuzz.run("stacks: ELF", seed: seed, cases: 5_000) { random, _ in
      var bytes = sample
      for _ in 0...random.below(6) where random.oneIn(2) {
        // A number of a header: absurd offsets and sizes.
        let place = random.oneIn(2) ? random.below(64) : sample.count - 1 - random.below(64 * 6)
        let values: [UInt8] = [0, 1, 0x7f, 0x80, 0xff, random.byte()]
        bytes[place] = random.element(of: values)
      }
      if random.oneIn(2) { bytes = ByteMutation.mutated(bytes, &random) }
      guard let elf = ElfFile(bytes) else { return }
      _ = elf.buildID
      _ = elf.address(ofSymbol: "_PyRuntime")
      _ = elf.address(ofFileOffset: random.next())
      _ = elf.section(named: ".gnu_debuglink").flatMap { DebugLink($0) }?.candidates(program: "/a")
      let functions = elf.functions
      for _ in 0..<4 { _ = functions?.function(at: random.oneIn(2) ? random.next() : UInt64(random.below(0x4000))) }
    }
  }
}
