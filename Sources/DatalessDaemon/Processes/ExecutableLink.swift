import CDatalessLinux
import DatalessCore
import Glibc

/// The path that /proc/PID/exe shows, without what Linux puts behind it once the executable has lost that name.
///
/// A file may be called `x (deleted)`, too: then the whole path leads to what is executed. Request threads ask that,
/// and the executable may lie on our own volume. So nothing is asked of a file system: the path is followed as far as
/// the kernel has it cached, as it has the names of all that is executed, and of attributes what it knows has to do.
enum ExecutableLink {
  // LIMIT: a file that is called so loses the end of its name before Linux 5.12, which has no such way to look, and
  // where it runs in another mount namespace, whose paths lead elsewhere here.
  private static let resolve =
    CLINUX_RESOLVE_CACHED | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS

  /// How much of the path is that of the executable.
  ///
  /// - Parameters:
  ///   - path: What readlink(2) said of the link, all of it.
  ///   - link: The link, as a path from `directory`.
  static func length(
    of path: UnsafeBufferPointer<UInt8>, link: UnsafePointer<CChar>, in directory: CInt
  ) -> Int {
    // Nearly all end here.
    guard path.last == UInt8(ascii: ")"), let plain = DeletedMark.removed(from: Array(path)) else { return path.count }
    return leads(Array(path), to: link, in: directory) ? path.count : plain.count
  }

  private static func leads(_ path: [UInt8], to link: UnsafePointer<CChar>, in directory: CInt) -> Bool {
    guard path.first == UInt8(ascii: "/"), let descriptor = open(path) else { return false }
    defer { close(descriptor) }
    guard let executed = Identity(of: link, in: directory) else { return false }
    return Identity(of: "", in: descriptor, flags: CLINUX_AT_EMPTY_PATH) == executed
  }

  /// A descriptor of what the path leads to; nil where the kernel would have to ask for it.
  private static func open(_ path: [UInt8]) -> CInt? {
    let flags = UInt64(UInt32(bitPattern: CLINUX_O_PATH | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC))
    // Somebody who renames at the same moment spoils a look, also where all is cached.
    for _ in 0..<3 {
      let result = CPath.with(path) { clinux_openat2(CLINUX_AT_FDCWD, $0, flags, 0, resolve) }
      if result >= 0 { return CInt(result) }
      guard result == -Int(EAGAIN) else { return nil }
    }
    return nil
  }

  private struct Identity: Equatable {
    let major: UInt32
    let minor: UInt32
    let inode: UInt64

    /// nil on any failure.
    init?(of path: UnsafePointer<CChar>, in directory: CInt, flags: CInt = 0) {
      var status = clinux_statx()
      let all = flags | CLINUX_AT_STATX_DONT_SYNC | CLINUX_AT_NO_AUTOMOUNT
      guard clinux_statx_call(directory, path, all, CLINUX_STATX_BASIC_STATS, &status) == 0 else { return nil }
      (major, minor, inode) = (status.device_major, status.device_minor, status.inode)
    }
  }
}
