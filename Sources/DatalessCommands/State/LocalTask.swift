import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// Something that a command does by itself, and that may take long: it shows how far it is, and SIGINT ends it at its
/// next step, so that it clears up.
struct LocalTask {
  private let what: String
  private let line = ProgressLine()
  private let signal = InterruptSignal()

  /// - Parameter what: For messages: "cannot ...".
  init(_ what: String) { self.what = what }

  /// - Throws: `CommandFailure`.
  func run<Result>(_ body: () throws(FSError) -> Result) throws -> Result {
    defer { line.clear() }
    do throws(FSError) {
      return try body()
    } catch {
      guard error.errno != .interrupted else {
        throw CommandFailure(
          "\(what) to the end: it was interrupted. Run the command again.", status: .interrupted, errno: .interrupted)
      }
      throw CommandFailure("\(what): \(error.description).", errno: error.errno)
    }
  }

  /// - Parameter share: What is done of the whole, 0 to 1; nil where the whole is not known.
  /// - Throws: EINTR: the user wants it to end.
  func show(_ text: String, share: Double? = nil) throws(FSError) {
    if signal.isRaised { throw FSError(.interrupted, "interrupted") }
    line.show(text, share: share)
  }

  /// The part of a whole that is done, for `show`; nil where there is no whole.
  static func share(_ done: Int64, of all: Int64) -> Double? { all > 0 ? min(1, Double(done) / Double(all)) : nil }

  /// Where copies may be put for as long as it runs: $TMPDIR, else /tmp.
  static var scratch: String {
    guard let named = getenv("TMPDIR").map({ String(cString: $0) }), named.hasPrefix("/") else { return "/tmp" }
    return named
  }
}
