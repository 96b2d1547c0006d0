import CFuse3
import Glibc
import Testing

@testable import FuseKit

/// Listings are written in the kernel's format without libfuse: its own functions are the measure.
struct DirectoryBufferTests {
  private static let names = [".", "..", "a", "1234567", "12345678", "123456789", String(repeating: "x", count: 255)]

  private func entry(_ index: Int) -> FuseEntry {
    let seed = UInt64(index)
    return FuseEntry(
      node: FuseNode(rawValue: 1000 + seed), generation: seed,
      attributes: FuseAttributes(
        inode: 5_000_000_000 + seed, size: 1 << 40 + seed, blocks: 77,
        accessTime: FuseTime(seconds: -5, nanoseconds: 1),
        modificationTime: FuseTime(seconds: 1_700_000_000, nanoseconds: 999_999_999),
        changeTime: FuseTime(seconds: 3, nanoseconds: 4), mode: index % 2 == 0 ? 0o040755 : 0o100644, linkCount: 3,
        uid: 1000, gid: 100, specialDevice: 0x0801, blockSize: 4096),
      entryTimeout: CacheTimeout(seconds: 2, nanoseconds: 500_000_000),
      attributeTimeout: CacheTimeout(seconds: 7, nanoseconds: 0))
  }

  private func parameters(_ entry: FuseEntry) -> fuse_entry_param {
    var result = fuse_entry_param()
    result.ino = fuse_ino_t(entry.node.rawValue)
    result.generation = entry.generation
    result.entry_timeout = 2.5
    result.attr_timeout = 7
    result.attr = status(entry.attributes)
    return result
  }

  private func status(_ attributes: FuseAttributes) -> stat {
    var result = stat()
    result.st_ino = ino_t(attributes.inode)
    result.st_size = off_t(attributes.size)
    result.st_blocks = blkcnt_t(attributes.blocks)
    result.st_mode = mode_t(attributes.mode)
    result.st_nlink = nlink_t(attributes.linkCount)
    result.st_uid = attributes.uid
    result.st_gid = attributes.gid
    result.st_rdev = dev_t(attributes.specialDevice)
    result.st_blksize = blksize_t(attributes.blockSize)
    result.st_atim = timespec(tv_sec: Int(attributes.accessTime.seconds), tv_nsec: 1)
    result.st_mtim = timespec(
      tv_sec: Int(attributes.modificationTime.seconds), tv_nsec: Int(attributes.modificationTime.nanoseconds))
    result.st_ctim = timespec(
      tv_sec: Int(attributes.changeTime.seconds), tv_nsec: Int(attributes.changeTime.nanoseconds))
    return result
  }

  private func append(_ name: String, _ index: Int, to buffer: inout DirectoryBuffer) -> Bool {
    let name = Array(name.utf8)
    // A noncopyable inout cannot be captured, so the bytes are kept alive around the call instead.
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.count)
    defer { copy.deallocate() }
    _ = copy.initialize(fromContentsOf: name)
    return buffer.append(name: UnsafeBufferPointer(copy), entry: entry(index), nextCookie: Int64(index) + 1)
  }

  /// All names by libfuse, each at the end of the ones before.
  private func reference(capacity: Int, isPlus: Bool) -> [UInt8] {
    var result = [UInt8](repeating: 0xEE, count: capacity)
    var used = 0
    result.withUnsafeMutableBytes { bytes in
      let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      for (index, name) in Self.names.enumerated() {
        var parameters = parameters(entry(index))
        let left = capacity - used
        let start = base.map { $0 + used }
        // The request is not looked at by these two functions of libfuse.
        let size =
          isPlus
          ? fuse_add_direntry_plus(nil, start, left, name, &parameters, off_t(index + 1))
          : fuse_add_direntry(nil, start, left, name, &parameters.attr, off_t(index + 1))
        if size > left { break }
        used += size
      }
    }
    return Array(result[..<used])
  }

  @Test(arguments: [true, false], [4096, 2048, 1000, 512, 200, 176, 175, 32, 31, 8, 0])
  func equalsLibfuse(isPlus: Bool, capacity: Int) {
    var buffer = DirectoryBuffer(capacity: capacity, isPlus: isPlus)
    for (index, name) in Self.names.enumerated() where !append(name, index, to: &buffer) { break }
    #expect(Array(buffer.bytes) == reference(capacity: capacity, isPlus: isPlus))
  }

  @Test func whatDoesNotFitLeavesTheBufferAsItWas() {
    var buffer = DirectoryBuffer(capacity: 200, isPlus: true)
    let first = append("a", 0, to: &buffer)
    let before = Array(buffer.bytes)
    let second = append("b", 1, to: &buffer)
    #expect(first)
    #expect(!second)
    #expect(Array(buffer.bytes) == before)
    #expect(buffer.count == DirectoryBuffer.entryBytes(nameLength: 1, isPlus: true))
  }

  @Test func dotEntriesOfAPlusBufferNameNoNode() {
    var buffer = DirectoryBuffer(capacity: 4096, isPlus: true)
    let dot: StaticString = "."
    let name = UnsafeBufferPointer(start: dot.utf8Start, count: 1)
    let fits = buffer.append(name: name, inode: 12, mode: 0o040755, nextCookie: 1)
    #expect(fits)
    let bytes = Array(buffer.bytes)
    #expect(bytes[..<128].allSatisfy { $0 == 0 }, "no node, no lookup")
    #expect(bytes[128] == 12)
    #expect(bytes[148] == 4, "DT_DIR")
    #expect(bytes[152] == UInt8(ascii: "."))
    #expect(bytes.count == 160)
  }

  @Test func forgottenNodesHaveTheLayoutOfLibfuse() {
    #expect(MemoryLayout<ForgottenNode>.size == MemoryLayout<fuse_forget_data>.size)
    #expect(MemoryLayout<ForgottenNode>.stride == MemoryLayout<fuse_forget_data>.stride)
    var data = fuse_forget_data()
    data.ino = 3
    data.nlookup = 4
    let node = withUnsafeBytes(of: data) { $0.load(as: ForgottenNode.self) }
    #expect(node == ForgottenNode(node: FuseNode(rawValue: 3), lookups: 4))
  }
}
