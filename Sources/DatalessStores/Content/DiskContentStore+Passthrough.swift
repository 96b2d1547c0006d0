internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// What passthrough needs to know of the content files.
extension DiskContentStore {
  public func hasOwnFile(_ id: ContentID) -> Bool {
    if case .file = ContentLocation(id) { true } else { false }
  }

  /// A write lease is granted only to the sole user of a file: EAGAIN while a mapping, or another descriptor, is left.
  ///
  /// Needs CAP_LEASE or the file's owner, which the daemon is. On a file system without leases (EINVAL) nothing can be
  /// said, and the answer is no.
  public func isUsedElsewhere(_ id: ContentID) -> Bool {
    guard case .file(let number) = ContentLocation(id) else { return false }
    files.forget(number)
    do throws(Errno) {
      let descriptor = try files.openForReading(number)
      if fcntl(descriptor.raw, CLINUX_F_SETLEASE, F_WRLCK) == 0 {
        _ = fcntl(descriptor.raw, CLINUX_F_SETLEASE, F_UNLCK)
        return false
      }
      return errno == EAGAIN
    } catch {
      return false
    }
  }
}
