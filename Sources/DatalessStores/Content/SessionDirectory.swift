public import DatalessCore
internal import CDatalessLinux
internal import Glibc
internal import Synchronization
public import SystemPackage

/// The directory `<cache>/<session>` that holds one volume's local content, and the proof that its owner is alive.
///
/// It is created 0700 and holds a file `lock`, flocked as long as this object lives: who obtains that lock knows that
/// the owner is dead. Creating and sweeping take `<cache>/.lock` for a moment, so that no sweep meets a directory whose
/// lock is not taken yet. Nothing is ever deleted in place: it is renamed to a trash name first, which is instant
/// whatever its size, and a trash name may be deleted by anybody at any time.
public final class SessionDirectory: Sendable {
  /// `<cache>/<session>`, absolute if `cache` is.
  public let path: FilePath
  /// An open descriptor of the directory; valid as long as this object.
  public var descriptor: CInt { directory.raw }
  public let identity: FileIdentity

  private let cache: CacheDirectory
  private let name: String
  private let directory: OwnedDescriptor
  private let lock: OwnedDescriptor
  private let isRemoved = Atomic<Bool>(false)

  /// Creates the directory, and the cache directory above it if need be (0700).
  ///
  /// - Parameter session: 12 lowercase hexadecimal digits.
  /// - Throws: EINVAL (not a session id), EEXIST (that session has a directory), EACCES, ENOSPC, EROFS, ENOTDIR, and
  ///   EBUSY if another process keeps `<cache>/.lock` for more than two seconds.
  public init(cache: FilePath, session: String) throws(FSError) {
    guard CacheDirectory.isSession(Array(session.utf8)) else {
      throw FSError(.invalidArgument, "'\(session)' is not a session id of 12 hexadecimal digits")
    }
    path = cache.appending(session)
    name = session
    let opened = try CacheDirectory(creating: cache)
    do throws(Errno) {
      let guarded = try opened.takeLock()
      try opened.makeDirectory(session)
      do throws(Errno) {
        directory = try SystemCall.openBeneath(
          opened.descriptor.raw, Array(session.utf8), flags: O_RDONLY | CLINUX_O_DIRECTORY, crossMounts: false)
        lock = try CacheDirectory.createLock(in: directory.raw)
        guard flock(lock.raw, LOCK_EX | LOCK_NB) == 0 else { throw Errno(rawValue: errno) }
        identity = try FileStatus(of: directory.raw).identity
      } catch {
        _ = try? opened.moveToTrash(session)
        throw error
      }
      _ = consume guarded
    } catch {
      throw FSError(error, "cannot create the cache directory '\(path)'")
    }
    self.cache = opened
  }

  /// Removes the directory and all that is in it. Later calls do nothing.
  ///
  /// After the rename, which is the first step, the content is gone for everybody; the deletion of the tree follows on
  /// the calling thread. No symbolic link in it is followed, no other file system entered. May take long: at the end of
  /// the volume, on a thread that is not waited for.
  ///
  /// - Throws: EACCES, EROFS, EIO; what is left then has a trash name and is removed by the next `removeStaleSessions`.
  public func removeAll() throws(FSError) {
    guard !isRemoved.exchange(true, ordering: .acquiringAndReleasing) else { return }
    do throws(Errno) {
      guard let trash = try cache.moveToTrash(name) else { return }
      try TreeRemoval.remove(trash, in: cache.descriptor.raw)
    } catch {
      throw FSError(error, "cannot remove the cache directory '\(path)'")
    }
  }

  /// Removes what dead daemons left in a cache directory: sessions whose lock is free, and trash. May
  /// take long: commands and starting daemons call it.
  ///
  /// Only directories are touched that have a session's name, mode 0700, this user as owner and a lock file in them (or
  /// nothing at all), and trash names: `cache` may be a directory that holds other things too.
  ///
  /// - Returns: Sessions removed. 0 if `cache` does not exist.
  /// - Throws: EACCES, EIO, EBUSY (the cache is locked for more than two seconds).
  public static func removeStaleSessions(in cache: FilePath) throws(FSError) -> Int {
    guard let opened = try CacheDirectory(opening: cache) else { return 0 }
    do throws(Errno) {
      var removed = 0
      let names = try opened.names()
      if !names.contains(where: CacheDirectory.isSession), !names.contains(where: CacheDirectory.isTrash) { return 0 }
      // Sweeping is renaming; deleting comes after the lock is released.
      let guarded = try opened.takeLock()
      for name in names where CacheDirectory.isSession(name) {
        if try opened.sweep(String(decoding: name, as: UTF8.self)) { removed += 1 }
      }
      _ = consume guarded
      for name in try opened.names() where CacheDirectory.isTrash(name) {
        try TreeRemoval.remove(name, in: opened.descriptor.raw)
      }
      return removed
    } catch {
      throw FSError(error, "cannot remove what a dead daemon left in the cache directory '\(cache)'")
    }
  }
}
