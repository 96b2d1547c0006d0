public import DatalessCore
internal import CDatalessLinux
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// Local content in a session directory: files up to 128 KiB in slabs, larger ones in a file of their own.
///
/// A slab saves the creation, rename and closing of a file per small content; passthrough needs a file of its own for
/// what is worth it. What a reference names was committed, hence complete. Nothing is flushed to the disk: the store
/// does not outlive its session.
///
/// Thread-safe. No lock is held across a disk call, except when a new slab file is made (once per 16 GiB).
public final class SessionContentStore: ContentStore {
  public let isFastLocal: Bool
  let slabs: SlabSet
  let files: ContentFiles
  private let session: SessionDirectory
  private let contentDirectory: OwnedDescriptor
  private let nextNumber = Atomic<UInt64>(0)
  private let allocated = Atomic<Int64>(0)
  /// Pages counted of files whose content comes in ranges: their references do not know.
  let rangedPages = Mutex<[UInt32: Int64]>([:])

  /// Starts an empty store in `session`, which is kept as long as the store. RLIMIT_NOFILE decides, once, how many
  /// descriptors of large content stay open: a quarter of it, at most 1,024.
  ///
  /// - Throws: EEXIST (there is a store in it), ENOSPC, EDQUOT, EACCES, EROFS.
  public convenience init(in session: SessionDirectory) throws(FSError) {
    try self.init(in: session, slabCapacity: Slab.defaultCapacity, places: ContentFiles.defaultPlaces)
  }

  /// - Parameters:
  ///   - slabCapacity: Pages of 4 KiB per slab.
  ///   - places: The most descriptors kept open for reading.
  init(in session: SessionDirectory, slabCapacity: UInt32, places: Int) throws(FSError) {
    do throws(Errno) {
      if mkdirat(session.descriptor, "content", 0o700) != 0 { throw Errno(rawValue: errno) }
      contentDirectory = try SystemCall.openBeneath(
        session.descriptor, Array("content".utf8), flags: O_RDONLY | CLINUX_O_DIRECTORY, crossMounts: false)
    } catch {
      throw FSError(error, "cannot start a content store in '\(session.path)'")
    }
    self.session = session
    isFastLocal = FastLocalFileSystems.contains(contentDirectory.raw)
    slabs = SlabSet(in: contentDirectory.raw, capacity: slabCapacity)
    files = ContentFiles(in: contentDirectory.raw, places: places)
  }

  public var allocatedBytes: Int64 { allocated.load(ordering: .relaxed) }

  /// Descriptors of large content kept open for readers now; slabs have one each besides.
  public var openDescriptors: Int { files.openDescriptors }

  public func makeWriter(size: Int64) throws(FSError) -> any ContentWriter {
    guard size > 0 else { throw FSError(.invalidArgument, "an empty file has no content to store") }
    do throws(Errno) {
      if size <= ContentLocation.slabLimit {
        let (slab, page) = try slabs.allocate(ContentLocation.pages(for: size))
        return SlabWriter(self, slab, page: page, size: size)
      }
      return try FileWriter(self, number: nextFileNumber(), size: size)
    } catch {
      throw FSError(error, "cannot make room for \(size) bytes in the cache '\(session.path)'")
    }
  }

  public func read(
    _ reference: ContentReference, size: Int64, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int {
    guard offset < size else { return 0 }
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), size - offset))])
    do throws(Errno) {
      let count: Int
      switch ContentLocation(reference) {
      case .slot(let slab, let page):
        let start = Int64(page) * ContentLocation.pageSize
        count = try SystemCall.read(slabs[slab].descriptor.raw, into: part, at: start + offset)
      case .file(let number, _):
        let handle = try files.handle(number)
        count = try withExtendedLifetime(handle) { () throws(Errno) in
          try SystemCall.read(handle.descriptor.raw, into: part, at: offset)
        }
      }
      // Somebody shortened a file in our directory: what is there is not the content.
      if count < part.count { throw .ioError }
      return count
    } catch {
      throw failure(error, "read")
    }
  }

  public func seek(
    _ reference: ContentReference, size: Int64, from offset: Int64, hole: Bool
  ) throws(FSError) -> Int64 {
    guard offset >= 0, offset < size else { throw FSError(.noSuchAddressOrDevice, "no data beyond the end") }
    do throws(Errno) {
      switch ContentLocation(reference) {
      case .slot(let slab, let page):
        let start = Int64(page) * ContentLocation.pageSize
        return try seek(slabs[slab].descriptor.raw, start: start, size: size, from: offset, hole: hole)
      case .file(let number, _):
        let handle = try files.handle(number)
        return try withExtendedLifetime(handle) { () throws(Errno) in
          try seek(handle.descriptor.raw, start: 0, size: size, from: offset, hole: hole)
        }
      }
    } catch {
      if error == .noSuchAddressOrDevice { throw FSError(error, "no further data") }
      throw failure(error, "look for data in")
    }
  }

  /// lseek(2) moves the shared position of the descriptor, which nobody uses: every read and write names its offset.
  private func seek(
    _ descriptor: CInt, start: Int64, size: Int64, from offset: Int64, hole: Bool
  ) throws(Errno) -> Int64 {
    do throws(Errno) {
      let found = try SystemCall.seek(descriptor, start + offset, hole: hole) - start
      if !hole && found >= size { throw .noSuchAddressOrDevice }
      return min(found, size)
    } catch {
      switch error {
      // Beyond the last data of a slab, or a file system that cannot tell: then all is data.
      case .noSuchAddressOrDevice: if hole { return offset }
      case .invalidArgument, .notSupported: return hole ? size : offset
      default: break
      }
      throw error
    }
  }

  public func openDescriptor(_ reference: ContentReference) throws(FSError) -> CInt? {
    guard case .file(let number, _) = ContentLocation(reference) else { return nil }
    do throws(Errno) {
      return try files.openForReading(number).release()
    } catch {
      throw failure(error, "open")
    }
  }

  public func remove(_ reference: ContentReference, size: Int64) {
    switch ContentLocation(reference) {
    case .slot(let slab, let page):
      let pages = ContentLocation.pages(for: size)
      slabs[slab].free(page, pages)
      countAllocated(pages: -pages)
    case .file(let number, let pages):
      let counted = rangedPages.withLock { $0.removeValue(forKey: number) }
      files.remove(number)
      countAllocated(pages: -Int(counted ?? Int64(pages)))
    }
  }

  func countAllocated(pages: Int) {
    allocated.add(Int64(pages) * ContentLocation.pageSize, ordering: .relaxed)
  }

  func failure(_ error: Errno, _ verb: String) -> FSError {
    FSError(error, "cannot \(verb) local content in '\(session.path)'")
  }

  private func nextFileNumber() throws(Errno) -> UInt32 {
    let number = nextNumber.add(1, ordering: .relaxed).oldValue
    // After four thousand million large files, each materialization is refused rather than one mistaken for another.
    guard let short = UInt32(exactly: number) else { throw .noSpace }
    return short
  }
}
