import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// A file of a report, which is there whole or not at all: it is written under another name beside its own, and
/// renamed. What is no regular file (a FIFO, /dev/stdout) is written as it is.
///
/// Reports name paths, programs and arguments, as the log does: so a new one has the log's mode, 0600. In the place of
/// one's own file it has that one's mode and group, by which one has said who may read it; a file of somebody else says
/// nothing.
final class ReportFile {
  private static let pieceBytes = 256 << 10

  private let path: [UInt8]
  private let temporary: [UInt8]?
  private var descriptor: CInt
  private var buffer: [UInt8] = []
  private(set) var bytesWritten = 0

  /// - Parameter path: `-` for standard output.
  /// - Throws: `ControlError.system` with the errno of open(2), and what to do.
  init(path: [UInt8]) throws(ControlError) {
    self.path = path
    if path == [UInt8(ascii: "-")] {
      (temporary, descriptor) = (nil, fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))
    } else if Self.isSpecial(path) {
      (temporary, descriptor) = (nil, Self.open(path, O_WRONLY | O_NOCTTY))
    } else {
      let name = Self.temporaryName(path)
      (temporary, descriptor) = (name, Self.open(name, O_WRONLY | O_CREAT | O_EXCL))
      if descriptor >= 0 { Self.keepRights(of: path, for: descriptor) }
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
    guard path != [UInt8(ascii: "-")] else { return }
    var status = stat()
    if Self.withPath(path, { stat($0, &status) }) == 0 {
      guard status.st_mode & S_IFMT != S_IFDIR else { throw failure(path, .isDirectory) }
      // Opening a FIFO would wait for a reader, and one that goes away then would miss the report.
      if isSpecial(path) { return }
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
    let target = Self.resolved(path)
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
      default: "Name a file that can be written."
      }
    return .system(errno, "cannot write the report '\(TerminalText.escaped(path))'", remedy: remedy)
  }

  /// In the same directory, so that it can be renamed; of one length, whatever the file is called.
  private static func temporaryName(_ path: [UInt8]) -> [UInt8] {
    let target = resolved(path)
    let directory = target.lastIndex(of: UInt8(ascii: "/")).map { Array(target[...$0]) } ?? []
    return directory + Array(".dataless-report-\(getpid())-\(UInt64.random(in: 0 ... .max))".utf8)
  }

  /// Where a symbolic link leads, so that it stays one.
  private static func resolved(_ path: [UInt8]) -> [UInt8] {
    let real = withPath(path) { realpath($0, nil) }
    guard let real else { return path }
    defer { free(real) }
    return Array(UnsafeRawBufferPointer(start: real, count: strlen(real)))
  }

  private static func isSpecial(_ path: [UInt8]) -> Bool {
    var status = stat()
    guard withPath(path, { stat($0, &status) }) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  private static func open(_ path: [UInt8], _ flags: CInt) -> CInt {
    withPath(path) { Glibc.open($0, flags | O_CLOEXEC, 0o600) }
  }

  /// - Parameter path: Of a file that may be there, and is replaced.
  private static func keepRights(of path: [UInt8], for descriptor: CInt) {
    var status = stat()
    guard withPath(path, { stat($0, &status) }) == 0, status.st_uid == geteuid() else { return }
    // With another group the bits would mean somebody else.
    if fchown(descriptor, uid_t.max, status.st_gid) == 0 { _ = fchmod(descriptor, status.st_mode & 0o777) }
  }

  private static func withPath<Result>(_ path: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    FilePath(platformString: path.filter { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]).withPlatformString(body)
  }
}
