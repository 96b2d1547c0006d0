/// Where bytes come from: names, metadata and content of a tree that the volume presents as dataless.
///
/// Every call may block (disk, network). Content is read on the blocking I/O lane, listings and other metadata on the
/// metadata lane; if the store is prompt, both also on a few request threads at a time. A store adds neither latency
/// nor faults: the engine applies those around the calls, so that a measured store time is the store's own. A store
/// never changes what it reads from.
public protocol BackingStore: Sendable {
  /// The metadata of the root directory, read when the store was opened.
  var root: ItemAttributes { get }

  /// The metadata of the root directory as it is now. - Throws: as `list`.
  func currentRoot() throws(FSError) -> ItemAttributes

  /// Human-readable name of the source: an absolute path, or the synthetic specification.
  var sourceName: String { get }

  /// Whether a small file or a listing takes no longer than a local disk does, so that it may be fetched on a request
  /// thread. False for whatever may wait for another machine or another process.
  var isFastLocal: Bool { get }

  /// Lists one directory, one level, in the store's own order.
  ///
  /// - Parameters:
  ///   - directory: The directory as last listed. Size, mtime and ctime may have moved since; identity may not.
  ///   - sink: Receives entries in batches of at most `ListingBatch.entriesMax`, on the calling thread. Never `.` or
  ///     `..`.
  /// - Throws: `FSError` with ENOENT (gone), ESTALE (replaced by another item), ENOTDIR, EACCES, EIO, or what `sink`
  ///   throws (EINTR when the attempt was abandoned).
  func list(_ directory: StoreBinding, into sink: (ListingBatch) throws(FSError) -> Void) throws(FSError)

  /// Opens the content of one regular file, checking that it is still the listed version.
  ///
  /// - Throws: `FSError` with ENOENT (gone), ESTALE (another version, another file, or no longer a regular file),
  ///   EACCES, EIO.
  func open(_ file: StoreBinding) throws(FSError) -> any StoreContent

  /// Reads the target of a symbolic link. - Throws: ENOENT, ESTALE, EINVAL (not a link), EIO.
  func readLink(_ link: StoreBinding) throws(FSError) -> [UInt8]

  /// Value of one extended attribute, ACLs included. - Throws: ENODATA (no such attribute), EOPNOTSUPP, ENOENT, ESTALE.
  func extendedAttribute(_ name: [UInt8], of item: StoreBinding) throws(FSError) -> [UInt8]

  /// Names of all extended attributes that `listxattr` shows. - Throws: as `extendedAttribute`, except ENODATA.
  func extendedAttributeNames(of item: StoreBinding) throws(FSError) -> [[UInt8]]

  /// The generation of an item, as `StoreContent.generation`; 0, too, if the item is gone or another one has its path.
  func generation(of item: StoreBinding) -> UInt32
}

/// The open content of one version of one file. Used by one thread at a time: of the blocking
/// I/O lane, or, if the store is prompt, a request thread.
public protocol StoreContent: AnyObject, Sendable {
  /// A descriptor that pread(2) or FICLONE may read from at the same offsets; nil for computed content.
  var descriptor: CInt? { get }

  /// What tells the item from others that had, or will have, its inode number, in a few bits, beside its time of birth
  /// (two may be born in one tick of the clock): of a disk's file, its generation as name_to_handle_at(2) shows it. 0
  /// if there is none.
  var generation: UInt32 { get }

  /// The next run of data at or after `offset`, or nil when only a hole is left up to the listed size.
  ///
  /// Holes need not be fetched: they read as zeros. A store that cannot tell answers `offset..<size`.
  func nextData(from offset: Int64) throws(FSError) -> Range<Int64>?

  /// Fills `buffer` from `offset`; fewer bytes only at end of content. Zero before the listed size means it shrank.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FSError) -> Int

  /// Checks after the last byte, before commit, that the version is still the listed one. - Throws: ESTALE, EIO.
  func verify() throws(FSError)

  /// Releases the descriptor. Called exactly once; nothing else is called afterwards.
  func close()
}

extension BackingStore {
  /// Of a store whose root never changes.
  public func currentRoot() throws(FSError) -> ItemAttributes { root }

  /// Of a store that has none.
  public func generation(of item: StoreBinding) -> UInt32 { 0 }
}

extension StoreContent {
  public var generation: UInt32 { 0 }
}
