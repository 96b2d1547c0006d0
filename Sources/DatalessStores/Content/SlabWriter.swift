internal import DatalessCore
internal import Synchronization
internal import SystemPackage

/// Writes content of up to 128 KiB into a slot of a slab.
final class SlabWriter: ContentWriter {
  private let store: DiskContentStore
  private let slab: Slab
  private let page: UInt32
  private let size: Int64
  /// Set when the slot was committed or given back; every later call but `discard` fails.
  private let isEnded = Atomic<Bool>(false)

  init(_ store: DiskContentStore, _ slab: Slab, page: UInt32, size: Int64) {
    self.store = store
    self.slab = slab
    self.page = page
    self.size = size
  }

  // A writer that was dropped without an end must not keep its slot.
  deinit { discard() }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    do throws(Errno) {
      // Beyond the slot lies another file's content.
      guard !isEnded.load(ordering: .relaxed), offset >= 0, Int64(buffer.count) <= size - offset else {
        throw .invalidArgument
      }
      try SystemCall.write(slab.descriptor.raw, buffer, at: start + offset)
    } catch {
      throw fail(error)
    }
  }

  func copy(from descriptor: CInt, range: Range<Int64>) throws(FSError) -> Int64 {
    // At most 128 KiB: reading and writing beats copy_file_range(2), which goes through a pipe of pages.
    guard !range.isEmpty else { return 0 }
    guard range.lowerBound >= 0, range.upperBound <= size else { throw fail(.invalidArgument) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: range.count, alignment: 16)
    defer { buffer.deallocate() }
    let count: Int
    do throws(Errno) {
      count = try SystemCall.read(descriptor, into: buffer, at: range.lowerBound)
    } catch {
      throw fail(error)
    }
    try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: range.lowerBound)
    return Int64(count)
  }

  func clone(from descriptor: CInt) -> Bool { false }

  func commit() throws(FSError) -> ContentID {
    guard !isEnded.exchange(true, ordering: .relaxed) else { throw store.failure(.invalidArgument, "commit") }
    do throws(Errno) {
      let use = try slab.commit(page, size: size)
      store.countAllocated(pages: ContentLocation.pages(for: size))
      return ContentLocation.slot(slab: slab.number, page: page, use: use).id
    } catch {
      slab.free(page, ContentLocation.pages(for: size))
      throw store.failure(error, "commit")
    }
  }

  func discard() {
    guard !isEnded.exchange(true, ordering: .relaxed) else { return }
    slab.free(page, ContentLocation.pages(for: size))
  }

  private var start: Int64 { Int64(page) * ContentLocation.pageSize }

  /// Gives the slot back at once; but not for want of room, which its writer may find.
  private func fail(_ error: Errno) -> FSError {
    if error != .noSpace, error != .diskQuotaExceeded { discard() }
    return store.failure(error, "write")
  }
}
