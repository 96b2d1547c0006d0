import Glibc

/// What `run` does with the signals that reach it, as a pure state: events in, one action out.
struct RunSignals {
  enum Action: Equatable {
    /// The terminal sent it to the whole process group: the command has it already.
    case leave
    case send(CInt, to: pid_t)
    /// The command is over, and what it left running is waited for: no longer.
    case stopWaiting
    /// That is over, too: end at once, and the daemon, which watches our pipe, ends the volume.
    case exit(Int32)
  }

  /// Two signals within this time are one: timeout(1) sends to its child and then to the whole group.
  static let sameSignalMilliseconds: Int64 = 200

  private enum Phase { case command, children, ending }

  private var command: pid_t?
  private var phase = Phase.command
  private var firstSignal: Int64?
  /// The signal that ended the wait for what the command left running.
  private(set) var interruption: CInt?
  private var early: CInt?
  /// The first signal that came while the command ran, from a terminal, too: it may have ended before it was done.
  private(set) var duringCommand: CInt?

  /// - Returns: The signal to send to it at once: it came while there was no command yet.
  mutating func started(_ pid: pid_t) -> CInt? {
    command = pid
    defer { early = nil }
    return early
  }

  /// The command has ended, or could not be started.
  mutating func ended() { (command, phase) = (nil, .children) }

  /// Nothing is waited for any more.
  mutating func waitingEnded() { phase = .ending }

  /// Whether somebody, and not a terminal, asked us to end while the command ran.
  var isAskedToEnd: Bool { firstSignal != nil }

  /// - Parameters:
  ///   - isFromKernel: Whether a terminal sent the signal, not a process.
  ///   - milliseconds: Monotonic time.
  mutating func received(_ signal: CInt, isFromKernel: Bool, at milliseconds: Int64) -> Action {
    if phase == .command, duringCommand == nil { duringCommand = signal }
    if isFromKernel && phase == .command { return .leave }
    if phase != .command {
      if let firstSignal, milliseconds - firstSignal < Self.sameSignalMilliseconds { return .leave }
      firstSignal = milliseconds
      guard phase == .children, interruption == nil else { return .exit(128 + signal) }
      interruption = signal
      return .stopWaiting
    }
    var passed = signal
    if let firstSignal {
      guard milliseconds - firstSignal >= Self.sameSignalMilliseconds else { return .leave }
      passed = SIGKILL
    } else {
      firstSignal = milliseconds
    }
    if let command { return .send(passed, to: command) }
    early = passed
    return .leave
  }
}
