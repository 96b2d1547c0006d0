internal import CDatalessLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// One sparse file that holds the content of many small files, read and written through one descriptor at absolute
/// offsets.
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
  func allocate(_ pages: Int) -> UInt32? { allocator.withLock { $0.allocate(pages) } }

  /// Gives back a slot and its disk space. Blocking I/O lane.
  ///
  /// A slot that can neither be punched nor zeroed is not used again: its old bytes must not become another file's.
  func free(_ page: UInt32, _ pages: Int) {
    let offset = Int64(page) * ContentLocation.pageSize
    let length = Int64(pages) * ContentLocation.pageSize
    let mode = CLINUX_FALLOC_FL_PUNCH_HOLE | CLINUX_FALLOC_FL_KEEP_SIZE
    if clinux_fallocate(descriptor.raw, mode, offset, length) < 0, !zero(offset, length) { return }
    allocator.withLock { $0.free(page, pages) }
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

/// Which slots of one slab are free. A pure value: it knows no file.
///
/// Slots are runs of 1...32 pages. A freed slot is used again for content of the same number of pages, newest first;
/// otherwise a slot is cut from the end. A hole is punched into a freed slot, so that unused room in the slab costs no
/// disk, only addresses, of which there are enough: a full slab is followed by another one.
struct SlabAllocator {
  static let classes = 32

  /// Pages in all.
  let capacity: UInt32
  private var end: UInt32 = 0
  private var freeSlots: [[UInt32]] = Array(repeating: [], count: classes + 1)

  init(capacity: UInt32) { self.capacity = capacity }

  /// Takes a slot of `pages` pages, 1...32.
  ///
  /// - Returns: Its first page; nil if the slab is full.
  mutating func allocate(_ pages: Int) -> UInt32? {
    precondition((1...Self.classes).contains(pages), "a slot has 1 to 32 pages")
    if let page = freeSlots[pages].popLast() { return page }
    guard capacity - end >= UInt32(pages) else { return nil }
    defer { end += UInt32(pages) }
    return end
  }

  /// Gives a slot back.
  mutating func free(_ page: UInt32, _ pages: Int) { freeSlots[pages].append(page) }
}
