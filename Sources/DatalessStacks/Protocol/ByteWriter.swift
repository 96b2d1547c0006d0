/// Writes what `ByteReader` reads.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func add<Word: FixedWidthInteger>(_ word: Word) {
    withUnsafeBytes(of: word.littleEndian) { bytes += $0 }
  }

  mutating func add(_ flag: Bool) { add(UInt8(flag ? 1 : 0)) }

  /// With its length in front, cut at `limit` bytes.
  mutating func add(_ text: [UInt8], limit: Int) {
    let text = text.prefix(limit)
    add(UInt32(text.count))
    bytes += text
  }

  /// The count of a list, whose elements follow.
  mutating func addCount(_ count: Int) { add(UInt32(clamping: count)) }
}

/// Reads the other side's bytes, none of which is believed: little-endian numbers, texts and lists with their lengths,
/// each checked against what is there and against a limit.
struct ByteReader {
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  mutating func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type) throws(Malformed) -> Word {
    guard let word = bytes.word(type, at: position) else { throw Malformed() }
    position += MemoryLayout<Word>.size
    return word
  }

  mutating func flag() throws(Malformed) -> Bool {
    switch try word(UInt8.self) {
    case 0: return false
    case 1: return true
    default: throw Malformed()
    }
  }

  mutating func text(limit: Int) throws(Malformed) -> [UInt8] {
    let length = Int(try word(UInt32.self))
    guard length <= limit, length <= bytes.count - position else { throw Malformed() }
    defer { position += length }
    return Array(bytes[position..<position + length])
  }

  /// How many elements follow: never more than could be there, so that nothing is allocated for a promise.
  ///
  /// - Parameter size: Bytes of the smallest element, at least 1.
  mutating func count(limit: Int, size: Int) throws(Malformed) -> Int {
    let count = Int(try word(UInt32.self))
    guard count <= limit, count <= (bytes.count - position) / size else { throw Malformed() }
    return count
  }

  /// Nothing may be left over: it would mean something to somebody else.
  consuming func end() throws(Malformed) {
    guard isAtEnd else { throw Malformed() }
  }
}
