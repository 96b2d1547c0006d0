import DatalessControl
import Glibc
import Synchronization

/// Messages for a person, on standard error. Failures to write are ignored: there is nowhere left to report them.
public enum Console {
  private static let isSilent = Atomic<Bool>(false)

  /// Says nothing from now on: standard error is where JSON goes.
  static func silence() { isSilent.store(true, ordering: .relaxed) }

  /// `dataless: <message>`, a line for each line of the message. Names in it are escaped by whoever puts them there.
  public static func error(_ message: String) {
    for line in message.split(separator: "\n") { note("dataless: \(line)") }
  }

  /// As `error`; lines that begin with a place are left as they are.
  static func error(_ failure: CommandFailure) {
    if failure.isSaid { return }
    guard failure.namesPlaces else { return error(failure.message) }
    for line in failure.message.split(separator: "\n") { note(String(line)) }
  }

  /// `FILE:LINE:COLUMN: warning: <message>`, as compilers write it.
  static func warning(file: String, line: Int64, column: Int64, _ message: String) {
    note("\(TerminalText.escaped(file)):\(line):\(column): warning: \(TerminalText.escaped(message))")
  }

  /// One line as it is.
  public static func note(_ line: String) {
    var bytes = Array(line.utf8.filter { $0 != UInt8(ascii: "\n") })
    bytes.append(UInt8(ascii: "\n"))
    write(bytes)
  }

  static func write(_ bytes: [UInt8]) {
    if !isSilent.load(ordering: .relaxed) { _ = DescriptorOutput.write(bytes, to: STDERR_FILENO) }
  }

  /// Whether standard error is a terminal, so that a progress line can be overwritten.
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}
