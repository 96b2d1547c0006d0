/// What a Go program says of itself: `runtime.firstmoduledata`, which stripping leaves.
enum GoModule {
  // LIMIT: bytes of a section in which it is looked for.
  private static let searchedMax: UInt64 = 64 << 20
  private static let tableSections = [".gopclntab", ".data.rel.ro.gopclntab"]
  // Where it is, by the linker's version and kind of program.
  private static let dataSections = [".go.module", ".noptrdata", ".data", ".data.rel.ro"]
  /// Which of its words leads to the data of functions (`gofunc`), by the table's magic number.
  private static let dataWords: [UInt32: UInt64] = [0xffff_fff0: 38, 0xffff_fff1: 40]

  /// The table of functions of a program; nil for what is not Go.
  static func functionTable(_ elf: ElfFile<some ByteSource>) -> [UInt8]? {
    tableSections.lazy.compactMap { elf.section(named: $0) }.first
  }

  /// The address of what the program keeps about its functions beside the table.
  ///
  /// - Returns: nil where it is not found: some linkers leave such addresses to relocations.
  static func functionData(_ elf: ElfFile<some ByteSource>) -> UInt64? {
    guard let table = tableSections.lazy.compactMap({ elf.first(named: $0) }).first,
      let head = elf.source.bytes(at: table.offset, count: 72), let magic = head.word(UInt32.self, at: 0),
      let word = dataWords[magic], let names = head.word(UInt64.self, at: 32)
    else { return nil }
    for section in dataSections.lazy.compactMap({ elf.first(named: $0) }) where section.size <= searchedMax {
      guard let bytes = elf.content(section) else { continue }
      // It begins with the addresses of the table and of the names in it.
      for start in stride(from: 0, to: bytes.count - 15, by: 8) {
        guard bytes.word(UInt64.self, at: start) == table.address,
          bytes.word(UInt64.self, at: start + 8) == table.address &+ names
        else { continue }
        return bytes.word(UInt64.self, at: UInt64(start) + word * 8)
      }
    }
    return nil
  }
}
