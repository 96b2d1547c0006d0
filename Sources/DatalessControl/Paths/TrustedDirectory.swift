import CDatalessLinux
import Glibc
import SystemPackage

/// A directory that belongs to whom it should and that nobody else can change, held by a descriptor.
///
/// Everything that commands and daemons do below a runtime or log directory goes through one: names are looked up in
/// the descriptor, never through a path, links are not followed, files must be regular and the owner's, and no open
/// waits. So what another user prepares, or swaps while we look, is refused and never read, written, locked or removed.
public final class TrustedDirectory: Sendable {
  /// For messages; absolute.
  public let path: [UInt8]
  public let owner: UInt32
  /// Valid as long as this object.
  public let descriptor: CInt

  private init(taking descriptor: CInt, path: [UInt8], owner: UInt32) {
    self.descriptor = descriptor
    self.path = path
    self.owner = owner
  }

  deinit { close(descriptor) }

  /// Checks a directory that was walked to.
  convenience init(_ step: DirectoryStep, owner: UInt32, others: Others) throws(UntrustedPath) {
    try Self.check(step.facts, owner: owner, others: others, path: step.path)
    self.init(taking: try step.reopened(), path: step.path, owner: owner)
  }

  /// A name in this directory as a path that leads here whatever happens to the names above; for calls that take no
  /// descriptor, such as connect(2). Valid as long as this object.
  public func path(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

  private static func check(
    _ facts: DirectoryStep.Facts, owner: UInt32, others: Others, path: [UInt8]
  ) throws(UntrustedPath) {
    guard facts.owner == owner else { throw UntrustedPath(path, .owner(facts.owner)) }
    guard facts.mode & (others == .nothing ? 0o077 : 0o022) == 0 else {
      throw UntrustedPath(path, .permissions(facts.mode))
    }
  }

  // MARK: Directories

  /// Opens a directory in this one, on the same file system, that belongs to the owner and that others cannot change.
  ///
  /// - Parameters:
  ///   - others: Default: they may look.
  ///   - creating: Makes it, 0700, if it is missing. Default: no.
  public func directory(
    _ name: [UInt8], others: Others = .look, creating: Bool = false
  ) throws(UntrustedPath) -> TrustedDirectory {
    if creating {
      let number = result { mkdirat(descriptor, name: name, 0o700) }
      // A directory that cannot take names is what stands against it.
      guard number == 0 || number == EEXIST else {
        throw UntrustedPath(number == EROFS ? path : PathBytes.join(path, name), .system(Errno(rawValue: number)))
      }
    }
    let child = TrustedDirectory(
      taking: try open(name, O_RDONLY | CLINUX_O_DIRECTORY), path: PathBytes.join(path, name), owner: owner)
    try Self.check(try facts(of: child.descriptor, name), owner: owner, others: others, path: child.path)
    return child
  }

  /// The names in it, without `.` and `..`, in no order.
  public func names() throws(UntrustedPath) -> [[UInt8]] {
    // A descriptor of its own: one that is shared would share its position.
    let copy = try open([UInt8(ascii: ".")], O_RDONLY | CLINUX_O_DIRECTORY)
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw UntrustedPath(path, .system(Errno(rawValue: number)))
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != [0x2e] && name != [0x2e, 0x2e] { names.append(name) }
    }
    return names
  }

  // MARK: Files

  /// Opens a regular file of the owner's; never waits, whatever is there. The descriptor is the caller's to close.
  ///
  /// - Parameters:
  ///   - flags: O_RDONLY, O_RDWR or O_WRONLY, and O_CREAT (with mode 0600), O_EXCL, O_TRUNC, O_APPEND.
  public func file(_ name: [UInt8], _ flags: CInt) throws(UntrustedPath) -> CInt {
    // Cut only after the checks.
    let descriptor = try open(name, flags & ~O_TRUNC)
    do throws(UntrustedPath) {
      let facts = try facts(of: descriptor, name)
      guard facts.mode & S_IFMT == S_IFREG else { throw UntrustedPath(PathBytes.join(path, name), .notRegular) }
      guard facts.owner == owner else { throw UntrustedPath(PathBytes.join(path, name), .owner(facts.owner)) }
      if flags & O_TRUNC != 0, ftruncate(descriptor, 0) != 0 { throw failure(name, errno) }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Reads a whole regular file of the owner's.
  ///
  /// - Parameter limit: A larger file is none of ours. Default: 1 MiB.
  public func read(_ name: String, limit: Int = 1 << 20) throws(UntrustedPath) -> [UInt8] {
    let name = Array(name.utf8)
    let descriptor = try file(name, O_RDONLY)
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(name, errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
      guard bytes.count <= limit else { throw UntrustedPath(PathBytes.join(path, name), .tooLarge) }
    }
  }

  /// Whether a name still means the file of a descriptor.
  public func isStill(_ descriptor: CInt, _ name: [UInt8]) -> Bool {
    var (held, named) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && status(name, &named) == 0
      && held.st_dev == named.st_dev && held.st_ino == named.st_ino
  }

  // MARK: Changing names

  public func rename(_ from: [UInt8], to: [UInt8]) throws(UntrustedPath) {
    let number = result {
      (from + [0]).withUnsafeBytes { from in
        (to + [0]).withUnsafeBytes { to in renameat(descriptor, Self.text(from), descriptor, Self.text(to)) }
      }
    }
    guard number == 0 else { throw failure(from, number) }
  }

  /// unlinkat(2). - Returns: 0 or the errno.
  @discardableResult
  public func unlink(_ name: [UInt8]) -> CInt { remove(name, 0) }

  /// rmdir(2) of an empty directory that nothing is mounted on. - Returns: 0 or the errno.
  @discardableResult
  public func removeDirectory(_ name: [UInt8]) -> CInt { remove(name, AT_REMOVEDIR) }

  /// Removes the files in it; directories stay.
  public func removeFiles(except kept: [UInt8]) {
    for name in (try? names()) ?? [] where name != kept { unlink(name) }
  }

  // MARK: System calls

  private func open(_ name: [UInt8], _ flags: CInt) throws(UntrustedPath) -> CInt {
    let all = flags | CLINUX_O_NONBLOCK | CLINUX_O_CLOEXEC | O_NOCTTY
    guard owner != geteuid(), flags & O_CREAT == 0 else { return try openBeneath(name, all) }
    // What another user has there may be an automount point, which an open would trigger and this does not.
    let pin = try openBeneath(name, CLINUX_O_PATH | CLINUX_O_CLOEXEC)
    defer { close(pin) }
    let facts = try facts(of: pin, name)
    guard facts.isDirectory || facts.mode & S_IFMT == S_IFREG else {
      throw UntrustedPath(PathBytes.join(path, name), facts.isLink ? .link : .notRegular)
    }
    guard facts.isDirectory || flags & CLINUX_O_DIRECTORY == 0 else {
      throw UntrustedPath(PathBytes.join(path, name), .notDirectory)
    }
    let opened =
      facts.isDirectory
      ? clinux_openat(pin, ".", all, 0) : clinux_openat(CLINUX_AT_FDCWD, "/proc/self/fd/\(pin)", all, 0)
    guard opened >= 0 else { throw failure(name, CInt(-opened)) }
    return CInt(opened)
  }

  private func openBeneath(_ name: [UInt8], _ flags: CInt) throws(UntrustedPath) -> CInt {
    let all = flags | CLINUX_O_NOFOLLOW
    let resolve = CLINUX_RESOLVE_BENEATH | CLINUX_RESOLVE_NO_SYMLINKS | CLINUX_RESOLVE_NO_XDEV
    let opened = (name + [0]).withUnsafeBytes {
      clinux_openat2(
        descriptor, Self.text($0), UInt64(UInt32(bitPattern: all)), flags & O_CREAT != 0 ? 0o600 : 0, resolve)
    }
    guard opened >= 0 else {
      let errno = Errno(rawValue: CInt(-opened))
      let reason: UntrustedPath.Reason =
        switch errno {
        case .tooManySymbolicLinkLevels: .link
        // A link counts as such where a directory is asked for.
        case .notDirectory: .notDirectory
        default: .system(errno)
        }
      throw UntrustedPath(PathBytes.join(path, name), reason)
    }
    return CInt(opened)
  }

  private func facts(of descriptor: CInt, _ name: [UInt8]) throws(UntrustedPath) -> DirectoryStep.Facts {
    do throws(Errno) {
      return try DirectoryStep.facts(of: descriptor)
    } catch {
      throw failure(name, error.rawValue)
    }
  }

  private func status(_ name: [UInt8], _ status: inout stat) -> CInt {
    (name + [0]).withUnsafeBytes { fstatat(descriptor, Self.text($0), &status, CLINUX_AT_SYMLINK_NOFOLLOW) }
  }

  private func remove(_ name: [UInt8], _ flags: CInt) -> CInt {
    result { (name + [0]).withUnsafeBytes { unlinkat(descriptor, Self.text($0), flags) } }
  }

  private func mkdirat(_ descriptor: CInt, name: [UInt8], _ mode: mode_t) -> CInt {
    (name + [0]).withUnsafeBytes { Glibc.mkdirat(descriptor, Self.text($0), mode) }
  }

  private func result(_ call: () -> CInt) -> CInt { call() == 0 ? 0 : errno }

  private func failure(_ name: [UInt8], _ number: CInt) -> UntrustedPath {
    UntrustedPath(PathBytes.join(path, name), .system(Errno(rawValue: number)))
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) -> UnsafePointer<CChar> {
    bytes.assumingMemoryBound(to: CChar.self).baseAddress!
  }
}
