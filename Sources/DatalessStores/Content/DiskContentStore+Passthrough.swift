internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// What passthrough needs to know of the content files.
extension DiskContentStore {
  public func hasOwnFile(_ id: ContentID) -> Bool {
    if case .file = ContentLocation(id) { true } else { false }
  }

  public func watch(_ id: ContentID) throws(FSError) -> (any ContentWatch)? {
    guard case .file(let number) = ContentLocation(id) else { return nil }
    do throws(Errno) {
      return DiskContentWatch(self, number, descriptor: try files.openToLook(number))
    } catch {
      throw failure(error, "open")
    }
  }

  /// A write lease is granted only to the sole user of a file: EAGAIN while a mapping, or another descriptor, is left.
  ///
  /// Needs CAP_LEASE or the file's owner, which the daemon is. On a file system without leases (EINVAL) nothing can be
  /// said, and the answer is no. Where the file cannot be opened now, somebody may use it.
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
      // Nothing is known of one that is there, and cannot be opened now.
      return error != .noSuchFileOrDirectory
    }
  }
}

/// Looks at a content file through a descriptor that reads nothing: it counts for no lease, and keeps what a look needs
/// in memory, so that none waits for the disk.
private final class DiskContentWatch: ContentWatch {
  private let store: DiskContentStore
  private let number: UInt64
  private let descriptor: OwnedDescriptor

  init(_ store: DiskContentStore, _ number: UInt64, descriptor: consuming OwnedDescriptor) {
    self.store = store
    self.number = number
    self.descriptor = descriptor
  }

  var seesStores: Bool { store.seesStores }

  /// The store, too, knows from then on what the file takes.
  func look() -> ContentStatus? {
    guard let status = try? FileStatus(of: descriptor.raw) else { return nil }
    return ContentStatus(
      extent: store.noteExtent(status, of: number), modificationTime: status.modificationTime)
  }
}
