import DatalessControl
import Synchronization
import SystemPackage

/// Requests of one command that take long, and that Ctrl-C ends: each says what it has done until then.
final class LongRequest: Sendable {
  private let signal = InterruptSignal()
  private let unfinished = Mutex<[[UInt8]]>([])

  /// - Returns: nil when it was interrupted, and there is nothing to say about what was done.
  func run<Answer: Sendable>(
    _ volume: MountEntry, _ what: String, _ body: @escaping @Sendable (ControlClient) async throws -> Answer
  ) throws -> Answer? {
    if signal.isRaised { return nil }
    defer { signal.onRaise(nil) }
    do {
      return try RemoteCall.run(volume, what, onStart: { [signal] task in signal.onRaise { task.cancel() } }, body)
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
