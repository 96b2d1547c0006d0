import DatalessControl
import Glibc
import SystemPackage

/// Data on standard output, collected and written with write(2) in large pieces.
///
/// A reader that goes away (`| head`) ends the command silently and successfully; every other failure to write is an
/// error, so that a full disk or a closed descriptor is not taken for success.
public final class StandardOutput {
  private static let pieceBytes = 64 << 10
  private var buffer: [UInt8] = []
  private let descriptor: CInt

  /// Has the process ignore SIGPIPE, so that a reader that went away is seen as EPIPE.
  public init(descriptor: CInt = 1) {
    self.descriptor = descriptor
    signal(SIGPIPE, SIG_IGN)
  }

  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Adds a line and its newline. - Throws: as `flush`.
  public func line(_ text: String) throws { try line(bytes: text.utf8) }

  /// Adds a line and its newline. - Throws: as `flush`.
  public func line(bytes: some Collection<UInt8>) throws {
    buffer += bytes
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.pieceBytes { try flush() }
  }

  /// Writes bytes as they are. - Throws: as `flush`.
  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    try flush()
  }

  /// Writes what was collected.
  ///
  /// - Throws: `CommandExit` with status 0 for EPIPE, `CommandFailure` for anything else.
  public func flush() throws {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    // Somebody may have made the terminal or the pipe non-blocking.
    guard let error = DescriptorWrite.all(buffer, to: descriptor, waitsForRoom: true).failure else { return }
    if error == .brokenPipe { throw CommandExit(.success) }
    throw CommandFailure(ControlError.system(error, "cannot write to standard output"))
  }

  /// Writes a value as one line of JSON with sorted keys.
  public func json(_ value: some Encodable) throws {
    try line(json: value)
    try flush()
  }

  /// Adds a value as one line of JSON with sorted keys. - Throws: as `flush`.
  func line(json value: some Encodable) throws { try line(bytes: try WireCoding.encode(value)) }

  /// Says on standard error what failed, and with `json` here, too: in the place among the answers where it happened.
  func failure(_ failure: CommandFailure, json isJSON: Bool) throws {
    try flush()
    Console.error(failure)
    if isJSON { try json(failure.answer) }
  }
}
