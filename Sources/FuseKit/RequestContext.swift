/// Who made a request. C: `struct fuse_ctx`.
public struct RequestContext: Sendable, Hashable {
  /// The calling *thread's* id, in the mounting process' pid namespace; 0 if the caller lives in one we cannot see, or
  /// the kernel itself asks (writeback, some readahead).
  public let threadID: Int32
  /// File system uid and gid of the caller, in the user namespace of the mount.
  public let uid: UInt32
  public let gid: UInt32
  /// The caller's umask; meaningful for create, mkdir and mknod only. With POSIX ACLs the mode comes unmasked and the
  /// umask must be applied by the file system when the parent has no default ACL.
  public let umask: UInt32

  public init(threadID: Int32, uid: UInt32, gid: UInt32, umask: UInt32 = 0) {
    self.threadID = threadID
    self.uid = uid
    self.gid = gid
    self.umask = umask
  }
}
