internal import CDatalessLinux
internal import Glibc
internal import SystemPackage

/// What lies in a state directory, by name.
enum StateName {
  static let marker = "dataless-state"
  static let newMarker = "dataless-state.new"
  static let lock = "lock"
  static let catalog = "catalog.sqlite"
  static let newCatalog = "catalog.sqlite.new"
  static let damagedCatalog = "catalog.sqlite.damaged"
  /// A catalog that takes the place of a damaged one, complete: as long as it is there, `catalog` and what is beside it
  /// are the damaged one's.
  static let rescuedCatalog = "catalog.sqlite.rescued"
  static let content = "content"
  /// As long as it is there, the directory is a copy from which not all was left out that is to be.
  static let unfinished = "unfinished"
  static let log = "log"
  /// As `SessionMark`.
  static let session = "session"
  /// What SQLite puts beside a database.
  static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Every file that we make; `content` is a directory.
  static let files: Set<String> = Set(
    [marker, newMarker, lock, log, session, unfinished]
      + [catalog, newCatalog, damagedCatalog, rescuedCatalog].flatMap { name in suffixes.map { name + $0 } })
}

/// A descriptor that is closed with its last user.
final class OwnedFile: Sendable {
  let raw: CInt
  init(_ raw: CInt) { self.raw = raw }
  deinit { close(raw) }
}

/// System calls below one directory: no link is followed, no open waits.
struct StateFiles: Sendable {
  /// Valid as long as whoever has opened it keeps it.
  let directory: CInt

  struct Status {
    let isFile: Bool
    let isDirectory: Bool
    let uid: UInt32
    let mode: UInt32
    let linkCount: UInt32
    let size: Int64
  }

  /// - Parameter name: nil for the directory itself.
  func status(_ name: String?) throws(Errno) -> Status {
    var status = stat()
    let result =
      name.map { fstatat(directory, $0, &status, CLINUX_AT_SYMLINK_NOFOLLOW) } ?? fstat(directory, &status)
    let error = errno
    guard result == 0 else { throw Errno(rawValue: error) }
    let type = status.st_mode & S_IFMT
    return Status(
      isFile: type == S_IFREG, isDirectory: type == S_IFDIR, uid: status.st_uid, mode: status.st_mode & 0o7777,
      linkCount: UInt32(truncatingIfNeeded: status.st_nlink), size: Int64(status.st_size))
  }

  func exists(_ name: String) throws(Errno) -> Bool {
    do throws(Errno) {
      _ = try status(name)
      return true
    } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      return false
    }
  }

  func open(_ name: String, _ flags: CInt) throws(Errno) -> CInt {
    let all = flags | CLINUX_O_NOFOLLOW | CLINUX_O_CLOEXEC | CLINUX_O_NONBLOCK | O_NOCTTY
    let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV
    let result = clinux_openat2(
      directory, name, UInt64(UInt32(bitPattern: all)), flags & O_CREAT != 0 ? 0o600 : 0, resolve)
    guard result >= 0 else { throw Errno(rawValue: CInt(-result)) }
    return CInt(result)
  }

  func names() throws(Errno) -> [[UInt8]] {
    let copy = try open(".", O_RDONLY | CLINUX_O_DIRECTORY)
    guard let stream = fdopendir(copy) else {
      let error = errno
      close(copy)
      throw Errno(rawValue: error)
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [0x2e] && name != [0x2e, 0x2e] { names.append(name) }
    }
    return names
  }

  /// A small file, whole. - Throws: EFBIG for a larger one than `limit`.
  func read(_ name: String, limit: Int) throws(Errno) -> [UInt8] {
    let file = try open(name, O_RDONLY)
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: limit + 1)
    let count = Glibc.read(file, &buffer, buffer.count)
    let error = errno
    guard count >= 0 else { throw Errno(rawValue: error) }
    guard count <= limit else { throw .fileTooLarge }
    return Array(buffer[..<count])
  }

  /// Makes a file with some bytes, on the disk when it returns.
  func write(_ name: String, _ bytes: [UInt8]) throws(Errno) {
    let file = try open(name, O_WRONLY | O_CREAT | O_TRUNC)
    defer { close(file) }
    let count = Glibc.write(file, bytes, bytes.count)
    let error = errno
    guard count == bytes.count else { throw count < 0 ? Errno(rawValue: error) : .noSpace }
    try sync(file)
  }

  /// On the disk when it returns.
  func rename(_ from: String, to: String) throws(Errno) {
    guard renameat(directory, from, directory, to) == 0 else { throw Errno(rawValue: errno) }
    try sync(directory)
  }

  func remove(_ name: String) { unlinkat(directory, name, 0) }

  func sync(_ descriptor: CInt) throws(Errno) {
    while fsync(descriptor) != 0 {
      let error = errno
      if error != EINTR { throw Errno(rawValue: error) }
    }
  }

  func sync(file name: String) throws(Errno) {
    let file = try open(name, O_RDONLY)
    defer { close(file) }
    try sync(file)
  }

  /// Where SQLite finds a name of this directory: it takes paths only. The directory was checked, and so were those
  /// above it by whoever has opened it, so that nobody else can change what the path means.
  func path(_ name: String) -> String { "/proc/self/fd/\(directory)/\(name)" }
}
