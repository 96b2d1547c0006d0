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
    if !isSilent.load(ordering: .relaxed) { _ = DescriptorWrite.all(bytes, to: STDERR_FILENO, waitsForRoom: true) }
  }

  /// Whether standard error is a terminal, so that a progress line can be overwritten.
  static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }
}

/// One line on a terminal that is overwritten, after the first second; nothing when standard error is not a terminal.
final class ProgressLine: Sendable {
  private let began = ContinuousClock.now
  private let isTerminal = Console.isTerminal
  private let isShown = Atomic<Bool>(false)
  private let timeLeft = Mutex(TimeLeft())

  /// - Parameter share: What is done of the whole, 0 to 1; nil where the whole is not known.
  func show(_ text: String, share: Double?) {
    let left = share.flatMap { share in timeLeft.withLock { $0.note(share, at: .now) } }
    show(text + (left.map { ", " + TimeLeft.text($0) } ?? "") + " ...")
  }

  func show(_ text: String) {
    guard isTerminal, began.duration(to: .now) > .seconds(1) else { return }
    isShown.store(true, ordering: .relaxed)
    Console.write(Array("\r\u{1b}[K\(text)".utf8))
  }

  /// Shows how far logs are read while `body` runs. A log is read once or several times: it is told of each time.
  static func whileReadingLogs<Result>(_ body: () throws -> Result) rethrows -> Result {
    let line = ProgressLine()
    defer { line.clear() }
    let show: LogProgress.Watcher = { path, position, size in
      guard size > 0 else { return }
      let done = "\(HumanText.size(position)) of \(HumanText.size(max(size, position)))"
      line.show("reading \(TerminalText.escaped(path)): \(done)", share: min(1, Double(position) / Double(size)))
    }
    return try LogProgress.watch(show, while: body)
  }

  func clear() {
    guard isShown.load(ordering: .relaxed) else { return }
    Console.write(Array("\r\u{1b}[K".utf8))
  }
}

/// Whether to use colour: only on a terminal that can, and not against `NO_COLOR`.
enum Colour {
  static func isWanted(isTerminal: Bool) -> Bool {
    guard isTerminal else { return false }
    if let value = getenv("NO_COLOR"), value[0] != 0 { return false }
    return getenv("TERM").map { String(cString: $0) != "dumb" } ?? false
  }
}

/// How wide the text may be.
enum TerminalSize {
  /// Columns of the terminal on a descriptor; $COLUMNS, else 100, for anything else.
  static func columns(_ descriptor: CInt = STDOUT_FILENO) -> Int {
    var size = winsize()
    if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
    return getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil } ?? 100
  }
}
