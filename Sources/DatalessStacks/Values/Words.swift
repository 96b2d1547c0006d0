/// Numbers in bytes that somebody else wrote: little-endian, nil beyond the end. No addition of a foreign number can
/// wrap here.
extension [UInt8] {
  func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at offset: Int) -> Word? {
    guard offset >= 0, offset <= count - MemoryLayout<Word>.size else { return nil }
    return withUnsafeBytes { Word(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Word.self)) }
  }

  /// As `word`, for an offset that is itself a foreign number.
  func word<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at offset: UInt64) -> Word? {
    Int(exactly: offset).flatMap { word(type, at: $0) }
  }

  /// The bytes before the next zero; nil when there is none among the first `limit`.
  func text(at offset: Int, limit: Int) -> [UInt8]? {
    guard offset >= 0, offset < count else { return nil }
    let part = self[offset...].prefix(limit)
    return part.firstIndex(of: 0).map { Array(part[..<$0]) }
  }

  /// nil unless all of it is there.
  func part(at offset: UInt64, count length: UInt64) -> ArraySlice<UInt8>? {
    guard let start = Int(exactly: offset), let length = Int(exactly: length), start <= count,
      length <= count - start
    else { return nil }
    return self[start..<start + length]
  }
}
