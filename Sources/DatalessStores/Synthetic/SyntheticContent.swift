internal import DatalessCore

/// The computed bytes of one file: 64-bit word number i is a bijective mix of key + i * step, little-endian.
///
/// Any offset costs the same, and words are independent of each other, so that the processor computes several at once.
final class SyntheticContent: StoreContent {
  private static let wordSize = 8

  private let key: UInt64
  private let size: Int64

  init(key: UInt64, size: Int64) {
    self.key = key
    self.size = size
  }

  var descriptor: CInt? { nil }

  func nextData(from offset: Int64) throws(FSError) -> Range<Int64>? { offset < size ? offset..<size : nil }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FSError) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let count = Int(min(Int64(buffer.count), size - offset))
    var done = 0
    let skew = Int(offset % Int64(Self.wordSize))
    if skew != 0 {
      done = min(Self.wordSize - skew, count)
      copyPart(of: offset / Int64(Self.wordSize), from: skew, count: done, to: buffer, at: 0)
    }
    let words = (count - done) / Self.wordSize
    let first = (offset + Int64(done)) / Int64(Self.wordSize)
    if words > 0 { fill(buffer.baseAddress! + done, words: words, from: first) }
    done += words * Self.wordSize
    if done < count {
      copyPart(of: first + Int64(words), from: 0, count: count - done, to: buffer, at: done)
    }
    return count
  }

  func verify() throws(FSError) {}

  func close() {}

  @inline(__always)
  private func word(_ index: Int64) -> UInt64 {
    SyntheticHash.mix(key &+ UInt64(bitPattern: index) &* SyntheticHash.step).littleEndian
  }

  private func fill(_ target: UnsafeMutableRawPointer, words: Int, from first: Int64) {
    var counter = key &+ UInt64(bitPattern: first) &* SyntheticHash.step
    for index in 0..<words {
      target.storeBytes(
        of: SyntheticHash.mix(counter).littleEndian, toByteOffset: index &* Self.wordSize, as: UInt64.self)
      counter &+= SyntheticHash.step
    }
  }

  private func copyPart(
    of index: Int64, from skew: Int, count: Int, to buffer: UnsafeMutableRawBufferPointer, at position: Int
  ) {
    withUnsafeBytes(of: word(index)) { bytes in
      for step in 0..<count { buffer[position + step] = bytes[skew + step] }
    }
  }
}
