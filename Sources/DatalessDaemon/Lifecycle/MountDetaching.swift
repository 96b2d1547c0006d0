import CDatalessLinux
import DatalessControl
import Glibc

/// umount2(2) of one mount and no other, whatever its path has come to mean.
enum MountDetaching {
  enum Outcome: Equatable {
    case done
    /// Nothing of FUSE is mounted there any more.
    case nothingThere
    case failed(CInt)
  }

  /// Detaches the uppermost FUSE mount at a path; what is open on it goes with its last user.
  ///
  /// The path may lead through directories of other users, who can put a link to any other mount in their place. So the
  /// mountpoint is opened without following links (O_PATH, which asks no daemon), and only if what was opened is the mount of the
  /// mount table it is detached, by its descriptor.
  static func detach(_ mountpoint: [UInt8]) -> Outcome {
    guard let table = try? MountTable.current(), let entry = table.mount(containing: mountpoint),
      entry.mountPoint == mountpoint, entry.fileSystemType.hasPrefix("fuse")
    else { return .nothingThere }
    let flags = UInt64(UInt32(bitPattern: CLINUX_O_PATH | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW))
    let opened = CPath.with(mountpoint) {
      clinux_openat2(
        CLINUX_AT_FDCWD, $0, flags, 0, CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS)
    }
    guard opened >= 0 else { return .failed(CInt(-opened)) }
    let descriptor = CInt(opened)
    defer { close(descriptor) }
    guard mountID(of: descriptor) == entry.mountID else { return .failed(ESTALE) }
    let lazily: CInt = 2
    return umount2("/proc/self/fd/\(descriptor)", lazily) == 0 ? .done : .failed(errno)
  }

  /// From /proc rather than statx(2), which asks the file system, and with it a daemon that may be dead.
  private static func mountID(of descriptor: CInt) -> Int? {
    guard let bytes = try? FileBytes.read("/proc/self/fdinfo/\(descriptor)") else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "mnt_id:".utf8) {
      let digits = line.dropFirst("mnt_id:".utf8.count).filter { $0 > 0x20 }
      return Int(String(decoding: digits, as: UTF8.self))
    }
    return nil
  }
}
