internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// The directory that holds the session directories of one user.
struct CacheDirectory: ~Copyable, Sendable {
  private static let lockName = "lock"
  private static let cacheLockName = ".lock"
  private static let trashPrefix = ".trash-"

  let descriptor: OwnedDescriptor

  /// Opens `path`, creating it and what is missing above it, 0700.
  init(creating path: FilePath) throws(FSError) {
    do throws(Errno) {
      var missing: [FilePath] = []
      var directory = path
      while !directory.isEmpty, access(directory.string, F_OK) != 0, errno == ENOENT {
        missing.append(directory)
        directory.removeLastComponent()
      }
      for directory in missing.reversed() {
        let result = directory.withPlatformString { mkdir($0, 0o700) }
        if result != 0, errno != EEXIST { throw Errno(rawValue: errno) }
      }
      descriptor = try Self.open(path)
    } catch {
      throw FSError(error, "cannot create the cache directory '\(path)'")
    }
  }

  /// Opens `path` if it exists.
  init?(opening path: FilePath) throws(FSError) {
    do throws(Errno) {
      descriptor = try Self.open(path)
    } catch {
      if error == .noSuchFileOrDirectory { return nil }
      throw FSError(error, "cannot open the cache directory '\(path)'")
    }
  }

  private static func open(_ path: FilePath) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC
    let result = path.withPlatformString { clinux_openat(CLINUX_AT_FDCWD, $0, flags, 0) }
    return OwnedDescriptor(CInt(try SystemCall.check(result)))
  }

  static func isSession(_ name: [UInt8]) -> Bool {
    name.count == 12 && name.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
  }

  static func isTrash(_ name: [UInt8]) -> Bool {
    name.starts(with: Array(trashPrefix.utf8)) && name.count > trashPrefix.utf8.count + 12
  }

  /// Takes `.lock` of the cache; released with the descriptor.
  ///
  /// Everybody holds it for a few system calls only. A holder that was stopped must not stop everybody else for good, so
  /// this gives up after two seconds.
  func takeLock() throws(Errno) -> OwnedDescriptor {
    let lock = try Self.createLock(in: descriptor.raw, name: Self.cacheLockName)
    for _ in 0..<2000 {
      if flock(lock.raw, LOCK_EX | LOCK_NB) == 0 { return lock }
      let error = errno
      guard error == EWOULDBLOCK || error == EINTR else { throw Errno(rawValue: error) }
      usleep(1000)
    }
    throw .resourceBusy
  }

  static func createLock(in directory: CInt, name: String = lockName) throws(Errno) -> OwnedDescriptor {
    let flags = O_RDWR | O_CREAT | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC | CLINUX_O_NONBLOCK
    return OwnedDescriptor(CInt(try SystemCall.check(clinux_openat(directory, name, flags, 0o600))))
  }

  func makeDirectory(_ name: String) throws(Errno) {
    if mkdirat(descriptor.raw, name, 0o700) != 0 { throw Errno(rawValue: errno) }
  }

  func names() throws(Errno) -> [[UInt8]] {
    var names: [[UInt8]] = []
    if lseek(descriptor.raw, 0, SEEK_SET) < 0 { throw Errno(rawValue: errno) }
    do throws(DirectoryReader.Failure<Never>) {
      try DirectoryReader.forEach(descriptor.raw) { (entry) throws(Never) in names.append(entry.nameBytes) }
    } catch {
      switch error {
      case .system(let error): throw error
      }
    }
    return names
  }

  /// Renames a session directory to a trash name.
  ///
  /// - Returns: That name; nil if there is no such directory any more.
  func moveToTrash(_ name: String) throws(Errno) -> [UInt8]? {
    for _ in 0..<100 {
      let trash = "\(Self.trashPrefix)\(name)-\(UInt32.random(in: 0...UInt32.max))"
      if renameat(descriptor.raw, name, descriptor.raw, trash) == 0 { return Array(trash.utf8) }
      switch errno {
      case ENOENT: return nil
      case EEXIST, ENOTEMPTY, ENOTDIR: continue
      case let error: throw Errno(rawValue: error)
      }
    }
    throw .fileExists
  }

  /// Renames a session directory to trash if its owner is dead. The cache's lock is held by the caller.
  func sweep(_ name: String) throws(Errno) -> Bool {
    let directory: OwnedDescriptor
    do throws(Errno) {
      directory = try SystemCall.openBeneath(
        descriptor.raw, Array(name.utf8), flags: O_RDONLY | CLINUX_O_DIRECTORY, crossMounts: false)
    } catch {
      // Not a directory, a symbolic link, another user's, or gone: not ours to remove.
      return false
    }
    let status = try FileStatus(of: directory.raw)
    guard status.uid == geteuid(), status.mode & 0o7777 == 0o700 else { return false }
    let lock: OwnedDescriptor
    do throws(Errno) {
      lock = try SystemCall.openBeneath(
        directory.raw, Array(Self.lockName.utf8), flags: O_RDWR | CLINUX_O_NONBLOCK, crossMounts: false)
    } catch {
      // Killed between making the directory and its lock: then it is empty. Anything else was not made by us.
      return error == .noSuchFileOrDirectory && unlinkat(descriptor.raw, name, AT_REMOVEDIR) == 0
    }
    guard try FileStatus(of: lock.raw).kind == .file, flock(lock.raw, LOCK_EX | LOCK_NB) == 0 else { return false }
    return try moveToTrash(name) != nil
  }
}
