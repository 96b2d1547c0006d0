/// What the kernel and the session agreed on in INIT.
public struct NegotiatedFeatures: Sendable, Hashable {
  /// The kernel's protocol version: 7 and its minor number (45 in Linux 6.18).
  public var kernelMajor: UInt32
  public var kernelMinor: UInt32
  /// The minor number libfuse answered with; newer messages than it knows still work one by one.
  public var libraryMinor: UInt32
  /// Lookups and listings of one directory run at the same time. Without it one parked lookup stops its directory.
  public var parallelDirectoryOperations: Bool
  /// MAP_SHARED works on direct_io opens (Linux 6.6). Without it such a mmap(2) fails with ENODEV.
  public var directIOMapping: Bool
  /// Opens may name a backing file (Linux 6.9). Registering one also needs CAP_SYS_ADMIN.
  public var passthrough: Bool
  /// The file system clears set-id bits itself, which saves a getxattr per write.
  public var handleKillPrivileges: Bool
  public var posixACL: Bool
  /// open(2) with O_TRUNC is one request.
  public var atomicTruncate: Bool
  public var readdirPlus: Bool
  public var cacheSymlinks: Bool
  /// Pages are dropped by notification only, never because a modification time moved.
  public var explicitInvalidation: Bool
  /// Readahead, asynchronous reads and releases the kernel lets wait for us at a time, as asked. An ordinary user's is
  /// cut by the kernel to /sys/module/fuse/parameters/max_user_bgreq, silently.
  public var maxBackground: Int
  public var congestionThreshold: Int
  /// Bytes.
  public var maxReadahead: Int
  /// Bytes of the largest WRITE, and pages of the largest READ times the page size.
  public var maxWrite: Int
}
