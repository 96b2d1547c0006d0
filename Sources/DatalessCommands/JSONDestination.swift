import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// Where a command writes its answer as JSON: standard output, but for `run`, which has the choice. That is opened
/// before the command runs: what cannot be written fails at once, and no result of an earlier run is mistaken for this
/// one's.
struct JSONDestination {
  let descriptor: CInt
  /// For messages, escaped.
  let name: String
  /// Nothing but our answer goes there, so the command's own standard output becomes its standard error.
  let isStandardOutput: Bool

  /// Where what failed goes of a command that has `--json` among its arguments, which may be wrong otherwise; nil for
  /// nowhere, and for `run`, which has answered by itself, or could not open what it was to write to.
  static func ofErrors(_ arguments: [String]) -> JSONDestination? {
    guard arguments.first != "run", arguments.prefix(while: { $0 != "--" }).contains("--json") else { return nil }
    return JSONDestination(descriptor: STDOUT_FILENO, name: "standard output", isStandardOutput: true)
  }

  /// - Parameter path: `-` for standard output.
  static func open(path: [UInt8]) throws(CommandFailure) -> JSONDestination {
    if path == [UInt8(ascii: "-")] { return try open(descriptor: STDOUT_FILENO) }
    let name = "'\(TerminalText.escaped(path))'"
    // Without waiting for somebody who reads a FIFO. A new file has the mode of the log and of reports: all of them
    // name paths, programs and arguments.
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    let descriptor = (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { path in
      Glibc.open(path.baseAddress!, flags, 0o600)
    }
    guard descriptor >= 0 else {
      let errno = Errno(rawValue: errno)
      let remedy = errno == .noSuchAddressOrDevice ? "Nobody reads the FIFO." : "Name a file that can be written."
      throw failure(name, errno, remedy: remedy)
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    return JSONDestination(descriptor: descriptor, name: name, isStandardOutput: false)
  }

  /// - Parameter number: A descriptor that the caller opened; the command does not get it, but for standard error.
  static func open(descriptor number: CInt) throws(CommandFailure) -> JSONDestination {
    let name = number == STDOUT_FILENO ? "standard output" : "descriptor \(number)"
    let flags = fcntl(number, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
      throw failure(name, .badFileDescriptor, remedy: "Open it for writing, as in 3> result.json.")
    }
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else {
      throw failure(name, Errno(rawValue: errno), remedy: "Raise the limit of open files (ulimit -n).")
    }
    if number > STDERR_FILENO { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
    return JSONDestination(descriptor: copy, name: name, isStandardOutput: number == STDOUT_FILENO)
  }

  /// One line.
  func write(_ answer: some Encodable) throws {
    let line = try WireCoding.encode(answer) + [UInt8(ascii: "\n")]
    if let errno = DescriptorWrite.all(line, to: descriptor, waitsForRoom: true).failure {
      throw Self.failure(name, errno, remedy: "Make room there, or keep reading until the end.")
    }
  }

  private static func failure(_ name: String, _ errno: Errno, remedy: String) -> CommandFailure {
    CommandFailure("cannot write JSON to \(name): \(errno.description) (\(errno.name)). \(remedy)", status: .runFailed)
  }
}
