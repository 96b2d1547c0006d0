import DatalessControl
public import Glibc
import Synchronization

/// Runs the command of `dataless run` in this process' place: its terminal, its descriptors, its process group.
///
/// The command shares our process group, so Ctrl-C and Ctrl-Z of the terminal reach it (and us) as they would without
/// us. While it lives we outlive the signals that end it: a terminal's signal is left to it, one sent to us alone is
/// passed on, and a second one of those kills it.
public final class CommandRunner: Sendable {
  /// How the attempt to run a command ended.
  public enum Result: Sendable, Equatable {
    case ended(CommandOutcome)
    /// It could not be started, for the reason of this errno.
    case notStarted(Int32)
  }

  /// si_code of a signal that the kernel sent by itself, for a terminal above all.
  private static let fromKernel: CInt = 0x80

  private struct State {
    var signals = RunSignals()
    var reaped: Set<pid_t> = []
  }

  private let state = Mutex(State())
  private let signals: [CInt]

  /// Nothing changes until `run`.
  public init() {
    // What was ignored when we were started (nohup) stays so, for us and for the command.
    signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { !SignalSet.isIgnored($0) }
  }

  /// Runs a command and waits until it ends; its own descendants may go on.
  ///
  /// Called once, on the main thread. From then on the four signals are taken care of in this process: after the
  /// command's end any of them ends the process, and the daemon, which watches our pipe, ends the volume.
  ///
  /// - Parameters:
  ///   - command: Program and arguments; the program is looked for in $PATH.
  ///   - environment: Variables to set, as `NAME=value`.
  public func run(_ command: [[UInt8]], setting environment: [[UInt8]]) -> Result {
    let previous = SignalSet.block(SignalSet.of(signals))
    DetachedThread.start { [self] in watchSignals() }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = previous
    // We ignore SIGPIPE for our own messages; the command must not inherit that.
    var defaults = SignalSet.of([SIGPIPE])
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var pid: pid_t = 0
    let number = CStringArray.with(command) { argv in
      CStringArray.with(Self.environment(setting: environment)) { environment in
        posix_spawnp(&pid, argv[0]!, nil, &attributes, argv, environment)
      }
    }
    guard number == 0 else {
      state.withLock { $0.signals.ended() }
      return .notStarted(number)
    }
    state.withLock { $0.signals.started(pid) }
    return .ended(waitFor(pid))
  }

  /// Whether a child of ours was seen to end meanwhile: its pid means nothing any more.
  public func hasReaped(_ pid: pid_t) -> Bool { state.withLock { $0.reaped.contains(pid) } }

  /// As the subreaper of all descendants we wait for every child that ends, not only for the command.
  private func waitFor(_ command: pid_t) -> CommandOutcome {
    while true {
      var status: CInt = 0
      let pid = waitpid(-1, &status, 0)
      guard pid > 0 else {
        if errno == EINTR { continue }
        // SIGCHLD is ignored, so the kernel kept no status.
        return .exited(0)
      }
      state.withLock { state in
        state.reaped.insert(pid)
        if pid == command { state.signals.ended() }
      }
      if pid == command { return CommandOutcome(waitStatus: status) }
    }
  }

  private func watchSignals() {
    var set = SignalSet.of(signals)
    while true {
      var information = siginfo_t()
      let signal = sigwaitinfo(&set, &information)
      if signal > 0 { handle(signal, isFromKernel: information.si_code == Self.fromKernel) }
    }
  }

  private func handle(_ signal: CInt, isFromKernel: Bool) {
    let now = Deadline.now()
    switch state.withLock({ $0.signals.received(signal, isFromKernel: isFromKernel, at: now) }) {
    case .leave: break
    case .send(let passed, let pid): kill(pid, passed)
    case .sendToCommandsBeingStarted(let passed): for pid in Self.commandsBeingStarted() { kill(pid, passed) }
    case .exit(let status): _exit(status)
    }
  }

  /// Children of ours in our own process group: the daemon has a group of its own.
  private static func commandsBeingStarted() -> [pid_t] {
    guard let bytes = try? FileBytes.read("/proc/self/task/\(getpid())/children") else { return [] }
    return bytes.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
      .filter { getpgid($0) == getpgrp() }
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
