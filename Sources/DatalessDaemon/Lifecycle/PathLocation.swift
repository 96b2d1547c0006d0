import CDatalessLinux
import DatalessControl
import Glibc

/// Where a path really lies: which directories are above it, and which part of which file system it is.
///
/// Text alone cannot say whether one directory holds another: a symbolic link or a bind mount gives the same directory
/// two names. So two things are compared: device and inode of every directory above (symbolic links, and bind mounts of
/// the inner directory's ancestors), and the path inside the file system (bind mounts of a part of the outer one).
struct PathLocation: Equatable {
  /// One directory, whatever its name.
  struct Identity: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// The path itself when it exists and is a directory, then its ancestors up to the root.
  let directories: [Identity]
  /// `major:minor` of the mount it lies on, and its path from that file system's own root.
  let device: String
  let pathInFileSystem: [UInt8]
  private let exists: Bool

  /// - Parameters:
  ///   - path: Absolute, without symbolic links; need not exist, then its nearest existing ancestor counts.
  ///   - mounts: The mount table.
  init(_ path: [UInt8], mounts: MountTable) {
    var directories: [Identity] = []
    var here = path
    var exists = false
    while true {
      if case .success(let status) = CPath.status(here, follow: false), status.st_mode & S_IFMT == S_IFDIR {
        directories.append(Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
        exists = exists || here == path
      }
      if here == [UInt8(ascii: "/")] { break }
      here = CPath.parent(here)
    }
    self.directories = directories
    self.exists = exists
    let mount = mounts.mount(containing: path)
    device = mount?.device ?? ""
    pathInFileSystem =
      mount.map { PathBytes.join($0.root, PathBytes.relative(path, to: $0.mountPoint)) } ?? path
  }

  /// Whether `other` is this directory or lies below it, by whatever name.
  func contains(_ other: PathLocation) -> Bool {
    if exists, let own = directories.first, other.directories.contains(own) { return true }
    guard !device.isEmpty, device == other.device else { return false }
    return PathBytes.isPrefix(trimmed(pathInFileSystem), of: trimmed(other.pathInFileSystem))
  }

  /// Without the slash that joining a root with an empty rest leaves.
  private func trimmed(_ path: [UInt8]) -> [UInt8] {
    path.count > 1 && path.last == UInt8(ascii: "/") ? Array(path.dropLast()) : path
  }
}

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
