internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import Synchronization
public import SystemPackage

/// A directory of the local machine as backing store, read without ever changing it, and never left.
///
/// SOURCE is opened once. Every item is opened below that one descriptor by openat2(2) with RESOLVE_BENEATH and
/// RESOLVE_NO_SYMLINKS, so that neither a rename nor a symbolic link put in its place leads outside, and its identity
/// is compared with what was listed before a byte of it is used.
///
/// The store stays on the mount of SOURCE unless told otherwise: another mount is shown as an empty directory, or left
/// out if it is mounted on something else than a directory. Items of another device on the same mount (a Btrfs
/// subvolume, a layer of overlayfs) are served; like those of crossed mounts they carry their real `device`, and as
/// `inode` a hash with bit 63 set, so that st_ino stays unique on the volume. The hash is computed again from fstat
/// when an item is checked.
///
/// An inode number that SOURCE gives to another item is told by the time of birth, and, once something was fetched, by
/// the generation (`LocalStore.generation`), as far as its file system has them.
///
/// A change of SOURCE is seen by size, mtime and ctime. LIMIT: before Linux 6.13 times move in steps of a clock tick (1
/// to 10 ms), so that a file rewritten at the same size within the very tick in which it was listed looks unchanged.
public final class LocalStore: BackingStore {
  public let root: ItemAttributes

  /// The absolute path of SOURCE; bytes that are not UTF-8 as U+FFFD.
  public let sourceName: String

  /// What keeps SOURCE from being changed.
  public let protection: SourceProtection

  /// Whether SOURCE lies on a local file system and is all there is: with crossed mounts there may be others below it.
  public let isFastLocal: Bool

  /// Whether the handles of its file system tell an item from a later one with the same inode number.
  let hasGenerations: Bool

  let source: SourceRoot
  let rootStatus: FileStatus
  let crossMounts: Bool
  let excluded: Set<FileIdentity>

  private let unprotectedOpens = Atomic<Int>(0)
  private let unreadable = Atomic<Int>(0)
  private let mountPoints = Mutex<Set<FileIdentity>>([])

  /// Opens SOURCE.
  ///
  /// - Parameters:
  ///   - source: A directory; a relative path is taken from the working directory.
  ///   - crossMounts: Whether other file systems mounted below SOURCE are part of it. Default: no.
  ///   - excluded: Items left out of every listing: our own cache, log and state directories, if they lie in SOURCE.
  /// - Throws: ENOENT, ENOTDIR, EACCES or another errno of open(2), with a message that names SOURCE.
  public init(
    source path: FilePath, crossMounts: Bool = false, excluded: [FileIdentity] = []
  ) throws(FSError) {
    let opened = try SourceRoot(path: path)
    do throws(Errno) {
      rootStatus = try FileStatus(of: opened.descriptor.raw)
    } catch {
      throw FSError(error, "SOURCE '\(opened.name)' cannot be looked at")
    }
    root = rootStatus.attributes(home: rootStatus.device)
    sourceName = opened.name
    protection = opened.protection
    let isLocal = FastLocalFileSystems.contains(opened.descriptor.raw)
    isFastLocal = !crossMounts && isLocal
    hasGenerations = isLocal || FastLocalFileSystems.isNFS(opened.descriptor.raw)
    source = opened
    self.crossMounts = crossMounts
    self.excluded = Set(excluded)
  }

  /// SOURCE's own metadata now: it stays the directory that was opened, wherever that has been moved.
  public func currentRoot() throws(FSError) -> ItemAttributes {
    do throws(Errno) {
      return try FileStatus(of: source.descriptor.raw).attributes(home: rootStatus.device)
    } catch {
      throw FSError(error, "SOURCE '\(sourceName)' cannot be looked at")
    }
  }

  /// How often something was read that O_NOATIME could not be had for, so that its access time may have moved. Always 0
  /// with `SourceProtection.readOnlyClone`.
  public var atimeUnprotectedOpens: Int { unprotectedOpens.load(ordering: .relaxed) }

  /// How many names so far had a stat that failed: shown with the type the directory gives, mode 0 and size 0.
  public var unreadableEntries: Int { unreadable.load(ordering: .relaxed) }

  /// How many different mount points were met so far and shown empty, or left out.
  public var otherFileSystems: Int { mountPoints.withLock { $0.count } }

  /// Size and free space of the file system that SOURCE lies on. May wait for a disk or another machine: asked
  /// once, before the mount.
  ///
  /// - Throws: EIO, ESTALE and the other errnos of statvfs(3).
  public func statistics() throws(FSError) -> FileSystemStatistics {
    var status = statvfs()
    if fstatvfs(source.descriptor.raw, &status) != 0 {
      let error = Errno(rawValue: errno)
      throw FSError(error, "cannot read the size of the file system of '\(sourceName)'")
    }
    return FileSystemStatistics(
      blockSize: UInt64(status.f_bsize), fragmentSize: UInt64(status.f_frsize), blocks: UInt64(status.f_blocks),
      freeBlocks: UInt64(status.f_bfree), availableBlocks: UInt64(status.f_bavail), files: UInt64(status.f_files),
      freeFiles: UInt64(status.f_ffree), nameMax: UInt64(status.f_namemax))
  }

  func countUnprotectedOpen() { unprotectedOpens.add(1, ordering: .relaxed) }
  func countUnreadable() { unreadable.add(1, ordering: .relaxed) }
  func remember(mountPoint: FileIdentity) { mountPoints.withLock { _ = $0.insert(mountPoint) } }
}

/// What statvfs(3) says about the file system of a backing store.
public struct FileSystemStatistics: Sendable, Hashable {
  /// f_bsize: preferred transfer size in bytes.
  public var blockSize: UInt64
  /// f_frsize: the unit of the three block counts, in bytes.
  public var fragmentSize: UInt64
  public var blocks: UInt64
  public var freeBlocks: UInt64
  /// f_bavail: free blocks for ordinary users.
  public var availableBlocks: UInt64
  /// Inodes in all; 0 where the file system does not count them.
  public var files: UInt64
  public var freeFiles: UInt64
  /// f_namemax: longest name in bytes.
  public var nameMax: UInt64

  public init(
    blockSize: UInt64, fragmentSize: UInt64, blocks: UInt64, freeBlocks: UInt64, availableBlocks: UInt64,
    files: UInt64, freeFiles: UInt64, nameMax: UInt64
  ) {
    self.blockSize = blockSize
    self.fragmentSize = fragmentSize
    self.blocks = blocks
    self.freeBlocks = freeBlocks
    self.availableBlocks = availableBlocks
    self.files = files
    self.freeFiles = freeFiles
    self.nameMax = nameMax
  }
}

extension StoreBinding {
  /// The path for messages: `.` for the root, bytes that are not UTF-8 as U+FFFD.
  var displayPath: String { Self.display(key) }

  static func display(_ path: [UInt8]) -> String {
    path.isEmpty ? "." : String(decoding: path, as: UTF8.self)
  }
}
