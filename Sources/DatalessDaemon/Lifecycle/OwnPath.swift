import CDatalessLinux
import DatalessControl
import Glibc

/// Paths of our own directories and files, without symbolic links that somebody else made.
enum OwnPath {
  /// Follows links that root or this user made; another user's link is left in the path, and whoever opens it without
  /// following links is refused (ELOOP).
  ///
  /// - Returns: nil for a path that cannot be resolved, such as a loop of links.
  static func resolve(_ path: [UInt8], mounts: MountTable? = nil) -> [UInt8]? {
    guard let mounts = try? mounts ?? MountTable.current() else { return nil }
    return try? resolver(mounts).resolve(path)
  }

  static func resolver(_ mounts: MountTable) -> PathResolver {
    PathResolver(mounts: mounts, readLink: { target(of: $0) })
  }

  private static func target(of path: [UInt8]) -> [UInt8]? {
    let flags = CLINUX_O_PATH | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC
    let link = CPath.with(path) { CInt(truncatingIfNeeded: clinux_openat(CLINUX_AT_FDCWD, $0, flags, 0)) }
    guard link >= 0 else { return nil }
    defer { close(link) }
    var status = stat()
    guard fstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, [0, geteuid()].contains(status.st_uid) else {
      return nil
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes {
      clinux_readlinkat(link, "", $0.assumingMemoryBound(to: CChar.self).baseAddress!, $0.count)
    }
    return count > 0 ? Array(buffer[..<count]) : nil
  }
}
