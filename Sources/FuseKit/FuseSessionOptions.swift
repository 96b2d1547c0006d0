/// How a session mounts and what it asks the kernel for. The defaults suit a volume whose answers may be parked for
/// long.
public struct FuseSessionOptions: Sendable, Hashable {
  /// What mountinfo shows as the source. Any bytes but NUL; empty means `subtype`.
  public var source: [UInt8]
  /// The file system type is shown as `fuse.<subtype>`. Not empty, no comma.
  public var subtype: String
  /// Other users may use the volume. An ordinary user needs `user_allow_other` in /etc/fuse.conf. Default: false.
  public var allowOther = false
  /// The kernel checks modes, owners and ACLs itself, and sends no access requests. Default: true.
  public var defaultPermissions = true
  /// Every change fails with EROFS in the kernel, without a request; reads then do not move access times either, and
  /// send no getattr after them. Default: false.
  public var readOnly = false
  /// Set-id bits have no effect. An ordinary user cannot switch this off. Default: true.
  public var noSetID = true
  /// Device nodes cannot be opened. An ordinary user cannot switch this off. Default: true.
  public var noDevices = true
  /// Access times are never updated. Default: false.
  public var noAccessTime = false
  /// The most bytes of one READ; nil leaves it to the kernel (1 MiB, from `maxWrite`).
  public var maxRead: UInt32?
  /// The most bytes of one WRITE, and of one READ: 4096...1_048_576, rounded up to pages. Default: 1 MiB.
  public var maxWrite: UInt32 = 1 << 20
  /// Readahead in bytes; the kernel cuts it to its own (128 KiB unless changed in /sys/class/bdi). Default: 1 MiB.
  public var maxReadahead: UInt32 = 1 << 20
  /// Readaheads, asynchronous reads and releases that may be under way at once. Parked replies count, and with the
  /// usual 12 a dozen of them would stall every other reader and release. Default: 65,535, the most there is.
  public var maxBackground: UInt16 = .max
  /// Listings come with attributes (READDIRPLUS, always). Off: `readdir` is called instead. Default: true.
  public var readdirPlus = true
  /// Ask for passthrough of opens to backing files. Default: false.
  public var passthrough = false

  public init(source: [UInt8], subtype: String) {
    self.source = source
    self.subtype = subtype
  }
}
