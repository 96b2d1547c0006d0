/// Names one file's content in a content store; opaque outside it, never given twice while the store is open. Eight
/// bytes, kept in the namespace's record.
public struct ContentID: Sendable, Hashable, BitwiseCopyable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  /// No content. No store gives it.
  public static let none = ContentID(rawValue: 0)
}

/// Local content of resident files.
///
/// What is said to be of the blocking I/O lane is also called by request threads that do a short fetch themselves, if
/// the store is prompt (`Engine.materialize`).
///
/// Content has one of three beginnings. `makeWriter` is for what is fetched whole: it becomes visible by
/// `ContentWriter.commit()`, so that what an id names is complete by construction, also after SIGKILL. `makeRanged` is
/// for what is fetched in ranges: the caller knows which of it may be read. `makeWritable` is for what a program
/// writes: it has a file of its own from its first byte on, and only it can be resized.
public protocol ContentStore: Sendable {
  /// As `BackingStore.isFastLocal`.
  var isFastLocal: Bool { get }

  /// Starts writing the content of one file of `size` bytes (at least 1). Blocking I/O lane.
  ///
  /// - Throws: ENOSPC or EDQUOT (no room), EIO.
  func makeWriter(size: Int64) throws(FSError) -> any ContentWriter

  /// Makes room for content of `size` bytes (at least 1) that comes in ranges; it reads as zeros until they are
  /// written. Blocking I/O lane. What of it may be read is for the caller to know.
  ///
  /// - Throws: ENOSPC or EDQUOT (no room), EMFILE, EIO.
  func makeRanged(size: Int64) throws(FSError) -> ContentID

  /// Makes content that may be written and resized, in a file of its own, whatever its size. Blocking I/O lane.
  ///
  /// - Parameters:
  ///   - size: In bytes, 0 or more.
  ///   - original: Content whose bytes it begins with, as far as both reach; it stays as it is.
  /// - Throws: ENOSPC or EDQUOT (no room), EFBIG, EMFILE, EIO; then nothing was made.
  func makeWritable(size: Int64, copying original: ContentID?) throws(FSError) -> ContentID

  /// Makes content of these bytes where that is much cheaper than content that may be written to (`makeWritable`): of
  /// few bytes. As `makeWriter`.
  ///
  /// - Returns: nil for more bytes, and where nothing is cheaper.
  func makeFixed(_ bytes: UnsafeRawBufferPointer) throws(FSError) -> ContentID?

  /// Writes parts of what `makeRanged` or `makeWritable` made. Several may at once; of ranged content, as long as they
  /// write the same bytes. Blocking I/O lane.
  ///
  /// - Throws: EMFILE, EIO.
  func rangeWriter(_ id: ContentID) throws(FSError) -> any RangeWriter

  /// The size of content, in bytes. Any lane. - Throws: ENOENT (there is no such content), and nothing else says that.
  func size(of id: ContentID) throws(FSError) -> Int64

  /// Reads content; fewer bytes only at its end. Any lane: local disk, no store, no lock held long. - Throws: EIO,
  /// EMFILE.
  func read(
    _ id: ContentID, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int

  /// SEEK_DATA (`hole` false) or SEEK_HOLE on content; ENXIO when there is no further data.
  func seek(_ id: ContentID, from offset: Int64, hole: Bool) throws(FSError) -> Int64

  /// Cuts writable content off, or lets it grow by a hole. Blocking I/O lane.
  ///
  /// - Returns: What it takes then.
  /// - Throws: EINVAL (not made by `makeWritable`, or a size below 0), EFBIG, EIO; the size is the old one then.
  @discardableResult
  func resize(_ id: ContentID, to size: Int64) throws(FSError) -> ContentExtent

  /// Writes into content that has a file of its own, which grows if it ends before. Any thread that may wait for the
  /// disk.
  ///
  /// - Returns: How many bytes were written, at least 1 of those that there are: fewer if the disk is full then; and
  ///   what the content takes now.
  /// - Throws: EINVAL (in a slab, or an offset below 0), EFBIG, ENOSPC, EDQUOT, EMFILE, EIO; then nothing was written.
  func write(
    _ id: ContentID, _ bytes: UnsafeRawBufferPointer, at offset: Int64
  ) throws(FSError) -> (count: Int, extent: ContentExtent)

  /// Makes room for a range of content that has a file of its own, or a hole, or zeros. As `write`.
  ///
  /// - Throws: EINVAL, EOPNOTSUPP (the disk's file system cannot), EFBIG, ENOSPC, EDQUOT, EMFILE, EIO.
  func allocate(_ id: ContentID, _ kind: AllocationKind, range: Range<Int64>) throws(FSError)

  /// What content takes, in a file of its own. Any lane. - Throws: EINVAL (in a slab), EMFILE, EIO.
  func extent(of id: ContentID) throws(FSError) -> ContentExtent

  /// Has the content, and its name in the store, on the disk before it returns. Blocking I/O lane; may take long.
  ///
  /// - Throws: EIO, ENOSPC, EDQUOT: what was written since the last `sync` may be lost, whatever a later one says.
  func sync(_ id: ContentID) throws(FSError)

  /// Whether the content lies in a file that holds nothing else, as passthrough needs it. Any lane, at once.
  func hasOwnFile(_ id: ContentID) -> Bool

  /// Whether a process still maps or reads the content's own file past the daemon, which no request tells. Blocking I/O
  /// lane.
  ///
  /// Passthrough only: RELEASE comes at close(2) while a mapping lives on. Asked when no handle is open.
  func isUsedElsewhere(_ id: ContentID) -> Bool

  /// A descriptor of a content file that holds exactly this content, for passthrough; nil if it lies in a slab.
  ///
  /// The caller closes it.
  func openDescriptor(_ id: ContentID) throws(FSError) -> CInt?

  /// A look at content that others may write to past the daemon, as often as wanted. Blocking I/O lane.
  ///
  /// - Returns: nil for what lies in a slab.
  /// - Throws: EMFILE, EIO.
  func watch(_ id: ContentID) throws(FSError) -> (any ContentWatch)?

  /// Gives back the space of content that no reader can reach any more. Blocking I/O lane. Never fails: what cannot be
  /// freed now is freed with the store. Of an id that names nothing, nothing happens.
  func remove(_ id: ContentID)

  /// As `remove` of each of them. Content that lies side by side goes in one piece.
  func remove(_ ids: [ContentID])

  /// Bytes allocated on disk for content.
  var allocatedBytes: Int64 { get }
}

extension ContentStore {
  public func makeFixed(_ bytes: UnsafeRawBufferPointer) throws(FSError) -> ContentID? { nil }
  public func remove(_ ids: [ContentID]) { for id in ids { remove(id) } }

  public func watch(_ id: ContentID) throws(FSError) -> (any ContentWatch)? { nil }
}

/// Shows what content takes, and when it was written to. Called under the engine's lock: it never waits.
public protocol ContentWatch: AnyObject, Sendable {
  /// nil if nothing can be said.
  func look() -> ContentStatus?

  /// Whether whatever is written to the content moves its modification time: stores into a mapping, too.
  var seesStores: Bool { get }
}

extension ContentWatch {
  public var seesStores: Bool { false }
}

/// What content says of itself.
public struct ContentStatus: Sendable, Equatable {
  public var extent: ContentExtent
  /// When its bytes were changed last, by whomever.
  public var modificationTime: Timestamp

  public init(extent: ContentExtent, modificationTime: Timestamp) {
    self.extent = extent
    self.modificationTime = modificationTime
  }
}

/// What content takes.
public struct ContentExtent: Sendable, Equatable {
  /// In bytes.
  public var size: Int64
  /// On the disk, in units of 512 bytes.
  public var blocks: Int64

  public init(size: Int64, blocks: Int64) {
    self.size = size
    self.blocks = blocks
  }
}

/// Content on its way in. Used by one thread at a time, on the blocking I/O lane; ended by `commit` or `discard`.
public protocol ContentWriter: AnyObject, Sendable {
  /// Writes bytes at an offset. Ranges never written read as zeros.
  ///
  /// - Throws: ENOSPC, EDQUOT, EIO.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError)

  /// Copies `range` from another file.
  ///
  /// - Returns: Bytes copied; fewer than `range.count` only if the source ended before.
  func copy(from descriptor: CInt, range: Range<Int64>) throws(FSError) -> Int64

  /// Shares the extents of the whole source file (FICLONE).
  ///
  /// - Returns: False where the file systems cannot; then nothing was written.
  func clone(from descriptor: CInt) -> Bool

  /// Makes the content readable under the returned id. - Throws: ENOSPC, EIO; the content is discarded then.
  func commit() throws(FSError) -> ContentID

  /// Drops what was written. Never fails.
  func discard()
}

/// Writes parts of content. Used by one thread at a time, on the blocking I/O lane.
public protocol RangeWriter: AnyObject, Sendable {
  /// Writes bytes at an offset, within the content's size.
  ///
  /// - Throws: EINVAL (beyond the end), ENOSPC, EDQUOT, EIO; what was there before stays.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError)

  /// Nothing more will be written. Called once; never fails.
  func finish()
}
