internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Writes content of more than 128 KiB into a file of its own.
final class FileWriter: ContentWriter {
  /// One round of the copying loop.
  ///
  /// read(2) and write(2) of large pieces, not copy_file_range(2): where extents cannot be shared, the kernel copies
  /// through a pipe, page by page, which takes 1.6 times as long and leaves the content in single pages of the cache,
  /// so that every later read of it at random takes 1.3 times as long (ext4, measured). Where they can be shared,
  /// `clone` has done it. Larger pieces than this leave the second-level cache of the processor: 1 MiB took up to 1.3
  /// times cp's time of it.
  private static let bufferSize = 256 << 10

  private let store: DiskContentStore
  private let handle: ContentFiles.Handle
  private let size: Int64
  /// Set when the file was committed or removed; every later call but `discard` fails.
  private let isEnded = Atomic<Bool>(false)

  init(_ store: DiskContentStore, number: UInt64, size: Int64) throws(Errno) {
    self.store = store
    self.size = size
    handle = ContentFiles.Handle(number: number, descriptor: try store.files.create(number), isWritable: true)
    // The whole is a hole at first: what is never written stays one, and reads as zeros.
    if ftruncate(handle.descriptor.raw, off_t(size)) != 0 {
      let error = Errno(rawValue: errno)
      store.files.discard(number)
      isEnded.store(true, ordering: .relaxed)
      throw error
    }
  }

  // A writer that was dropped without an end must not leave its file.
  deinit { discard() }

  private var descriptor: CInt { handle.descriptor.raw }

  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError) {
    do throws(Errno) {
      guard !isEnded.load(ordering: .relaxed), offset >= 0, Int64(buffer.count) <= size - offset else {
        throw .invalidArgument
      }
      try SystemCall.write(descriptor, buffer, at: offset)
    } catch {
      throw fail(error)
    }
  }

  func copy(from source: CInt, range: Range<Int64>) throws(FSError) -> Int64 {
    do throws(Errno) {
      guard !isEnded.load(ordering: .relaxed), range.lowerBound >= 0, range.upperBound <= size else {
        throw .invalidArgument
      }
      return try copyThroughBuffer(from: source, range) - range.lowerBound
    } catch {
      throw fail(error)
    }
  }

  func clone(from source: CInt) -> Bool {
    guard !isEnded.load(ordering: .relaxed), clinux_clone_file(descriptor, source) >= 0 else { return false }
    do throws(Errno) {
      if try FileStatus(of: descriptor).size == size { return true }
    } catch {}
    // The source has another size by now: start again with a hole.
    _ = ftruncate(descriptor, 0)
    _ = ftruncate(descriptor, off_t(size))
    return false
  }

  func commit() throws(FSError) -> ContentID {
    do throws(Errno) {
      guard !isEnded.load(ordering: .relaxed) else { throw .invalidArgument }
      let status = try FileStatus(of: descriptor)
      guard status.size == size else { throw .ioError }
      // Units of 512 bytes, to pages.
      let pages = (status.blocks + 7) / 8
      try store.files.commit(handle)
      isEnded.store(true, ordering: .relaxed)
      store.files.records.add(handle.number, FileRecords.Record(size: size, pages: pages))
      store.countAllocated(pages: Int(pages))
      return ContentLocation.file(handle.number).id
    } catch {
      throw fail(error)
    }
  }

  func discard() {
    guard !isEnded.exchange(true, ordering: .relaxed) else { return }
    store.files.discard(handle.number)
    // The descriptor stays open until the writer goes; the blocks must not.
    _ = ftruncate(descriptor, 0)
  }

  /// - Returns: Where it stopped: the end of the range, or of the source.
  private func copyThroughBuffer(from source: CInt, _ range: Range<Int64>) throws(Errno) -> Int64 {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(Self.bufferSize, range.count), alignment: 4096)
    defer { buffer.deallocate() }
    var position = range.lowerBound
    while position < range.upperBound {
      let part = UnsafeMutableRawBufferPointer(
        rebasing: buffer[..<Int(min(Int64(buffer.count), range.upperBound - position))])
      let count = try SystemCall.read(source, into: part, at: position)
      try SystemCall.write(descriptor, UnsafeRawBufferPointer(rebasing: part[..<count]), at: position)
      position += Int64(count)
      if count < part.count { break }
    }
    return position
  }

  /// Removes the file at once; but not for want of room, which its writer may find.
  private func fail(_ error: Errno) -> FSError {
    if error != .noSpace, error != .diskQuotaExceeded { discard() }
    return store.failure(error, "write")
  }
}
