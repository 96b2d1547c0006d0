import DatalessControl
import Glibc
import Synchronization

/// Runs the command of `dataless run` in this process' place: its terminal, its descriptors, its process group.
///
/// The command shares our process group, so Ctrl-C and Ctrl-Z of the terminal reach it (and us) as they would without
/// us. While it lives we outlive the signals that end it: a terminal's signal is left to it, one sent to us alone is
/// passed on, and a second one of those kills it. Of a terminal that goes away the kernel tells the session's leader
/// alone, and the others when that has ended: if we are the leader, our group is told.
public final class CommandRunner: Sendable {
  /// How the attempt to run a command ended.
  public enum Result: Sendable, Equatable {
    case ended(CommandOutcome)
    /// It could not be started, for the reason of this errno.
    case notStarted(Int32)
    /// It ended, and somebody else has its status: the kernel has none for us.
    case statusLost
  }

  /// si_code of a signal that the kernel sent by itself, for a terminal above all.
  private static let fromKernel: CInt = 0x80

  struct State {
    var signals = RunSignals()
    var reaped: Set<Int32> = []
    /// Children that we had before the command, the daemon above all: nobody that the command left.
    var strangers: Set<Int32> = []
    /// A descriptor of the command's process: its pid may be another's when a signal is passed on.
    var command: CInt?
  }

  let state = Mutex(State())
  private let signals: [CInt]

  /// Nothing changes until `run`.
  public init() {
    // What was ignored when we were started (nohup) stays so, for us and for the command.
    signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !SignalSet.isIgnored($0) }
  }

  /// Runs a command and waits until it ends; its own descendants may go on.
  ///
  /// Called once, on the main thread. From then on the four signals are taken care of in this process: after the
  /// command's end any of them ends `waitForChildren`, and a later one the process; the daemon, which watches our pipe,
  /// ends the volume then.
  ///
  /// - Parameters:
  ///   - command: Program and arguments; the program is looked for in $PATH.
  ///   - environment: Variables to set, as `NAME=value`.
  ///   - ignored: Signals that the command has to find ignored, as we did.
  ///   - output: What becomes its standard output; nil for ours.
  ///   - closed: A descriptor that no copy may be left of while the command's program is executed.
  public func run(
    _ command: [[UInt8]], setting environment: [[UInt8]], ignoring ignored: [CInt] = [], output: CInt? = nil,
    closing closed: CInt? = nil
  ) -> Result {
    let previous = SignalSet.block(SignalSet.of(signals))
    DetachedThread.start { [self] in watchSignals() }
    let strangers = Set(ProcessTree.ownChildren() ?? [])
    state.withLock { $0.strangers = strangers }
    var start = CommandStart(arguments: command, environment: Self.environment(setting: environment))
    start.mask = previous
    // We ignore SIGPIPE for our own messages; the command must not inherit that.
    start.defaults = [SIGPIPE, SIGCHLD]
    start.ignored = ignored
    start.output = output
    start.closed = closed
    let started: CommandStart.Started
    do throws(ErrnoFailure) {
      started = try start.start()
    } catch {
      state.withLock { $0.signals.ended() }
      return .notStarted(error.number)
    }
    // Nobody waits for it before `waitFor`, so the pid is its own until then.
    let descriptor = LinuxProcess.openProcess(started.pid)
    let early = state.withLock { state in
      state.command = descriptor
      return state.signals.started(started.pid)
    }
    if let early { send(early, to: started.pid) }
    if let number = started.waitUntilExecuted() {
      _ = waitFor(started.pid)
      return .notStarted(number)
    }
    return waitFor(started.pid).map { .ended($0) } ?? .statusLost
  }

  /// Whether a child of ours was seen to end meanwhile: its pid means nothing any more.
  public func hasReaped(_ pid: Int32) -> Bool { state.withLock { $0.reaped.contains(pid) } }

  /// The first signal that told us to end while the command ran; nil without one.
  public var interruption: Int32? { state.withLock { $0.signals.duringCommand } }

  /// As the subreaper of all descendants we wait for every child that ends, not only for the command.
  ///
  /// - Returns: nil when the kernel has no status of it.
  private func waitFor(_ command: Int32) -> CommandOutcome? {
    while true {
      var status: CInt = 0
      let pid = waitpid(-1, &status, 0)
      guard pid > 0 else {
        if errno == EINTR { continue }
        state.withLock { $0.signals.ended() }
        return nil
      }
      noteEnd(of: pid)
      if pid == command { state.withLock { $0.signals.ended() } }
      if pid == command { return CommandOutcome(waitStatus: status) }
    }
  }

  /// Waits for all that have ended already. - Returns: Who that was.
  @discardableResult
  func reapEnded() -> Set<Int32> {
    var status: CInt = 0
    var ended: Set<Int32> = []
    while case let pid = waitpid(-1, &status, WNOHANG), pid > 0 {
      noteEnd(of: pid)
      ended.insert(pid)
    }
    return ended
  }

  private func noteEnd(of pid: Int32) {
    state.withLock { state in
      state.reaped.insert(pid)
      state.strangers.remove(pid)
    }
  }

  private func watchSignals() {
    var set = SignalSet.of(signals)
    while true {
      var information = siginfo_t()
      let signal = sigwaitinfo(&set, &information)
      let isOurs = information.si_code == SI_USER && information._sifields._kill.si_pid == getpid()
      guard signal > 0, !isOurs else { continue }
      let isFromKernel = information.si_code == Self.fromKernel
      let isHangup = signal == SIGHUP && isFromKernel && getsid(0) == getpid()
      handle(signal, isFromKernel: isFromKernel && !isHangup, isForGroup: isHangup)
    }
  }

  /// - Parameter isForGroup: Whether nobody in our process group has had it but us.
  private func handle(_ signal: CInt, isFromKernel: Bool, isForGroup: Bool) {
    let now = Deadline.now()
    switch state.withLock({ $0.signals.received(signal, isFromKernel: isFromKernel, at: now) }) {
    case .leave, .stopWaiting: break
    case .send(let passed, _) where isForGroup && passed == signal: kill(0, signal)
    case .send(let passed, let pid): send(passed, to: pid)
    case .exit(let status): _exit(status)
    }
  }

  private func send(_ signal: CInt, to command: Int32) {
    guard let descriptor = state.withLock({ $0.command }) else {
      kill(command, signal)
      return
    }
    LinuxProcess.send(signal, to: descriptor)
  }

  private static func environment(setting variables: [[UInt8]]) -> [[UInt8]] {
    let names = variables.map { Array($0.prefix { $0 != UInt8(ascii: "=") }) + [UInt8(ascii: "=")] }
    var result: [[UInt8]] = []
    var next = environ
    while let entry = next.pointee {
      let bytes = Array(UnsafeBufferPointer(start: entry, count: strlen(entry))).map { UInt8(bitPattern: $0) }
      if !names.contains(where: { bytes.starts(with: $0) }) { result.append(bytes) }
      next += 1
    }
    return result + variables
  }
}
