/// Names back to back in large blocks: a name costs its own bytes and nothing more, but four at least. The space of a
/// name that is given back goes to the next one of its length.
///
/// A name's position is a 32-bit offset, so an arena holds 4 GiB of names (170 million of 24 bytes). Names are bytes.
struct NameArena: ~Copyable {
  private static var blockBits: Int { 20 }
  private static var blockSize: Int { 1 << blockBits }

  private var blocks: [UnsafeMutablePointer<UInt8>] = []
  private var used = 0
  /// By length, the offset of the first space that was given back, plus 1; each holds that of the next in its first
  /// bytes.
  private var free: [UInt32] = []

  init() {}

  private static func space(_ length: Int) -> Int { max(length, MemoryLayout<UInt32>.size) }

  private func start(of offset: UInt32) -> UnsafeMutablePointer<UInt8> {
    blocks[Int(offset) >> Self.blockBits] + (Int(offset) & (Self.blockSize - 1))
  }

  /// Gives the space of a name back.
  mutating func free(at offset: UInt32, length: UInt16) {
    let space = Self.space(Int(length))
    while free.count <= space { free.append(0) }
    UnsafeMutableRawPointer(start(of: offset)).storeBytes(of: free[space], as: UInt32.self)
    free[space] = offset + 1
  }

  private mutating func takeFree(_ space: Int) -> UInt32? {
    guard space < free.count, free[space] != 0 else { return nil }
    let offset = free[space] - 1
    free[space] = UnsafeRawPointer(start(of: offset)).loadUnaligned(as: UInt32.self)
    return offset
  }

  deinit {
    for block in blocks { block.deallocate() }
  }

  /// Stores a name of 1 to 1,024 bytes. - Returns: Its offset; nil when the arena is full.
  mutating func append(_ name: UnsafeBufferPointer<UInt8>) -> UInt32? {
    let length = Self.space(name.count)
    if let offset = takeFree(length) {
      if let base = name.baseAddress { start(of: offset).update(from: base, count: name.count) }
      return offset
    }
    if used & (Self.blockSize - 1) + length > Self.blockSize || used >> Self.blockBits == blocks.count {
      used = blocks.count << Self.blockBits
      guard used < Int(UInt32.max) - Self.blockSize else { return nil }
      blocks.append(.allocate(capacity: Self.blockSize))
    }
    let offset = used
    if let base = name.baseAddress { start(of: UInt32(offset)).update(from: base, count: name.count) }
    used += length
    return UInt32(offset)
  }

  /// Whether so many names of so many bytes, together no more than a block, can be stored.
  func hasRoom(for count: Int, names: Int = 1) -> Bool {
    let space = Self.space(count)
    return used < Int(UInt32.max) - 2 * Self.blockSize || (names == 1 && space < free.count && free[space] != 0)
  }

  /// The bytes of a name; valid as long as the arena.
  func name(at offset: UInt32, length: UInt16) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: start(of: offset), count: Int(length))
  }
}
