internal import CDatalessLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// One sparse file that holds the content of many small files, read and written through one descriptor at absolute
/// offsets.
///
/// A slot that is handed out reads as zeros: it was never written, or a hole was punched into it, or it was zeroed. In
/// a store that is kept, the slab's table lies beside it, `slab-<number>.table`: an entry is written after its content,
/// and before its slot is emptied.
final class Slab: Sendable {
  /// 16 GiB of addresses: below the largest file of every file system in use but FAT.
  static let defaultCapacity: UInt32 = 1 << 22

  private struct Slots {
    var allocator: SlabAllocator
    var table: SlotTable
  }

  let number: UInt16
  let descriptor: OwnedDescriptor
  /// An object, as a descriptor with one owner cannot be looked at where it may be absent.
  private final class TableFile: Sendable {
    let descriptor: OwnedDescriptor
    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }
  }

  private let tableFile: TableFile?
  private let slots: Mutex<Slots>
  private let isNameSynced = Atomic<Bool>(false)
  /// As `FoundSlots`; nothing of a slab that was made here.
  private let refused: (pages: [UInt32], ranges: [Range<UInt32>])

  static func name(_ number: UInt16) -> String { "slab-\(number)" }
  static func tableName(_ number: UInt16) -> String { name(number) + ".table" }

  /// Creates `slab-<number>` in the directory, and its table if the store is kept.
  init(number: UInt16, in directory: CInt, capacity: UInt32, isKept: Bool) throws(Errno) {
    self.number = number
    descriptor = try Self.create(Self.name(number), in: directory)
    // The size is fixed for good, so that a read of a slot's unwritten tail sees zeros, not the end of the file.
    if ftruncate(descriptor.raw, Int(capacity) * Int(ContentLocation.pageSize)) != 0 { throw Errno(rawValue: errno) }
    tableFile = isKept ? TableFile(try Self.create(Self.tableName(number), in: directory)) : nil
    slots = Mutex(Slots(allocator: SlabAllocator(capacity: capacity), table: SlotTable()))
    refused = ([], [])
  }

  /// Takes over a slab of an earlier run.
  init(number: UInt16, descriptor: consuming OwnedDescriptor, table: consuming OwnedDescriptor, _ found: FoundSlots) {
    self.number = number
    self.descriptor = descriptor
    tableFile = TableFile(table)
    var allocator = found.allocator
    // Content that was never finished may lie behind the last slot, too.
    let end = Int64(allocator.end) * ContentLocation.pageSize
    let rest = Int64(allocator.capacity) * ContentLocation.pageSize - end
    let mode = CLINUX_FALLOC_FL_PUNCH_HOLE | CLINUX_FALLOC_FL_KEEP_SIZE
    if rest > 0, clinux_fallocate(self.descriptor.raw, mode, end, rest) < 0 { allocator.skip(to: allocator.capacity) }
    slots = Mutex(Slots(allocator: allocator, table: found.table))
    refused = (found.refusedPages, found.refusedRanges)
  }

  /// Has the table say of slots that were refused that they hold nothing, so that they are met no more, and gives their
  /// disk space back. What cannot be written now is refused the next time, too.
  func dropRefused() {
    for page in refused.pages where (try? write(SlotTable.refusedEntry, page)) == nil { return }
    for range in refused.ranges where !range.isEmpty { _ = empty(range.lowerBound, range.count) }
  }

  private static func create(_ name: String, in directory: CInt) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDWR | O_CREAT | O_EXCL | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW
    return OwnedDescriptor(CInt(try SystemCall.check(clinux_openat(directory, name, flags, 0o600))))
  }

  /// The first page of a free slot; nil if the slab is full.
  func allocate(_ pages: Int) -> UInt32? {
    while let slot = slots.withLock({ $0.allocator.allocate(pages) }) {
      // Left by an earlier run, which may have been writing to it. One that cannot be emptied is not used.
      if slot.isEmpty || empty(slot.page, pages) { return slot.page }
    }
    return nil
  }

  /// A slot holds content from now on. - Returns: How often it was used before.
  func commit(_ page: UInt32, size: Int64) throws(Errno) -> UInt16 {
    let entry = slots.withLock { $0.table.commit(page, size: size) }
    try write(entry, page)
    return entry.use
  }

  /// The size of content; nil if it is gone, or never was.
  func size(_ page: UInt32, use: UInt16) -> Int64? { slots.withLock { $0.table.size(page, use: use) } }

  /// Gives back the slot of content, and its disk space. Blocking I/O lane.
  ///
  /// - Returns: Its pages; nil if there is no such content.
  func remove(_ page: UInt32, use: UInt16) -> Int? {
    guard let (entry, isUsable) = slots.withLock({ $0.table.remove(page, use: use) }) else { return nil }
    // Not written: found again at the next start, as content that nobody knows.
    try? write(entry, page)
    if isUsable { free(page, entry.pages) } else { _ = empty(page, entry.pages) }
    return entry.pages
  }

  /// As `remove` of each of some contents; the disk space of slots that lie side by side is given back in one piece.
  ///
  /// - Returns: The pages of all.
  func remove(_ contents: [(page: UInt32, use: UInt16)]) -> Int {
    var removed: [(page: UInt32, pages: Int, isUsable: Bool)] = []
    for (page, use) in contents {
      guard let (entry, isUsable) = slots.withLock({ $0.table.remove(page, use: use) }) else { continue }
      try? write(entry, page)
      removed.append((page, entry.pages, isUsable))
    }
    removed.sort { $0.page < $1.page }
    var rest = removed[...]
    while let first = rest.first {
      var pages = 0
      let run = rest.prefix { slot in
        defer { pages += slot.pages }
        return Int(slot.page) == Int(first.page) + pages
      }
      pages = run.reduce(0) { $0 + $1.pages }
      rest = rest.dropFirst(run.count)
      guard empty(first.page, pages) else { continue }
      slots.withLock { slots in
        for slot in run where slot.isUsable { slots.allocator.free(slot.page, slot.pages) }
      }
    }
    return removed.reduce(0) { $0 + $1.pages }
  }

  /// Gives back a slot and its disk space. Blocking I/O lane.
  ///
  /// A slot that can neither be punched nor zeroed is not used again: its old bytes must not become another file's.
  func free(_ page: UInt32, _ pages: Int) {
    if !empty(page, pages) { return }
    slots.withLock { $0.allocator.free(page, pages) }
  }

  /// Calls with each content: its first page, use and size. A piece of the table under each hold of its lock.
  func forEach(_ body: (UInt32, UInt16, Int64) -> Void) {
    var next: UInt32 = 0
    var isDone = false
    while !isDone {
      let found = slots.withLock { slots in
        var found: [(UInt32, UInt16, Int64)] = []
        let end = min(slots.allocator.end, next + min(4096, slots.allocator.end - next))
        for page in next..<end where slots.table[page].isLive {
          found.append((page, slots.table[page].use, slots.table[page].size))
        }
        next = end
        isDone = end == slots.allocator.end
        return found
      }
      for (page, use, size) in found { body(page, use, size) }
    }
  }

  /// Has the content of all slots on the disk. - Parameter directory: The store's, which has the slab's name.
  func sync(_ directory: CInt) throws(Errno) {
    try SystemCall.syncData(descriptor.raw)
    if let tableFile { try SystemCall.syncData(tableFile.descriptor.raw) }
    guard !isNameSynced.load(ordering: .relaxed) else { return }
    try SystemCall.sync(directory)
    isNameSynced.store(true, ordering: .relaxed)
  }

  private func write(_ entry: SlotTable.Entry, _ page: UInt32) throws(Errno) {
    guard let tableFile else { return }
    let outcome: Result<Void, Errno> = withUnsafeBytes(of: entry.rawValue.littleEndian) { bytes in
      do throws(Errno) {
        return .success(try SystemCall.write(tableFile.descriptor.raw, bytes, at: Int64(page) * 4))
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }

  /// Lets a slot read as zeros, and gives its disk space back where the file system can.
  private func empty(_ page: UInt32, _ pages: Int) -> Bool {
    let offset = Int64(page) * ContentLocation.pageSize
    let length = Int64(pages) * ContentLocation.pageSize
    let mode = CLINUX_FALLOC_FL_PUNCH_HOLE | CLINUX_FALLOC_FL_KEEP_SIZE
    return clinux_fallocate(descriptor.raw, mode, offset, length) >= 0 || zero(offset, length)
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
