internal import CFuse3
internal import Glibc

/// A part of a directory listing in the kernel's own format, of the size one readdir or readdirplus asked for.
///
/// Append entries until `append` returns false; that entry did not fit and belongs to the next request, which starts at
/// the cookie of the last entry that did. Make it with `DirectoryReply.makeBuffer()`.
///
/// Every entry with a node appended to a *plus* buffer counts as a lookup of that node once the kernel has taken the
/// answer.
public struct DirectoryBuffer: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  /// Bytes used so far.
  public private(set) var count = 0
  /// Whether entries carry attributes (readdirplus).
  public let isPlus: Bool

  /// - Parameters:
  ///   - capacity: The size the kernel asked for, in bytes.
  ///   - isPlus: Whether it asked by readdirplus.
  public init(capacity: Int, isPlus: Bool) {
    storage = .allocate(byteCount: max(capacity, 8), alignment: 8)
    self.isPlus = isPlus
    self.capacity = max(capacity, 0)
  }

  /// The most bytes the buffer takes.
  public let capacity: Int

  deinit { storage.deallocate() }

  /// Bytes in front of the name: struct fuse_dirent, after struct fuse_entry_out in a plus buffer.
  private static let plainHeaderBytes = 24
  private static let plusHeaderBytes = 128 + 24

  /// The bytes to send, valid as long as the buffer is.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage.prefix(count)) }

  /// The bytes an entry takes in a buffer, padding included.
  public static func entryBytes(nameLength: Int, isPlus: Bool) -> Int {
    ((isPlus ? plusHeaderBytes : plainHeaderBytes) + nameLength + 7) & ~7
  }

  /// Appends a name without attributes: any entry of a plain buffer; in a plus buffer "." and "..", or a name the
  /// kernel shall look up itself. No lookup is counted.
  ///
  /// - Parameters:
  ///   - name: 1 to 255 bytes.
  ///   - inode: st_ino, not 0: readdir(3) skips entries with inode number 0.
  ///   - mode: st_mode, of which the type is shown as d_type.
  ///   - nextCookie: Where the entry after this one starts: the offset of the request that continues. Not 0.
  /// - Returns: False if it does not fit; the buffer is unchanged.
  public mutating func append(
    name: UnsafeBufferPointer<UInt8>, inode: UInt64, mode: UInt32, nextCookie: Int64
  ) -> Bool {
    guard let entry = reserve(nameLength: name.count) else { return false }
    if isPlus {
      memset(entry, 0, MemoryLayout<fuse_entry_out>.size)
      write(name, inode: inode, mode: mode, nextCookie: nextCookie, to: entry + MemoryLayout<fuse_entry_out>.size)
    } else {
      write(name, inode: inode, mode: mode, nextCookie: nextCookie, to: entry)
    }
    return true
  }

  /// Appends a name with its node and attributes to a plus buffer, which counts as a lookup; in a plain buffer the node
  /// is left out.
  ///
  /// - Returns: False if it does not fit; the buffer is unchanged and no lookup counts.
  public mutating func append(
    name: UnsafeBufferPointer<UInt8>, entry value: borrowing FuseEntry, nextCookie: Int64
  ) -> Bool {
    let inode = value.attributes.inode
    let mode = value.attributes.mode
    guard isPlus else { return append(name: name, inode: inode, mode: mode, nextCookie: nextCookie) }
    guard let entry = reserve(nameLength: name.count) else { return false }
    entry.storeBytes(of: fuse_entry_out(value), as: fuse_entry_out.self)
    write(name, inode: inode, mode: mode, nextCookie: nextCookie, to: entry + MemoryLayout<fuse_entry_out>.size)
    return true
  }

  private mutating func reserve(nameLength: Int) -> UnsafeMutableRawPointer? {
    let bytes = Self.entryBytes(nameLength: nameLength, isPlus: isPlus)
    guard let base = storage.baseAddress, bytes <= capacity - count else { return nil }
    let entry = base + count
    count += bytes
    return entry
  }

  /// Writes struct fuse_dirent, the name, and zeros up to a multiple of eight bytes.
  private func write(
    _ name: UnsafeBufferPointer<UInt8>, inode: UInt64, mode: UInt32, nextCookie: Int64,
    to entry: UnsafeMutableRawPointer
  ) {
    // The padding first: the last eight bytes of the entry hold all of it.
    let padded = (Self.plainHeaderBytes + name.count + 7) & ~7
    entry.storeBytes(of: 0, toByteOffset: padded - 8, as: UInt64.self)
    entry.storeBytes(of: inode, as: UInt64.self)
    entry.storeBytes(of: nextCookie, toByteOffset: 8, as: Int64.self)
    entry.storeBytes(of: UInt32(truncatingIfNeeded: name.count), toByteOffset: 16, as: UInt32.self)
    entry.storeBytes(of: (mode >> 12) & 0xf, toByteOffset: 20, as: UInt32.self)
    if let bytes = name.baseAddress {
      memcpy(entry + Self.plainHeaderBytes, bytes, name.count)
    }
  }
}
