/// Where bytes come from, for a store that is far away: as `BackingStore`, but a call that waits for an answer keeps no
/// thread, so that thousands may wait at the same time.
///
/// The calls of one attempt are made by one task. Content is asked for on the executor of the blocking I/O lane, all
/// else on that of the metadata lane; what a store does between its own waits must be short there. When nobody wants
/// the answer any more, the task is cancelled: a store gives up what it has under way, and throws; which error does not
/// matter then.
public protocol AsyncBackingStore: Sendable {
  /// As `BackingStore.root`.
  var root: ItemAttributes { get }

  /// The metadata of the root directory as it is now. - Throws: as `list`.
  func currentRoot() async throws(FSError) -> ItemAttributes

  /// As `BackingStore.sourceName`.
  var sourceName: String { get }

  /// Begins to list one directory, one level, in the store's own order.
  ///
  /// - Parameter directory: The directory as last listed. Size, mtime and ctime may have moved since; identity may not.
  /// - Throws: `FSError` with ENOENT (gone), ESTALE (replaced by another item), ENOTDIR, EACCES, ETIMEDOUT, EIO.
  func list(_ directory: StoreBinding) async throws(FSError) -> any AsyncStoreListing

  /// Opens the content of one regular file, checking that it is still the listed version.
  ///
  /// - Throws: `FSError` with ENOENT (gone), ESTALE (another version, another file, or no longer a regular file),
  ///   EACCES, ETIMEDOUT, EIO.
  func open(_ file: StoreBinding) async throws(FSError) -> any AsyncStoreContent

  /// Reads the target of a symbolic link. - Throws: ENOENT, ESTALE, EINVAL (not a link), EIO.
  func readLink(_ link: StoreBinding) async throws(FSError) -> [UInt8]

  /// Value of one extended attribute, ACLs included. - Throws: ENODATA (no such attribute), EOPNOTSUPP, ENOENT, ESTALE.
  func extendedAttribute(_ name: [UInt8], of item: StoreBinding) async throws(FSError) -> [UInt8]

  /// Names of all extended attributes that `listxattr` shows. - Throws: as `extendedAttribute`, except ENODATA.
  func extendedAttributeNames(of item: StoreBinding) async throws(FSError) -> [[UInt8]]

  /// The generation of an item, as `StoreContent.generation`; 0, too, if the item is gone or another one has its path.
  func generation(of item: StoreBinding) async -> UInt32
}

/// One listing under way: pages that are asked for one after the other. Used by one task; released when it is through
/// or given up.
public protocol AsyncStoreListing: AnyObject, Sendable {
  /// The next entries, never `.` or `..`; nil after the last ones. Once nil was returned or an error thrown, nobody
  /// asks again.
  ///
  /// - Throws: as `AsyncBackingStore.list`.
  func next() async throws(FSError) -> ListingBatch?
}

/// The open content of one version of one file. Used by one task. Ranges are mostly asked for in order, so that a store
/// may read ahead.
public protocol AsyncStoreContent: AnyObject, Sendable {
  /// As `StoreContent.generation`.
  var generation: UInt32 { get }

  /// As `StoreContent.nextData`.
  func nextData(from offset: Int64) async throws(FSError) -> Range<Int64>?

  /// The bytes of a range, or its first ones; none only at the end of content. They are the caller's when they have
  /// come: while a store waits, nobody keeps a buffer ready for them.
  func read(_ range: Range<Int64>) async throws(FSError) -> [UInt8]

  /// Checks after the last byte, before commit, that the version is still the listed one. - Throws: ESTALE, EIO.
  func verify() async throws(FSError)

  /// Gives back what is held for this content. Called exactly once; nothing else is called afterwards. Returns at once:
  /// a cancelled task could not wait for anything here.
  func close()
}

extension AsyncBackingStore {
  /// Of a store whose root never changes.
  public func currentRoot() async throws(FSError) -> ItemAttributes { root }

  /// Of a store that has none.
  public func generation(of item: StoreBinding) async -> UInt32 { 0 }
}

extension AsyncStoreContent {
  public var generation: UInt32 { 0 }
}
