/// The parts of a program or library that are read without libdw: build id, symbols, links to debug files.
///
/// 64-bit little-endian only. Nothing in the file is believed: each offset and count is checked against the file, and
/// against a limit.
public struct ElfFile<Source: ByteSource> {
  // LIMIT: sections and segments of one file. Files of -ffunction-sections have thousands, linked ones some fifty.
  static var sectionsMax: UInt64 { 4096 }
  static var segmentsMax: UInt64 { 512 }
  // LIMIT: bytes of a name.
  static var nameMax: Int { 4096 }

  struct Section: Equatable {
    let name: UInt32
    let type: UInt32
    let address: UInt64
    let offset: UInt64
    let size: UInt64
    let link: UInt32
    let entrySize: UInt64
  }

  struct Segment: Equatable {
    let type: UInt32
    let isExecutable: Bool
    let offset: UInt64
    let address: UInt64
    let fileSize: UInt64
  }

  enum SectionType {
    static var symbols: UInt32 { 2 }
    static var note: UInt32 { 7 }
    static var noBits: UInt32 { 8 }
    static var dynamicSymbols: UInt32 { 11 }
  }

  let source: Source
  let segments: [Segment]
  let sections: [Section]
  private let sectionNames: [UInt8]

  /// - Returns: nil for what is no ELF file of this machine's kind, or is cut.
  public init?(_ source: Source) {
    guard let header = source.bytes(at: 0, count: 64),
      // Magic, 64 bits, little-endian, version 1.
      header.starts(with: [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]),
      let programOffset = header.word(UInt64.self, at: 32), let sectionOffset = header.word(UInt64.self, at: 40),
      let segmentSize = header.word(UInt16.self, at: 54), let segmentCount = header.word(UInt16.self, at: 56),
      let sectionSize = header.word(UInt16.self, at: 58), let sectionCount = header.word(UInt16.self, at: 60),
      let nameIndex = header.word(UInt16.self, at: 62)
    else { return nil }
    self.source = source
    guard UInt64(segmentCount) <= Self.segmentsMax, UInt64(sectionCount) <= Self.sectionsMax,
      segmentCount == 0 || segmentSize == 56, sectionCount == 0 || sectionSize == 64,
      let segmentBytes = Self.table(source, at: programOffset, count: UInt64(segmentCount) * 56),
      let sectionBytes = Self.table(source, at: sectionOffset, count: UInt64(sectionCount) * 64)
    else { return nil }
    segments = (0..<Int(segmentCount)).compactMap { Self.segment(segmentBytes, $0 * 56) }
    let sections = (0..<Int(sectionCount)).compactMap { Self.section(sectionBytes, $0 * 64) }
    self.sections = sections
    sectionNames =
      sections.indices.contains(Int(nameIndex)) ? Self.content(source, sections[Int(nameIndex)]) ?? [] : []
  }

  private static func table(_ source: Source, at offset: UInt64, count: UInt64) -> [UInt8]? {
    count == 0 ? [] : source.bytes(at: offset, count: count)
  }

  private static func segment(_ bytes: [UInt8], _ start: Int) -> Segment? {
    guard let type = bytes.word(UInt32.self, at: start), let flags = bytes.word(UInt32.self, at: start + 4),
      let offset = bytes.word(UInt64.self, at: start + 8), let address = bytes.word(UInt64.self, at: start + 16),
      let fileSize = bytes.word(UInt64.self, at: start + 32)
    else { return nil }
    return Segment(type: type, isExecutable: flags & 1 != 0, offset: offset, address: address, fileSize: fileSize)
  }

  private static func section(_ bytes: [UInt8], _ start: Int) -> Section? {
    guard let name = bytes.word(UInt32.self, at: start), let type = bytes.word(UInt32.self, at: start + 4),
      let address = bytes.word(UInt64.self, at: start + 16), let offset = bytes.word(UInt64.self, at: start + 24),
      let size = bytes.word(UInt64.self, at: start + 32), let link = bytes.word(UInt32.self, at: start + 40),
      let entrySize = bytes.word(UInt64.self, at: start + 56)
    else { return nil }
    return Section(
      name: name, type: type, address: address, offset: offset, size: size, link: link, entrySize: entrySize)
  }

  static func content(_ source: Source, _ section: Section) -> [UInt8]? {
    section.type == SectionType.noBits ? nil : source.bytes(at: section.offset, count: section.size)
  }

  func content(_ section: Section) -> [UInt8]? { Self.content(source, section) }

  /// The first section of that name; nil also for one that is compressed or only named there.
  public func section(named name: String) -> [UInt8]? { first(named: name).flatMap(content) }

  /// Whether it has such a section with content.
  func hasSection(named name: String) -> Bool { first(named: name).map { $0.type != SectionType.noBits } ?? false }

  func first(named name: String) -> Section? {
    sections.first { sectionNames.text(at: Int($0.name), limit: Self.nameMax)?.elementsEqual(name.utf8) == true }
  }

  /// What the file has at an address that it gives itself; nil where it has nothing, as of variables that begin as
  /// zero.
  func bytes(atAddress address: UInt64, count: UInt64) -> [UInt8]? {
    let loaded: UInt32 = 1
    guard
      let segment = segments.first(where: {
        $0.type == loaded && address >= $0.address && address - $0.address < $0.fileSize
      }), count <= segment.fileSize - (address - segment.address)
    else { return nil }
    let (offset, overflow) = segment.offset.addingReportingOverflow(address - segment.address)
    return overflow ? nil : source.bytes(at: offset, count: count)
  }

  /// The address that the file gives the byte at `offset`; nil when no segment loads it.
  public func address(ofFileOffset offset: UInt64) -> UInt64? {
    let loaded: UInt32 = 1
    guard
      let segment = segments.first(where: {
        $0.type == loaded && offset >= $0.offset && offset - $0.offset < $0.fileSize
      })
    else { return nil }
    return segment.address &+ (offset - segment.offset)
  }
}
