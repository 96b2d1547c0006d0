/// What identifies a build of a program or library, whatever its file is called: the key of every cache here.
public struct BuildID: Sendable, Hashable, CustomStringConvertible {
  public let bytes: [UInt8]

  // GNU ld writes 20 bytes, lld 8 or 20, `--build-id=0x...` what one wants.
  static let lengths = 2...64

  /// nil for a length that is none of a build id.
  public init?(_ bytes: [UInt8]) {
    guard Self.lengths.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  public var description: String { Self.hexadecimal(bytes[...]) }

  /// Where distributions keep the debug information, below the directory of debug files: `.build-id/ab/cdef.debug`.
  public var debugPath: String {
    ".build-id/\(Self.hexadecimal(bytes[..<1]))/\(Self.hexadecimal(bytes[1...])).debug"
  }

  private static func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return bytes.reduce(into: "") { $0 += [digits[Int($1 >> 4)], digits[Int($1 & 15)]] }
  }
}

extension ElfFile {
  // LIMIT: bytes of the notes of a file; a core file's would be larger.
  private static var notesMax: UInt64 { 1 << 20 }

  /// Of the note that the linker wrote; nil without one.
  public var buildID: BuildID? {
    for section in sections where section.type == SectionType.note && section.size <= Self.notesMax {
      if let found = content(section).flatMap(Self.buildID) { return found }
    }
    // A file without section headers has its notes in a segment.
    let note: UInt32 = 4
    for segment in segments where segment.type == note && segment.fileSize <= Self.notesMax {
      if let found = source.bytes(at: segment.offset, count: segment.fileSize).flatMap(Self.buildID) { return found }
    }
    return nil
  }

  /// - Parameter notes: Each with the lengths of its name and content and its type, both padded to 4 bytes.
  static func buildID(_ notes: [UInt8]) -> BuildID? {
    let gnuBuildID: UInt32 = 3
    var position: UInt64 = 0
    while let nameLength = notes.word(UInt32.self, at: position),
      let length = notes.word(UInt32.self, at: position + 4), let type = notes.word(UInt32.self, at: position + 8)
    {
      let name = position + 12
      // 32-bit numbers in 64 bits: no sum wraps.
      let content = name + (UInt64(nameLength) + 3) / 4 * 4
      guard let nameBytes = notes.part(at: name, count: UInt64(nameLength)),
        let bytes = notes.part(at: content, count: UInt64(length))
      else { return nil }
      if type == gnuBuildID, nameBytes.elementsEqual("GNU\0".utf8) { return BuildID(Array(bytes)) }
      position = content + (UInt64(length) + 3) / 4 * 4
    }
    return nil
  }
}
