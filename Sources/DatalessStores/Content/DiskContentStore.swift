internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import Synchronization
public import SystemPackage

/// Local content in a directory: files up to 128 KiB in slabs, larger ones, and those that are written to, in a file of
/// their own.
///
/// A slab saves the creation, rename and closing of a file per small content; passthrough needs a file of its own for
/// what is worth it. What an id names was committed, hence complete. Nothing is flushed to the disk but by `sync`.
///
/// The store does not know how long it lives: whoever made its directory removes it, or has the store of the next run
/// take it over (`Lifetime.kept`).
///
/// Thread-safe. No lock is held across a disk call, except when a new slab file is made (once per 16 GiB).
public final class DiskContentStore: ContentStore {
  /// How long the content is wanted.
  public enum Lifetime: Sendable {
    /// It is removed with its directory: the slabs' tables are in memory only.
    case session
    /// Another store will find it: the slabs' tables are written beside them.
    case kept
    /// As `kept`, for who only looks: nothing on the disk is changed, and nothing is to be made or removed.
    case looked
  }

  public let isFastLocal: Bool
  /// As `ContentWatch`.
  let seesStores: Bool
  let slabs: SlabSet
  let files: ContentFiles
  let directory: OwnedDescriptor
  let path: FilePath
  /// Of the directory with the content; valid as long as this object.
  public var descriptor: CInt { directory.raw }
  /// What was found of an earlier run.
  public let adoption: ContentAdoption
  private let nextNumber: Atomic<UInt64>
  private let allocated: Atomic<Int64>

  /// Starts a store in a directory `content`: a new one, or, if content is kept, what an earlier run has left there
  /// (`adoption`). RLIMIT_NOFILE decides, once, how many descriptors of large content stay open: a quarter of it, at
  /// most 1,024.
  ///
  /// - Parameters:
  ///   - parent: A descriptor of the directory in which `content` is made; not used after this call.
  ///   - path: Of the parent, for messages.
  /// - Throws: EEXIST (there is a store in it, and content is not kept), EPERM (what is there is not this user's
  ///   alone), ELOOP, ENOTDIR, ENOSPC, EDQUOT, EACCES, EROFS, EIO.
  public convenience init(in parent: CInt, path: FilePath, lifetime: Lifetime) throws(FSError) {
    try self.init(
      in: parent, path: path, lifetime: lifetime, slabCapacity: Slab.defaultCapacity, places: ContentFiles.defaultPlaces
    )
  }

  /// - Parameters:
  ///   - slabCapacity: Pages of 4 KiB per slab.
  ///   - places: The most descriptors kept open for reading.
  convenience init(
    in parent: CInt, path: FilePath, lifetime: Lifetime, slabCapacity: UInt32, places: Int
  ) throws(FSError) {
    do throws(Errno) {
      let isNew = lifetime != .looked && mkdirat(parent, "content", 0o700) == 0
      let error = lifetime == .looked ? EEXIST : errno
      guard isNew || (error == EEXIST && lifetime != .session) else { throw Errno(rawValue: error) }
      let directory = try SystemCall.openBeneath(
        parent, Array("content".utf8), flags: O_RDONLY | CLINUX_O_DIRECTORY, crossMounts: false)
      let found = isNew ? FoundContent() : try FoundContent(in: directory.raw, isLooking: lifetime == .looked)
      self.init(
        directory, path: path, slabCapacity: slabCapacity, places: places, isKept: lifetime == .kept, found: found)
    } catch {
      throw FSError(error, "cannot start a content store in '\(path)'")
    }
  }

  init(
    _ directory: consuming OwnedDescriptor, path: FilePath, slabCapacity: UInt32, places: Int, isKept: Bool,
    found: FoundContent
  ) {
    isFastLocal = FastLocalFileSystems.contains(directory.raw)
    seesStores = FastLocalFileSystems.seesStores(directory.raw)
    slabs = SlabSet(in: directory.raw, capacity: slabCapacity, isKept: isKept, found: found.slabs)
    files = ContentFiles(in: directory.raw, places: places)
    for (number, record) in found.files { files.records.add(number, record) }
    nextNumber = Atomic(found.nextNumber)
    allocated = Atomic(found.pages * ContentLocation.pageSize)
    adoption = found.report
    self.directory = directory
    self.path = path
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
      return try makeFileWriter(size: size)
    } catch {
      throw noRoom(error, size)
    }
  }

  func noRoom(_ error: Errno, _ size: Int64) -> FSError {
    FSError(error, "cannot make room for \(size) bytes in the cache '\(path)'")
  }

  public func remove(_ id: ContentID) {
    switch ContentLocation(id) {
    case nil: break
    case .slot(let slab, let page, let use):
      if let pages = slabs[slab]?.remove(page, use: use) { countAllocated(pages: -pages) }
    case .file(let number):
      guard let record = files.records.remove(number) else { return }
      files.remove(number)
      countAllocated(pages: -Int(record.pages))
    }
  }

  public func remove(_ ids: [ContentID]) {
    var slots: [UInt16: [(page: UInt32, use: UInt16)]] = [:]
    for id in ids {
      guard case .slot(let slab, let page, let use) = ContentLocation(id) else {
        remove(id)
        continue
      }
      slots[slab, default: []].append((page, use))
    }
    for (slab, contents) in slots {
      if let pages = slabs[slab]?.remove(contents), pages > 0 { countAllocated(pages: -pages) }
    }
  }

  func countAllocated(pages: Int) {
    allocated.add(Int64(pages) * ContentLocation.pageSize, ordering: .relaxed)
  }

  func failure(_ error: Errno, _ verb: String) -> FSError {
    FSError(error, "cannot \(verb) local content in '\(path)'")
  }

  func makeFileWriter(size: Int64) throws(Errno) -> FileWriter {
    try FileWriter(self, number: takeNumber(), size: size)
  }

  /// A number that no file has had.
  func takeNumber() -> UInt64 { nextNumber.add(1, ordering: .relaxed).oldValue }
}
