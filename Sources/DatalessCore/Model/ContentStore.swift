/// Where one file's content lies in a content store; opaque outside it. Eight bytes, kept in the namespace's record.
public struct ContentReference: Sendable, Hashable, BitwiseCopyable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Local content of resident files.
///
/// What is said to be of the blocking I/O lane is also called by request threads that do a short fetch themselves, if the
/// store is prompt (`Engine.materialize`).
///
/// Content becomes visible only by `ContentWriter.commit()`: what a reference names is complete by construction, also
/// after SIGKILL.
public protocol ContentStore: Sendable {
  /// As `BackingStore.isFastLocal`.
  var isFastLocal: Bool { get }

  /// Starts writing the content of one file of `size` bytes (at least 1). Blocking I/O lane.
  ///
  /// - Throws: ENOSPC or EDQUOT (no room), EIO.
  func makeWriter(size: Int64) throws(FSError) -> any ContentWriter

  /// Reads committed content; fewer bytes only at the end of the content. Any lane: local disk, no store, no lock held long.
  ///
  /// - Parameter size: The size that was given to `makeWriter`.
  func read(
    _ reference: ContentReference, size: Int64, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int

  /// SEEK_DATA (`hole` false) or SEEK_HOLE on committed content; ENXIO when there is no further data.
  func seek(_ reference: ContentReference, size: Int64, from offset: Int64, hole: Bool) throws(FSError) -> Int64

  /// Whether the content lies in a file that holds nothing else, as passthrough needs it. Any lane, at once.
  func hasOwnFile(_ reference: ContentReference) -> Bool

  /// Whether a process still maps or reads the content's own file past the daemon, which no request tells. Blocking I/O lane.
  ///
  /// Passthrough only: RELEASE comes at close(2) while a mapping lives on. Asked when no handle is open.
  func isUsedElsewhere(_ reference: ContentReference) -> Bool

  /// A descriptor of a content file that holds exactly this content, for passthrough; nil if it lies in a slab.
  ///
  /// The caller closes it.
  func openDescriptor(_ reference: ContentReference) throws(FSError) -> CInt?

  /// Gives back the space of committed content that no reader can reach any more. Blocking I/O lane. Never fails:
  /// what cannot be freed now is freed with the store.
  func remove(_ reference: ContentReference, size: Int64)

  /// Makes room for content of `size` bytes (at least 1) that comes in ranges; it reads as zeros until they are written. Blocking
  /// I/O lane. What of it may be read is for the caller to know.
  ///
  /// - Throws: ENOSPC or EDQUOT (no room), EMFILE, EIO.
  func makeRanged(size: Int64) throws(FSError) -> ContentReference

  /// Writes ranges of what `makeRanged` made. Several may at once, as long as they write the same bytes. Blocking I/O lane.
  ///
  /// - Throws: EMFILE, EIO.
  func rangeWriter(_ reference: ContentReference, size: Int64) throws(FSError) -> any RangeWriter

  /// Bytes allocated on disk for committed content.
  var allocatedBytes: Int64 { get }
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

  /// Makes the content readable under the returned reference. - Throws: ENOSPC, EIO; the content is discarded then.
  func commit() throws(FSError) -> ContentReference

  /// Drops what was written. Never fails.
  func discard()
}

/// Writes ranges of content. Used by one thread at a time, on the blocking I/O lane.
public protocol RangeWriter: AnyObject, Sendable {
  /// Writes bytes at an offset. - Throws: ENOSPC, EDQUOT, EIO; what was there before stays.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int64) throws(FSError)

  /// Nothing more will be written. Called once; never fails.
  func finish()
}
