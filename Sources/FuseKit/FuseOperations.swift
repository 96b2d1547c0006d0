/// A file system, as the kernel asks for it: one method per request of the low-level protocol.
///
/// Methods are called on the session's threads, many at a time, in any order. They must not block: answer at once, or
/// park the reply and return. Names, bytes and buffers passed in are valid during the call only. Each reply type offers
/// the legal answers of its request, and fail(errno) is legal for all; errnos reach the caller as they are, so they
/// should be ones the man page of the call knows.
///
/// Every request has a default. ENOSYS as an answer is more than an errno for some: the kernel remembers it for the
/// whole mount and never asks again. The defaults use that where the kernel's own substitute is what a file system
/// without the operation wants (flush, fsync, xattrs, create, lseek, ...), and answer otherwise where it would do harm
/// (open, opendir, statfs).
public protocol FuseOperations: AnyObject, Sendable {
  /// INIT is about to be answered. Nothing else is called before this returns.
  func initialized(_ features: NegotiatedFeatures)

  /// The session is over and its device closed; no method is called any more.
  func destroyed()

  // MARK: Names

  /// Resolves a name. Answer: the entry, which counts as one lookup; absent, for a time; ENOENT. Default: ENOENT.
  func lookup(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply)

  /// Gives lookups back; there is no answer. A node whose lookups are all given back is not named again by the kernel
  /// until it is looked up anew. The root is never forgotten, and an unmount forgets nothing. Default: nothing.
  func forget(_ nodes: UnsafeBufferPointer<ForgottenNode>)

  /// Answer: the target. Default: EINVAL, readlink(2)'s errno for what is no link.
  func readlink(_ node: FuseNode, context: RequestContext, reply: consuming LinkReply)

  /// Creates a file, FIFO, socket or device. Answer: the new entry. Default: EPERM, as mknod(2) says.
  ///
  /// - Parameters:
  ///   - mode: Type and permissions; see `RequestContext.umask`.
  ///   - device: st_rdev for devices.
  func mknod(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, device: UInt64, context: RequestContext,
    reply: consuming EntryReply)

  /// Answer: the new entry. Default: EPERM.
  func mkdir(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, context: RequestContext, reply: consuming EntryReply)

  /// Answer: success. The node lives on while lookups or opens of it are held. Default: EPERM.
  func unlink(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply)

  /// Answer: success. Default: EPERM.
  func rmdir(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply)

  /// Answer: the new entry. Default: EPERM, as symlink(2) says for file systems without symbolic links.
  func symlink(
    _ name: FuseName, in parent: FuseNode, target: FuseName, context: RequestContext, reply: consuming EntryReply)

  /// Answer: success; EINVAL for flags not supported. Default: EPERM.
  func rename(
    _ name: FuseName, in parent: FuseNode, to newName: FuseName, in newParent: FuseNode, flags: RenameFlags,
    context: RequestContext, reply: consuming EmptyReply)

  /// Makes another name of an existing node. Answer: the entry of that node, which counts as a lookup. Default: EPERM,
  /// as link(2) says for file systems without hard links.
  func link(
    _ node: FuseNode, as name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply)

  // MARK: Attributes

  /// Answer: the attributes. Default: ENOENT.
  ///
  /// - Parameter handle: The open through which fstat(2) asked, if the kernel says so.
  func getattr(_ node: FuseNode, handle: FuseHandle?, context: RequestContext, reply: consuming AttributesReply)

  /// Answer: the attributes after the change. Default: EPERM.
  func setattr(
    _ node: FuseNode, changes: AttributeChanges, context: RequestContext, reply: consuming AttributesReply)

  /// access(2) and chdir(2), only without `defaultPermissions`. Answer: success or EACCES. Default: ENOSYS, which the
  /// kernel remembers as "always granted".
  ///
  /// - Parameter mask: R_OK, W_OK, X_OK, or F_OK (0).
  func access(_ node: FuseNode, mask: Int32, context: RequestContext, reply: consuming EmptyReply)

  /// Answer: the statistics. Default: all zero with names up to 255 bytes, so that df(1) works.
  func statfs(_ node: FuseNode, context: RequestContext, reply: consuming StatisticsReply)

  // MARK: Files

  /// Opens a file that exists; O_CREAT, O_EXCL and O_NOCTTY never get here, O_TRUNC does. Answer: a handle. Default:
  /// handle 0 with the cache kept. Never ENOSYS, which makes the kernel open all files of the mount by itself from
  /// then on.
  ///
  /// - Parameter flags: The flags of open(2).
  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply)

  /// Creates and opens a file. Answer: entry and handle. Default: ENOSYS, after which the kernel uses mknod and open.
  func create(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext,
    reply: consuming CreateReply)

  /// Creates and opens a file without a name, which `link` may give one (O_TMPFILE). Answer: entry, with no link, and
  /// handle. Default: ENOSYS, remembered as EOPNOTSUPP. Never called where the session is mounted read-only.
  ///
  /// - Parameter parent: In which file system, and for whose rights, the file is made.
  func tmpfile(
    in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext, reply: consuming CreateReply)

  /// Answer: data. Default: EIO.
  func read(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply)

  /// Answer: how much was written. Default: EIO. Clears set-id bits where the context says so.
  func write(_ node: FuseNode, _ request: WriteRequest, context: RequestContext, reply: consuming WriteReply)

  /// A descriptor was closed; there can be many for one open, and later uses of it. Answer: success, or what close(2)
  /// shall say. Default: ENOSYS, remembered as success.
  func flush(
    _ node: FuseNode, handle: FuseHandle, lockOwner: UInt64, context: RequestContext, reply: consuming EmptyReply)

  /// The last use of an open is gone; one for each answered open. Comes after close(2) has returned. Answer: success;
  /// an errno reaches nobody. Default: success.
  func release(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply)

  /// Answer: success. Default: ENOSYS, remembered as success.
  ///
  /// - Parameter dataOnly: fdatasync(2).
  func fsync(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply)

  /// SEEK_DATA and SEEK_HOLE. Answer: the offset; ENXIO beyond the end. Default: ENOSYS, remembered as "all data".
  func lseek(
    _ node: FuseNode, handle: FuseHandle, offset: Int64, target: SeekTarget, context: RequestContext,
    reply: consuming SeekReply)

  /// Answer: how much was copied. Default: ENOSYS, after which the kernel copies by reading and writing.
  func copyFileRange(_ request: CopyRequest, context: RequestContext, reply: consuming WriteReply)

  /// Answer: success. Default: ENOSYS, remembered as EOPNOTSUPP.
  ///
  /// - Parameter mode: FALLOC_FL_*.
  func fallocate(
    _ node: FuseNode, handle: FuseHandle, mode: Int32, offset: Int64, length: Int64, context: RequestContext,
    reply: consuming EmptyReply)

  /// Answer: a result. Default: ENOTTY, ioctl(2)'s errno for what a file does not know.
  func ioctl(
    _ node: FuseNode, handle: FuseHandle, command: UInt32, input: UnsafeRawBufferPointer, outputSize: Int,
    context: RequestContext, reply: consuming IoctlReply)

  // MARK: Directories

  /// Answer: a handle. Default: handle 0. Never ENOSYS, which makes the kernel cache all listings of the mount for
  /// good.
  func opendir(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply)

  /// Lists names from a cookie on. Answer: a buffer. Default: ENOTDIR. Not called when `readdirplus` is in use.
  ///
  /// - Parameter cookie: 0 for the start, else the `nextCookie` of the last entry the caller has.
  func readdir(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply)

  /// Lists names with their entries, each counting as a lookup once the answer is taken. Answer: a buffer. Default:
  /// ENOTDIR.
  func readdirplus(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply)

  /// As `release`, for directories. Default: success.
  func releasedir(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply)

  /// As `fsync`, for directories. Default: ENOSYS, remembered as success.
  func fsyncdir(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply)

  // MARK: Extended attributes

  /// Answer: success. Default: ENOSYS, remembered as EOPNOTSUPP.
  ///
  /// - Parameter flags: XATTR_CREATE (1), XATTR_REPLACE (2).
  func setxattr(
    _ node: FuseNode, name: FuseName, value: UnsafeRawBufferPointer, flags: Int32, context: RequestContext,
    reply: consuming EmptyReply)

  /// Answer: the value; ENODATA if there is none. Default: ENOSYS, remembered as EOPNOTSUPP.
  func getxattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming XattrReply)

  /// Answer: all names, each with its NUL. Default: ENOSYS, remembered as EOPNOTSUPP.
  func listxattr(_ node: FuseNode, context: RequestContext, reply: consuming XattrReply)

  /// Answer: success; ENODATA if there is none. Default: ENOSYS, remembered as EOPNOTSUPP.
  func removexattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming EmptyReply)
}
