internal import CDatalessLinux
internal import DatalessCore
internal import Glibc
internal import SystemPackage

/// The directory that holds the session directories of one user.
///
/// It is opened without following any symbolic link, and has to be this user's, with nobody else able to write to it:
/// so every name in it was put there by this user, and stays what it is while it is looked at.
struct CacheDirectory: ~Copyable, Sendable {
  private static let lockName = "lock"
  private static let cacheLockName = ".lock"
  private static let trashPrefix = ".trash-"

  let descriptor: OwnedDescriptor

  /// Opens `path`, creating it and what is missing above it, 0700.
  ///
  /// - Throws: EPERM when it belongs to another user or others can write to it, ELOOP for a symbolic link on the way.
  init(creating path: FilePath) throws(FSError) {
    do throws(Errno) {
      if case .failure(.noSuchFileOrDirectory) = Self.probe(path) { try Self.makeMissing(path) }
    } catch {
      throw FSError(error, "cannot create the cache directory '\(path)'")
    }
    descriptor = try Self.checked(path, "create")
  }

  /// Opens `path` if it exists.
  init?(opening path: FilePath) throws(FSError) {
    do throws(FSError) {
      descriptor = try Self.checked(path, "open")
    } catch {
      if error.errno == .noSuchFileOrDirectory { return nil }
      throw error
    }
  }

  private static func checked(_ path: FilePath, _ verb: String) throws(FSError) -> OwnedDescriptor {
    let opened: OwnedDescriptor
    let status: FileStatus
    do throws(Errno) {
      opened = try Self.open(path)
    } catch {
      throw FSError(error, "cannot \(verb) the cache directory '\(path)'")
    }
    do throws(Errno) {
      status = try FileStatus(of: opened.raw)
    } catch {
      throw FSError(error, "cannot \(verb) the cache directory '\(path)'")
    }
    guard status.uid == geteuid() else {
      throw FSError(
        .notPermitted,
        "cannot use the cache directory '\(path)': it belongs to user \(status.uid). Give one of yours with --cache-dir"
      )
    }
    guard status.mode & 0o022 == 0 else {
      throw FSError(
        .notPermitted,
        "cannot use the cache directory '\(path)': others can write to it. Make it yours alone (chmod go-w), or give another"
          + " with --cache-dir")
    }
    return opened
  }

  private static func probe(_ path: FilePath) -> Result<Void, Errno> {
    var status = stat()
    return path.withPlatformString { lstat($0, &status) } == 0 ? .success(()) : .failure(Errno(rawValue: errno))
  }

  /// Makes what is missing of a path, each directory in the descriptor of the one above.
  private static func makeMissing(_ path: FilePath) throws(Errno) {
    let start = path.isAbsolute ? "/" : "."
    let flags = CLINUX_O_PATH | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC
    var here = OwnedDescriptor(CInt(try SystemCall.check(clinux_openat(CLINUX_AT_FDCWD, start, flags, 0))))
    for component in path.components {
      // Not SystemCall.openBeneath: `..` may lead up, in a relative path.
      let directory = here.raw
      let next = component.withPlatformString { name in
        let all = UInt64(UInt32(bitPattern: flags))
        let opened = clinux_openat2(directory, name, all, 0, CLINUX_RESOLVE_NO_SYMLINKS)
        guard opened == -Int(ENOENT) else { return opened }
        if mkdirat(directory, name, 0o700) != 0, errno != EEXIST { return -Int(errno) }
        return clinux_openat2(directory, name, all, 0, CLINUX_RESOLVE_NO_SYMLINKS)
      }
      here = OwnedDescriptor(CInt(try SystemCall.check(next)))
    }
  }

  private static func open(_ path: FilePath) throws(Errno) -> OwnedDescriptor {
    let flags = UInt64(UInt32(bitPattern: O_RDONLY | CLINUX_O_DIRECTORY | CLINUX_O_CLOEXEC))
    let resolve = CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_MAGICLINKS
    let result = path.withPlatformString { clinux_openat2(CLINUX_AT_FDCWD, $0, flags, 0, resolve) }
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
  /// Everybody holds it for a few system calls only. A holder that was stopped must not stop everybody else for good,
  /// so this gives up after two seconds.
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
