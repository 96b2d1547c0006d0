internal import CDatalessLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// One sparse file that holds the content of many small files, read and written through one descriptor at absolute offsets.
///
/// A slot that is handed out reads as zeros: it was never written, or a hole was punched into it, or it was zeroed.
final class Slab: Sendable {
  /// 16 GiB of addresses: below the largest file of every file system in use but FAT.
  static let defaultCapacity: UInt32 = 1 << 22

  let number: UInt16
  let descriptor: OwnedDescriptor
  private let allocator: Mutex<SlabAllocator>

  /// Creates `slab-<number>` in the directory.
  init(number: UInt16, in directory: CInt, capacity: UInt32 = defaultCapacity) throws(Errno) {
    self.number = number
    let flags = O_RDWR | O_CREAT | O_EXCL | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW
    let opened = OwnedDescriptor(
      CInt(try SystemCall.check(clinux_openat(directory, "slab-\(number)", flags, 0o600))))
    // The size is fixed for good, so that a read of a slot's unwritten tail sees zeros, not the end of the file.
    if ftruncate(opened.raw, Int(capacity) * Int(ContentLocation.pageSize)) != 0 { throw Errno(rawValue: errno) }
    descriptor = opened
    allocator = Mutex(SlabAllocator(capacity: capacity))
  }

  /// The first page of a free slot; nil if the slab is full.
  func take(_ pages: Int) -> UInt32? { allocator.withLock { $0.take(pages) } }

  /// Gives back a slot and its disk space. Blocking I/O lane.
  ///
  /// A slot that can neither be punched nor zeroed is not used again: its old bytes must not become another file's.
  func give(_ page: UInt32, _ pages: Int) {
    let offset = Int64(page) * ContentLocation.pageSize
    let length = Int64(pages) * ContentLocation.pageSize
    let mode = CLINUX_FALLOC_FL_PUNCH_HOLE | CLINUX_FALLOC_FL_KEEP_SIZE
    if clinux_fallocate(descriptor.raw, mode, offset, length) < 0, !zero(offset, length) { return }
    allocator.withLock { $0.give(page, pages) }
  }

  private func zero(_ offset: Int64, _ length: Int64) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Int(ContentLocation.pageSize), alignment: 16) { page in
      page.initializeMemory(as: UInt8.self, repeating: 0)
      do throws(Errno) {
        for start in stride(from: offset, to: offset + length, by: Int(ContentLocation.pageSize)) {
          try SystemCall.write(descriptor.raw, UnsafeRawBufferPointer(page), at: start)
        }
        return true
      } catch {
        return false
      }
    }
  }
}
