import CDatalessLinux
import DatalessCore
import Glibc
import SystemPackage

/// The directories beneath the target that lead to the one that is being filled. Each is opened in the one above it, by
/// descriptor, so that nobody who renames or replaces something meanwhile has anything written elsewhere.
struct ExportDirectories {
  /// LIMIT: directories that stay open. The deeper ones are found again by `..`, and have to be the same.
  static let openMax = 64

  private struct Level {
    let device: dev_t
    let inode: ino_t
    var file: OwnedFile?
    /// Nobody else may use what was made here until all is in it.
    let mode: mode_t?
    let times: [timespec]?
  }

  private var levels: [Level]

  init(target: CInt) throws(FSError) {
    let copy = clinux_openat(target, ".", O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC, 0)
    guard copy >= 0 else { throw FSError(Errno(rawValue: CInt(-copy)), "cannot use the target") }
    levels = [try Self.level(OwnedFile(CInt(copy)), mode: nil, times: nil)]
  }

  private static func level(_ file: OwnedFile, mode: mode_t?, times: [timespec]?) throws(FSError) -> Level {
    var status = stat()
    guard fstat(file.raw, &status) == 0 else { throw FSError(Errno(rawValue: errno), "cannot look at it") }
    return Level(device: status.st_dev, inode: status.st_ino, file: file, mode: mode, times: times)
  }

  /// The directory that is being filled.
  func current() throws(FSError) -> OwnedFile {
    guard let file = levels.last?.file else {
      throw FSError(.staleNFSFileHandle, "a directory above it was moved meanwhile")
    }
    return file
  }

  /// Goes into a directory of the current one, which is made if there is none. `leave` follows, unless this throws.
  ///
  /// - Parameters:
  ///   - mode: For one that is made, at `leave`; one that is there stays as it is. nil: 0700.
  ///   - times: Of access and change, likewise.
  /// - Returns: Whether it was made.
  mutating func enter(_ name: [UInt8], mode: mode_t?, times: [timespec]?) throws(FSError) -> Bool {
    let parent = try current()
    let text = name.map { CChar(bitPattern: $0) } + [0]
    let isMade = mkdirat(parent.raw, text, 0o700) == 0
    let error = errno
    guard isMade || error == EEXIST else { throw FSError(Errno(rawValue: error), "cannot make the directory") }
    let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV
    let flags = UInt64(UInt32(bitPattern: O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC))
    let opened = clinux_openat2(parent.raw, text, flags, 0, resolve)
    guard opened >= 0 else {
      throw FSError(Errno(rawValue: CInt(-opened)), "cannot use what is there as a directory")
    }
    let file = OwnedFile(CInt(opened))
    if !isMade { try Self.checkIsOurs(file) }
    let level = try Self.level(file, mode: isMade ? mode : nil, times: isMade ? times : nil)
    if levels.count > Self.openMax { levels[levels.count - 1].file = nil }
    levels.append(level)
    return isMade
  }

  /// In a directory that somebody else can change, what is written could be anything by the time it is read.
  private static func checkIsOurs(_ file: OwnedFile) throws(FSError) {
    var status = stat()
    guard fstat(file.raw, &status) == 0 else { throw FSError(Errno(rawValue: errno), "cannot look at it") }
    guard status.st_uid == geteuid() else {
      throw FSError(.notPermitted, "it is there, and belongs to user \(status.st_uid)")
    }
    guard status.st_mode & 0o022 == 0 else {
      throw FSError(.notPermitted, "it is there, and others can write to it")
    }
  }

  /// Goes back to the directory above.
  ///
  /// - Throws: What could not be done for the directory that is left. The one above is the current one all the same.
  mutating func leave() throws(FSError) {
    guard levels.count > 1, let level = levels.popLast() else { return }
    guard let file = level.file else { return }
    if levels[levels.count - 1].file == nil { levels[levels.count - 1].file = above(file) }
    if let times = level.times, futimens(file.raw, times) != 0 {
      throw FSError(Errno(rawValue: errno), "cannot set its times")
    }
    if let mode = level.mode, fchmod(file.raw, mode) != 0 {
      throw FSError(Errno(rawValue: errno), "cannot set its mode")
    }
  }

  /// nil if the directory is not where it was.
  private func above(_ file: OwnedFile) -> OwnedFile? {
    let opened = clinux_openat(file.raw, "..", O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC, 0)
    guard opened >= 0, let expected = levels.last else { return nil }
    let parent = OwnedFile(CInt(opened))
    var status = stat()
    guard fstat(parent.raw, &status) == 0, status.st_dev == expected.device, status.st_ino == expected.inode else {
      return nil
    }
    return parent
  }
}
