/// Names back to back in large blocks: a name costs its own bytes and nothing more.
///
/// A name's position is a 32-bit offset, so an arena holds 4 GiB of names (170 million of 24 bytes). Names are bytes.
struct NameArena: ~Copyable {
  private static var blockBits: Int { 20 }
  private static var blockSize: Int { 1 << blockBits }

  private var blocks: [UnsafeMutablePointer<UInt8>] = []
  private var used = 0

  init() {}

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Stores a name of 1 to 1,024 bytes. - Returns: Its offset; nil when the arena is full.
  mutating func append(_ name: UnsafeBufferPointer<UInt8>) -> UInt32? {
    let length = name.count
    if used & (Self.blockSize - 1) + length > Self.blockSize || used >> Self.blockBits == blocks.count {
      used = blocks.count << Self.blockBits
      guard used < Int(UInt32.max) - Self.blockSize else { return nil }
      blocks.append(.allocate(capacity: Self.blockSize))
    }
    let offset = used
    let target = blocks[offset >> Self.blockBits] + (offset & (Self.blockSize - 1))
    if let base = name.baseAddress { target.update(from: base, count: length) }
    used += length
    return UInt32(offset)
  }

  /// The bytes of a name; valid as long as the arena.
  func name(at offset: UInt32, length: UInt16) -> UnsafeBufferPointer<UInt8> {
    let start = blocks[Int(offset) >> Self.blockBits] + (Int(offset) & (Self.blockSize - 1))
    return UnsafeBufferPointer(start: start, count: Int(length))
  }
}
