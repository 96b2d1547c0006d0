internal import CDatalessLinux
public import DatalessCore
public import SystemPackage

/// What statx(2) says about one item, with the mount it lies on.
///
/// statx rather than stat because only it tells a mount point of the same device (a bind mount) from a plain directory.
struct FileStatus {
  private var raw: clinux_statx

  private static let mask = CLINUX_STATX_BASIC_STATS | CLINUX_STATX_BTIME | CLINUX_STATX_MNT_ID

  /// Looks at an open descriptor, O_PATH ones included. Whatever the file system remembers of its attributes, it asks
  /// for them again (NFS, CIFS, FUSE; to a local one it is the same): what was read is of a version only if this is
  /// true now.
  init(of descriptor: CInt) throws(Errno) {
    var status = clinux_statx()
    let flags = CLINUX_AT_EMPTY_PATH | CLINUX_AT_STATX_FORCE_SYNC
    _ = try SystemCall.check(clinux_statx_call(descriptor, "", flags, Self.mask, &status))
    raw = status
  }

  /// Looks at one name of a directory; a symbolic link is not followed, an automount not triggered. What the kernel
  /// remembers will do: it would be a question to the server for each name, and what is wrong in a listing the fetch
  /// finds out.
  init(of name: UnsafePointer<CChar>, in directory: CInt) throws(Errno) {
    var status = clinux_statx()
    let flags = CLINUX_AT_SYMLINK_NOFOLLOW | CLINUX_AT_NO_AUTOMOUNT
    _ = try SystemCall.check(clinux_statx_call(directory, name, flags, Self.mask, &status))
    raw = status
  }

  /// Looks at a path, symbolic links followed.
  init(following path: FilePath) throws(Errno) {
    var status = clinux_statx()
    let result = path.withPlatformString { text in
      clinux_statx_call(CLINUX_AT_FDCWD, text, 0, CLINUX_STATX_BASIC_STATS, &status)
    }
    _ = try SystemCall.check(result)
    raw = status
  }

  /// st_dev in the encoding of glibc's makedev(3).
  var device: UInt64 { Self.number(major: raw.device_major, minor: raw.device_minor) }
  var inode: UInt64 { raw.inode }
  var identity: FileIdentity { FileIdentity(device: device, inode: inode) }
  var mode: UInt32 { UInt32(raw.mode) }
  var uid: UInt32 { raw.uid }
  var linkCount: UInt32 { raw.link_count }
  var size: Int64 { Int64(bitPattern: raw.size) }
  /// Units of 512 bytes.
  var blocks: Int64 { Int64(bitPattern: raw.blocks) }
  /// As `ItemAttributes.birth`.
  var birth: UInt64 {
    guard raw.mask & CLINUX_STATX_BTIME != 0 else { return 0 }
    return UInt64(bitPattern: raw.birth_time.seconds) &* 1_000_000_000 &+ UInt64(raw.birth_time.nanoseconds)
  }
  var kind: ItemKind? { ItemKind(rawValue: UInt8((mode >> 12) & 0xf)) }
  var modificationTime: Timestamp { Self.time(raw.modification_time) }
  var isDirectory: Bool { kind == .directory }

  /// Which mount the item lies on; nil before Linux 5.8.
  var mount: UInt64? { raw.mask & CLINUX_STATX_MNT_ID != 0 ? raw.mount_id : nil }

  /// Whether the item lies on another mount than one whose status is `other`; by device where mounts cannot be told.
  func isOnOtherMount(than other: FileStatus) -> Bool {
    if let mine = mount, let theirs = other.mount { return mine != theirs }
    return device != other.device
  }

  /// The metadata as the volume shows it.
  ///
  /// - Parameter home: st_dev of the store's root. An item of another device gets a number of its own, see
  ///   `ForeignInode`.
  func attributes(home: UInt64) -> ItemAttributes {
    ItemAttributes(
      device: device, inode: device == home ? raw.inode : ForeignInode.number(device: device, inode: raw.inode),
      mode: mode, linkCount: raw.link_count, uid: raw.uid, gid: raw.gid,
      specialDevice: Self.number(major: raw.special_major, minor: raw.special_minor), size: size, blocks: blocks,
      accessTime: Self.time(raw.access_time), modificationTime: Self.time(raw.modification_time),
      changeTime: Self.time(raw.change_time), birth: birth)
  }

  private static func time(_ time: clinux_statx_time) -> Timestamp {
    Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds)
  }

  private static func number(major: UInt32, minor: UInt32) -> UInt64 {
    let (major, minor) = (UInt64(major), UInt64(minor))
    return (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~0xff) << 12 | (major & ~0xfff) << 32
  }
}

/// What a file is, whatever its name: the numbers that stat(2) calls st_dev and st_ino.
public struct FileIdentity: Sendable, Hashable {
  public var device: UInt64
  public var inode: UInt64

  public init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  /// The identity of what `path` names, symbolic links followed.
  ///
  /// - Throws: ENOENT, ENOTDIR, EACCES, ELOOP and the other errnos of stat(2).
  public init(of path: FilePath) throws(FSError) {
    do throws(Errno) {
      self = try FileStatus(following: path).identity
    } catch {
      throw FSError(error, "cannot look at '\(path)'")
    }
  }
}

/// Inode numbers for items whose device is not that of SOURCE itself.
///
/// Two file systems use the same numbers for different files, while st_ino must be unique on the volume. The number is
/// a hash of (device, inode) with bit 63 set, which no local file system uses: the same at each mount, without any
/// table.
enum ForeignInode {
  static func number(device: UInt64, inode: UInt64) -> UInt64 {
    var value = device &* 0x9e37_79b9_7f4a_7c15 ^ inode
    // The finalizer of splitmix64: each input bit moves each output bit.
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return (value ^ (value >> 31)) | 1 << 63
  }
}
