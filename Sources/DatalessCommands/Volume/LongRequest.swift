import DatalessControl
import Synchronization
import SystemPackage

/// Requests of one command that take long, and that Ctrl-C ends: each says what it has done until then.
final class LongRequest: Sendable {
  private let signal = InterruptSignal()
  private let unfinished = Mutex<[[UInt8]]>([])

  /// - Returns: nil when it was interrupted, and there is nothing to say about what was done.
  func run<Answer: Sendable>(
    _ volume: MountEntry, failure what: String, _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer? {
    if signal.isRaised { return nil }
    defer { signal.onRaise(nil) }
    do {
      return try RemoteCall.run(
        volume, failure: what, onStart: { [signal] task in signal.onRaise { task.cancel() } }, body)
    } catch is CancellationError {
      return nil
    }
  }

  /// Notes what was asked for and is not done, if the command was interrupted.
  func cut(at mountPoint: [UInt8], _ paths: [[UInt8]]) {
    unfinished.withLock { list in
      list += paths.map { $0.isEmpty ? mountPoint : PathBytes.join(mountPoint, $0) }
    }
  }

  /// Says what is not done, if the command was interrupted, and ends it.
  ///
  /// - Parameter rest: What holds for the others.
  func finish(_ rest: String) throws {
    let paths = unfinished.withLock { $0 }
    guard signal.isRaised || !paths.isEmpty else { return }
    guard let first = paths.first else {
      var failure = CommandFailure("interrupted, when all was done.", status: .interrupted, errno: .interrupted)
      failure.isSaid = true
      throw failure
    }
    let more = paths.count - 1
    let others = more > 0 ? ", and \(HumanText.count(Int64(more), "path")) after it" : ""
    throw CommandFailure(
      "interrupted: \(TerminalText.escaped(first)) is not done to its end\(others). \(rest)", status: .interrupted,
      errno: .interrupted)
  }
}

/// What could not be done with single items, on standard error.
enum FailureList {
  /// As many lines as can be read; `--json` has more.
  private static let linesMax = 20

  /// - Parameters:
  ///   - count: All failures, also those that are not in the list.
  ///   - mountPoint: Of the volume, whose paths these are.
  ///   - action: `evict`, for `cannot evict ...`.
  ///   - others: Where those are named that are not shown.
  static func say(
    _ failures: [PathFailure], count: Int64, at mountPoint: [UInt8], action: String, others: String
  ) {
    for line in lines(failures, count: count, at: mountPoint, action: action, others: others) { Console.error(line) }
  }

  static func lines(
    _ failures: [PathFailure], count: Int64, at mountPoint: [UInt8], action: String, others: String
  ) -> [String] {
    var lines = failures.prefix(linesMax).map { failure in
      let path = TerminalText.escaped(
        failure.pathBytes.isEmpty ? mountPoint : PathBytes.join(mountPoint, failure.pathBytes))
      let errno = failure.message.contains(failure.errno) ? "" : " (\(TerminalText.escaped(failure.errno)))"
      return "cannot \(action) \(path): \(TerminalText.harmless(failure.message))\(errno)."
    }
    let more = count.minus(Int64(lines.count))
    if more > 0 { lines.append("cannot \(action) \(HumanText.count(more, "more item")); \(others).") }
    return lines
  }

  /// Ends a command of which some failed; does nothing if none did.
  static func end(_ count: Int64, _ what: String) throws {
    if count == 0 { return }
    var failure = CommandFailure(
      "\(what) \(HumanText.count(count, "item")): see `failures` of the answers before this line.", code: .incomplete)
    failure.isSaid = true
    throw failure
  }
}
