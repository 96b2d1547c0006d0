import TestSupport
import Testing

@testable import DatalessStacks

/// What the kernel writes of a blocked thread, and what only looks like it.
@Suite struct CaptureTextTests {
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func registersOfACallAndOfAFault() {
    let call = ThreadRegisters(Self.bytes("0 0x3 0x7ffd1 0x1 0x0 0x0 0x0 0x7ffd1c3a2e88 0x7f0a1b2c3d4e\n"))
    #expect(
      call == ThreadRegisters(call: 0, stackPointer: 0x7ffd_1c3a_2e88, programCounter: 0x7f0a_1b2c_3d4e))
    let fault = ThreadRegisters(Self.bytes("-1 0x7ffd1c3a2e88 0x55d0c0ffee00\n"))
    #expect(fault == ThreadRegisters(call: nil, stackPointer: 0x7ffd_1c3a_2e88, programCounter: 0x55d0_c0ff_ee00))
  }

  @Test(arguments: [
    "running\n", "", "\n", "0 0x3\n", "-1 0x1\n", "-1 0x1 0x2 0x3\n", "-2 0x1 0x2\n", "5 0x1 0x2\n",
    "0 0x3 0x7ffd1 0x1 0x0 0x0 0x0 7ffd1c3a2e88 0x7f0a\n", "0 0x3 0x7ffd1 0x1 0x0 0x0 0x0 0x 0x7f0a\n",
    "0 0x3 0x7ffd1 0x1 0x0 0x0 0x0 0x11112222333344445 0x7f0a\n", "-1 0x7 0x7g\n",
    "99999999999999999999 0x3 0x7 0x1 0x0 0x0 0x0 0x7 0x7\n",
  ])
  func whatHasNotTheFormHasNoRegisters(text: String) {
    #expect(ThreadRegisters(Self.bytes(text)) == nil)
  }

  @Test func theRunCountIsTheThirdNumber() {
    #expect(RunCount(Self.bytes("123 456 789\n"))?.value == 789)
    for text in ["", "1 2\n", "1 2 x\n", "1 2 3 4\n", "1 2 -3\n"] { #expect(RunCount(Self.bytes(text)) == nil) }
  }

  @Test func mappings() throws {
    let text = """
      55d0c0ffe000-55d0c0fff000 r--p 00000000 08:01 1234                       /usr/bin/a b
      55d0c0fff000-55d0c1000000 r-xp 00001000 08:01 1234                       /usr/bin/a b
      7f0000000000-7f0000001000 rw-p 00000000 00:00 0
      7f0000002000-7f0000004000 r--s 00000000 00:3f 77                         /mnt/volume/x
      7ffd1c380000-7ffd1c3a1000 rw-p 00000000 00:00 0                          [stack]

      """
    let volume = DeviceNumber(major: 0, minor: 0x3f)
    let table = try #require(MappingTable(Self.bytes(text), volumes: [volume]))
    #expect(table.mappings.count == 4)
    #expect(!table.isCut)
    let code = try #require(table.mapping(at: 0x55d0_c0ff_f010))
    #expect(code.path == Self.bytes("/usr/bin/a b"))
    #expect(code.isExecutable)
    #expect(code.fileOffset(of: 0x55d0_c0ff_f010) == 0x1010)
    #expect(code.fileOffset(of: 0x55d0_c100_0000) == nil)
    #expect(table.mapping(at: 0x55d0_c100_0000) == nil)
    // What lies on a volume cannot be found, and so neither read nor opened.
    #expect(table.mapping(at: 0x7f00_0000_2000) == nil)
    #expect(!table.isReadable(0x7f00_0000_2000, count: 8))
    #expect(table.isOnVolume(0x7f00_0000_3fff))
    #expect(!table.isOnVolume(0x7f00_0000_4000))
    #expect(table.isReadable(0x7ffd_1c3a_0ff8, count: 8))
    #expect(!table.isReadable(0x7ffd_1c3a_0ff9, count: 8))
    #expect(!table.isReadable(.max, count: .max))
    #expect(!table.isReadable(0x7ffd_1c3a_0000, count: -1))
  }

  /// Alone of what may stand in a name, line ends are escaped by the kernel.
  @Test(arguments: [
    (#"/tmp/bin/t\012n"#, "/tmp/bin/t\nn"), (#"/\012\012 (deleted)"#, "/\n\n (deleted)"), (#"/a\01"#, #"/a\01"#),
    (#"/a\\012"#, "/a\\\n"), (#"/a\134012"#, #"/a\134012"#), (#"/a\"#, #"/a\"#),
  ])
  func aLineEndInThePathOfAMappingIsOne(written: String, path: String) throws {
    let table = try #require(
      MappingTable(Self.bytes("1000-2000 r-xp 00000000 08:01 1    \(written)\n"), volumes: []))
    #expect(table.mappings.map(\.path) == [Self.bytes(path)])
  }

  @Test(arguments: [
    "2000-1000 r--p 00000000 08:01 1 /a\n", "1000-1000 r--p 00000000 08:01 1 /a\n",
    "1000-3000 r--p 00000000 08:01 1 /a\n2000-4000 r--p 00000000 08:01 1 /a\n",
    "1000-2000 r--p 00000000 0801 1 /a\n", "1000-2000 r-- 00000000 08:01 1 /a\n", "1000-2000\n", "\n",
    "1000-2000 r--p 00000000 08:01 x /a\n", "1000-11112222333344445 r--p 0 08:01 1 /a\n",
    "1000-2000 r--p 00000000 111111111:01 1 /a\n",
  ])
  func halfATableIsNone(text: String) {
    #expect(MappingTable(Self.bytes(text), volumes: []) == nil)
  }

  @Test func anUnfinishedLineIsLeftOut() throws {
    let table = try #require(
      MappingTable(Self.bytes("1000-2000 r--p 0 08:01 1 /a\n2000-3000 r--p 0 08:0"), volumes: []))
    #expect(table.mappings.count == 1)
    #expect(table.isCut)
  }

  @Test(arguments: TestSeed.seeds) func anyTextHasATableInOrderOrNone(seed: UInt64) throws {
    let samples = [
      "1000-2000 r-xp 00000000 08:01 12 /usr/bin/true\n3000-9000 rw-p 00000000 00:00 0 [heap]\n",
      "7f00-7fff r--s 00010000 00:3f 9 /mnt/x y (deleted)\nffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [v]\n",
    ].map { Array($0.utf8) }
    try Fuzz.run("stacks: maps", seed: seed, cases: 5_000) { random, note in
      let text = ByteMutation.mutated(random.element(of: samples), &random, others: samples)
      guard let table = MappingTable(text, volumes: [DeviceNumber(major: 0, minor: 0x3f)]) else { return }
      for (mapping, next) in zip(table.mappings, table.mappings.dropFirst()) {
        #expect(mapping.end <= next.start, "\(note)")
      }
      for mapping in table.mappings {
        #expect(table.mapping(at: mapping.start) == mapping, "\(note)")
        #expect(table.mapping(at: mapping.end - 1) == mapping, "\(note)")
        #expect(!table.isReadable(mapping.end - 1, count: 2), "\(note)")
      }
      _ = ThreadRegisters(text)
      _ = RunCount(text)
    }
  }

  @Test func aCopyHasNothingOutside() {
    let copy = StackCopy(start: .max - 15, bytes: Array(repeating: 7, count: 16))
    #expect(copy.word(at: .max - 15) == 0x0707_0707_0707_0707)
    #expect(copy.word(at: .max - 7) == 0x0707_0707_0707_0707)
    for address in [0, .max - 16, .max - 6, .max] as [UInt64] { #expect(copy.word(at: address) == nil) }
  }

  @Test func onlyAMapOfAPageHoldsTheMemoryLock() {
    #expect(MappingWait.isPageWait(Self.bytes("__folio_lock")))
    #expect(!MappingWait.isPageWait(Self.bytes("__folio_lock_x")))
    #expect(!MappingWait.isPageWait(Self.bytes("0")))
  }
}
