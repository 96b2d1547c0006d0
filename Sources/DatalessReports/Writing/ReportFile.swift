import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// A file of a report, which is there whole or not at all: it is written under another name beside its own, and
/// renamed. What is no regular file (a FIFO, /dev/stdout) is written as it is.
///
/// Reports name paths, programs and arguments, as the log does: so a new one has the log's mode, 0600. In the place of
/// one's own file it has that one's mode and group, by which one has said who may read it; a file of somebody else says
/// nothing. A link or a FIFO of somebody else, in a directory that others may write to, is refused: through the link
/// he would have any file of ours replaced, and at the FIFO he would keep us waiting.
final class ReportFile {
  private static let pieceBytes = 256 << 10
  private static let readerPollMicroseconds: UInt32 = 20_000
  /// How often a FIFO's reader is looked for: 10 s. Who begins to read later has nothing; nor had anybody who waits for
  /// a verdict until then.
  static let readerPollsMax = 500
  /// As the kernel follows of one path.
  private static let linksMax = 40
  private static let slash = UInt8(ascii: "/")

  /// Where the bytes go.
  private enum Place {
    case standardOutput
    /// A FIFO, a device or a socket; reached through a link of ours, or itself.
    case special(isLink: Bool)
    /// A file that is replaced, or made. No link is followed any more.
    case file([UInt8])
  }

  private let path: [UInt8]
  private let target: [UInt8]
  private let temporary: [UInt8]?
  private var descriptor: CInt
  private var buffer: [UInt8] = []
  private(set) var bytesWritten = 0

  /// - Parameters:
  ///   - path: `-` for standard output.
  ///   - readerPolls: How often a FIFO's reader is looked for. Default: 10 s.
  /// - Throws: `ControlError.system` with the errno of open(2), and what to do: ENXIO for a FIFO that nobody reads;
  ///   EPERM for a link, FIFO or socket of somebody else but root.
  init(path: [UInt8], readerPolls: Int = readerPollsMax) throws(ControlError) {
    self.path = path
    switch try Self.place(path) {
    case .standardOutput:
      (target, temporary, descriptor) = (path, nil, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
    case .special(let isLink):
      (target, temporary, descriptor) = (path, nil, try Self.openSpecial(path, isLink: isLink, polls: readerPolls))
    case .file(let target):
      let name = Self.temporaryName(target)
      (self.target, temporary, descriptor) = (target, name, Self.open(name, O_WRONLY | O_CREAT | O_EXCL))
      if descriptor >= 0 { Self.keepRights(of: target, for: descriptor) }
    }
    guard descriptor >= 0 else { throw Self.failure(path, Errno(rawValue: errno)) }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if let temporary { _ = Self.withPath(temporary) { unlink($0) } }
  }

  /// Finds out whether a file can be written, and leaves nothing behind.
  ///
  /// - Throws: As `init`; EISDIR for a directory.
  static func check(_ path: [UInt8]) throws(ControlError) {
    // Opening a FIFO would wait for a reader, and one that goes away then would miss the report.
    guard case .file = try place(path) else { return }
    var status = stat()
    if Self.withPath(path, { stat($0, &status) }) == 0 {
      guard status.st_mode & S_IFMT != S_IFDIR else { throw failure(path, .isDirectory) }
      guard Self.withPath(path, { access($0, W_OK) }) == 0 else { throw failure(path, Errno(rawValue: errno)) }
    }
    _ = try ReportFile(path: path)
  }

  func write(_ bytes: [UInt8]) throws(ControlError) {
    buffer += bytes
    if buffer.count >= Self.pieceBytes { try flush() }
  }

  func write(_ text: String) throws(ControlError) { try write(Array(text.utf8)) }

  /// Puts the file into its place.
  func commit() throws(ControlError) {
    try flush()
    let result = close(descriptor)
    descriptor = -1
    guard result == 0 else { throw Self.failure(path, Errno(rawValue: errno)) }
    guard let temporary else { return }
    let renamed = Self.withPath(temporary) { from in Self.withPath(target) { rename(from, $0) } }
    guard renamed == 0 else {
      let errno = Errno(rawValue: errno)
      _ = Self.withPath(temporary) { unlink($0) }
      throw Self.failure(path, errno)
    }
  }

  private func flush() throws(ControlError) {
    guard !buffer.isEmpty else { return }
    if let errno = DescriptorWrite.all(buffer, to: descriptor, waitsForRoom: true).failure {
      throw Self.failure(path, errno)
    }
    bytesWritten += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  private static func failure(_ path: [UInt8], _ errno: Errno) -> ControlError {
    let remedy =
      switch errno {
      case .noSuchFileOrDirectory: "Make its directory first (mkdir -p)."
      case .isDirectory: "Name a file in it."
      case .noSpace, .diskQuotaExceeded: "Make room there, or name a file elsewhere."
      case .brokenPipe: "Keep reading until the end."
      case .noSuchAddressOrDevice: "Begin to read it first, if it is a FIFO."
      case .tooManySymbolicLinkLevels: "Its links lead to no end: name another file."
      default: "Name a file that can be written."
      }
    return .system(errno, "cannot write the report '\(TerminalText.escaped(path))'", remedy: remedy)
  }

  /// In the same directory, so that it can be renamed; of one length, whatever the file is called.
  private static func temporaryName(_ target: [UInt8]) -> [UInt8] {
    return folder(of: target) + Array(".dataless-report-\(getpid())-\(UInt64.random(in: 0 ... .max))".utf8)
  }

  /// With a slash at its end; empty where the path has none.
  private static func folder(of path: [UInt8]) -> [UInt8] {
    path.lastIndex(of: slash).map { Array(path[...$0]) } ?? []
  }

  /// Where a symbolic link leads that leads to nothing yet: the file is made there, as open(2) does it, and the link
  /// stays one. A link of somebody else on the way is as bad as the first.
  ///
  /// - Returns: A path of which no link is followed any more, unless its directory is not there.
  private static func end(ofLink link: [UInt8]) throws(ControlError) -> [UInt8] {
    var path = link.contains(slash) ? link : Array("./".utf8) + link
    for _ in 0..<linksMax {
      var status = stat()
      let folder = folder(of: path)
      guard withPath(path, { lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFLNK else {
        return resolved(folder) + [slash] + path.dropFirst(folder.count)
      }
      guard isTrusted(status) else { throw foreign(path, status, kind: "link") }
      var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = withPath(path) { readlink($0, &buffer, Int(PATH_MAX)) }
      guard count > 0 else { throw failure(link, Errno(rawValue: errno)) }
      let target = buffer.prefix(count).map { UInt8(bitPattern: $0) }
      path = target.first == slash ? target : folder + target
    }
    throw failure(link, .tooManySymbolicLinkLevels)
  }

  /// Where a symbolic link leads, so that it stays one.
  private static func resolved(_ path: [UInt8]) -> [UInt8] {
    let real = withPath(path) { realpath($0, nil) }
    guard let real else { return path }
    defer { free(real) }
    return Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
  }

  /// What a name stands for. Whoever puts a link into its place later gains nothing by it: a file is renamed over it.
  private static func place(_ path: [UInt8]) throws(ControlError) -> Place {
    if path == [UInt8(ascii: "-")] { return .standardOutput }
    var status = stat()
    guard withPath(path, { lstat($0, &status) }) == 0 else { return .file(path) }
    switch status.st_mode & S_IFMT {
    case S_IFREG, S_IFDIR: return .file(path)
    case S_IFLNK:
      guard isTrusted(status) else { throw foreign(path, status, kind: "link") }
      guard withPath(path, { stat($0, &status) }) == 0 else { return .file(try end(ofLink: path)) }
      return isSpecial(status) ? .special(isLink: true) : .file(resolved(path))
    case S_IFIFO, S_IFSOCK:
      guard isTrusted(status) else { throw foreign(path, status, kind: "FIFO or socket") }
      return .special(isLink: false)
    default: return .special(isLink: false)
    }
  }

  /// Waits some seconds for a FIFO's reader, but at no FIFO that has been put into the place of ours.
  private static func openSpecial(_ path: [UInt8], isLink: Bool, polls: Int) throws(ControlError) -> CInt {
    for poll in 0... {
      let descriptor = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | (isLink ? 0 : O_NOFOLLOW))
      if descriptor >= 0 {
        var status = stat()
        guard isLink || fstat(descriptor, &status) == 0 && (status.st_mode & S_IFMT == S_IFCHR || isTrusted(status))
        else {
          close(descriptor)
          throw foreign(path, status, kind: "FIFO or socket")
        }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
      }
      // Sockets, and devices that are not there, answer so for ever.
      let error = errno
      guard error == ENXIO, poll < polls, isFIFO(path), case .special = try place(path) else {
        errno = error
        return -1
      }
      usleep(readerPollMicroseconds)
    }
    return -1
  }

  private static func isFIFO(_ path: [UInt8]) -> Bool {
    var status = stat()
    return withPath(path, { stat($0, &status) }) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  private static func isTrusted(_ status: stat) -> Bool { status.st_uid == geteuid() || status.st_uid == 0 }

  private static func isSpecial(_ status: stat) -> Bool {
    status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  private static func foreign(_ path: [UInt8], _ status: stat, kind: String) -> ControlError {
    .system(
      .notPermitted,
      "cannot write the report '\(TerminalText.escaped(path))', which is a \(kind) of user \(status.st_uid)",
      remedy: "Name a file in a directory that others cannot write to.")
  }

  private static func open(_ path: [UInt8], _ flags: CInt) -> CInt {
    withPath(path) { Glibc.open($0, flags | O_CLOEXEC, 0o600) }
  }

  /// - Parameter path: Of a file that may be there, and is replaced.
  private static func keepRights(of path: [UInt8], for descriptor: CInt) {
    var status = stat()
    guard withPath(path, { lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG,
      status.st_uid == geteuid()
    else { return }
    // With another group the bits would mean somebody else.
    if fchown(descriptor, uid_t.max, status.st_gid) == 0 { _ = fchmod(descriptor, status.st_mode & 0o777) }
  }

  private static func withPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    FilePath(platformString: path.filter { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]).withPlatformString(body)
  }
}
