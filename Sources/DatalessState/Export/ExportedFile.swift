import CDatalessLinux
import DatalessCore
import Glibc
import SystemPackage

/// A file that is being written beneath the target. It has its name when it is whole, where the file system can make
/// one without a name; elsewhere from its beginning.
final class ExportedFile {
  private let file: OwnedFile
  private let parent: OwnedFile
  private let name: [CChar]
  private var isNamed: Bool

  var raw: CInt { file.raw }

  /// - Throws: EEXIST (something is there), EACCES, ENOSPC, EROFS, EMFILE.
  init(_ name: [CChar], in parent: OwnedFile) throws(FSError) {
    self.parent = parent
    self.name = name
    var status = stat()
    if fstatat(parent.raw, name, &status, CLINUX_AT_SYMLINK_NOFOLLOW) == 0 { throw Self.isThere }
    let nameless = clinux_openat(parent.raw, ".", O_WRONLY | CLINUX_O_TMPFILE | CLINUX_O_CLOEXEC, 0o600)
    if nameless >= 0 {
      (file, isNamed) = (OwnedFile(CInt(nameless)), false)
      return
    }
    let flags = O_WRONLY | O_CREAT | O_EXCL | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC
    let opened = clinux_openat(parent.raw, name, flags, 0o600)
    guard opened >= 0 else {
      throw opened == -Int(EEXIST) ? Self.isThere : FSError(Errno(rawValue: CInt(-opened)), "cannot make it")
    }
    (file, isNamed) = (OwnedFile(CInt(opened)), true)
  }

  private static let isThere = FSError(.fileExists, "something is there, and stays as it is")

  /// All bytes are in it.
  func finish(mode: mode_t, times: [timespec]?) throws(FSError) {
    if let times, futimens(file.raw, times) != 0 { throw FSError(Errno(rawValue: errno), "cannot set its times") }
    guard fchmod(file.raw, mode) == 0 else { throw FSError(Errno(rawValue: errno), "cannot set its mode") }
    guard !isNamed else { return }
    let result = linkat(CLINUX_AT_FDCWD, "/proc/self/fd/\(file.raw)", parent.raw, name, CLINUX_AT_SYMLINK_FOLLOW)
    let error = errno
    guard result == 0 else {
      throw error == EEXIST ? Self.isThere : FSError(Errno(rawValue: error), "cannot give it its name")
    }
    isNamed = true
  }

  /// Takes away what was made, unless something else has its name by now.
  func discard() {
    guard isNamed, isThere else { return }
    unlinkat(parent.raw, name, 0)
  }

  /// Gives it a further name. - Returns: False if it is not where it was, or something has the name.
  func link(to other: [CChar], in directory: OwnedFile) -> Bool {
    isThere && linkat(parent.raw, name, directory.raw, other, 0) == 0
  }

  private var isThere: Bool {
    var (own, found) = (stat(), stat())
    return fstat(file.raw, &own) == 0 && fstatat(parent.raw, name, &found, CLINUX_AT_SYMLINK_NOFOLLOW) == 0
      && own.st_dev == found.st_dev && own.st_ino == found.st_ino
  }
}
