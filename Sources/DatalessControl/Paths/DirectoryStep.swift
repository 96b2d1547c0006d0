import CDatalessLinux
import Glibc
import SystemPackage

/// One directory on the way to another: held by a descriptor (O_PATH), so that no name can change under the walk.
///
/// Nothing here asks a file system anything but for the next name: what the kernel knows of owner and mode has to do.
final class DirectoryStep: Sendable {
  struct Facts {
    let owner: UInt32
    let mode: UInt32
    let mount: UInt64?

    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    var isLink: Bool { mode & S_IFMT == S_IFLNK }
    /// Whether others than its owner may change names in it; with the sticky bit only their own.
    var isOpenToAll: Bool { mode & 0o022 != 0 && mode & UInt32(S_ISVTX) == 0 }
  }

  /// For messages; absolute.
  let path: [UInt8]
  let facts: Facts
  private let descriptor: CInt

  private init(_ descriptor: CInt, _ path: [UInt8]) throws(UntrustedPath) {
    self.descriptor = descriptor
    self.path = path
    do throws(Errno) {
      facts = try Self.facts(of: descriptor)
    } catch {
      close(descriptor)
      throw UntrustedPath(path, .system(error))
    }
  }

  deinit { close(descriptor) }

  /// The root of this process.
  static func root() throws(UntrustedPath) -> DirectoryStep {
    try DirectoryStep(
      opened(CLINUX_AT_FDCWD, name: [UInt8(ascii: "/")], path: [UInt8(ascii: "/")]), [UInt8(ascii: "/")])
  }

  /// What a name stands for: a directory, a link or anything else; a link is not followed.
  func child(_ name: [UInt8]) throws(UntrustedPath) -> DirectoryStep {
    let path = PathBytes.join(path, name)
    return try DirectoryStep(Self.opened(descriptor, name: name, path: path), path)
  }

  /// Makes a directory; one that is there already is no error.
  func make(_ name: [UInt8], mode: mode_t) throws(UntrustedPath) {
    let code = (name + [0]).withUnsafeBytes {
      mkdirat(descriptor, $0.assumingMemoryBound(to: CChar.self).baseAddress!, mode)
    }
    let number = errno
    guard code == 0 || number == EEXIST else {
      // The directory above is what stands against it.
      throw UntrustedPath(number == EROFS ? path : PathBytes.join(path, name), .system(Errno(rawValue: number)))
    }
  }

  /// Where this link points to.
  func target() throws(UntrustedPath) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes {
      clinux_readlinkat(descriptor, "", $0.assumingMemoryBound(to: CChar.self).baseAddress!, $0.count)
    }
    guard count > 0 else { throw UntrustedPath(path, .system(Errno(rawValue: CInt(-count)))) }
    return Array(buffer[..<count])
  }

  /// A descriptor with which the directory can be read; the caller's to close.
  func reopened() throws(UntrustedPath) -> CInt {
    let result = clinux_openat(descriptor, ".", O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC, 0)
    guard result >= 0 else { throw UntrustedPath(path, .system(Errno(rawValue: CInt(-result)))) }
    return CInt(result)
  }

  private static func opened(_ directory: CInt, name: [UInt8], path: [UInt8]) throws(UntrustedPath) -> CInt {
    let result = (name + [0]).withUnsafeBytes {
      clinux_openat(
        directory, $0.assumingMemoryBound(to: CChar.self).baseAddress!,
        CLINUX_O_PATH | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC, 0)
    }
    guard result >= 0 else { throw UntrustedPath(path, .system(Errno(rawValue: CInt(-result)))) }
    return CInt(result)
  }

  static func facts(of descriptor: CInt) throws(Errno) -> Facts {
    var status = clinux_statx()
    let result = clinux_statx_call(
      descriptor, "", CLINUX_AT_EMPTY_PATH | CLINUX_AT_STATX_DONT_SYNC,
      CLINUX_STATX_BASIC_STATS | CLINUX_STATX_MNT_ID, &status)
    guard result >= 0 else { throw Errno(rawValue: CInt(-result)) }
    return Facts(
      owner: status.uid, mode: UInt32(status.mode),
      mount: status.mask & CLINUX_STATX_MNT_ID != 0 ? status.mount_id : nil)
  }
}
