import Glibc
import Synchronization
import TestSupport

/// How a child process ended, and what it said.
struct Finished: Sendable {
  /// The exit status, or nil when a signal ended the process or the time limit did.
  let status: Int32?
  let signal: Int32?
  /// The time limit passed, and the process was killed.
  let timedOut: Bool
  /// Not even SIGKILL ended it: it waits in the kernel.
  let stuck: Bool
  let output: [UInt8]
  let errors: [UInt8]
  let duration: Duration

  var succeeded: Bool { status == 0 && !timedOut }
  var text: String { String(decoding: output, as: UTF8.self) }
  var errorText: String { String(decoding: errors, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }
  var errorLines: [String] { errorText.split(separator: "\n").map(String.init) }

  /// `128 + signal`, as a shell counts.
  var shellStatus: Int32 { status ?? signal.map { 128 + $0 } ?? -1 }
}

/// A child process with a time limit, watched by a thread of its own: nothing blocks on Swift's cooperative pool, and a
/// child that hangs on a volume cannot hang the tests.
final class Child: Sendable {
  let pid: pid_t
  private let input: Int32
  private let lines: AsyncStream<String>
  private let state: Mutex<State>

  private struct State {
    var finished: Finished?
    var waiters: [CheckedContinuation<Finished, Never>] = []
    var inputIsOpen = true
  }

  /// Starts a program, looked for on PATH, with pipes on its standard streams, in a process group of its own.
  ///
  /// - Parameters:
  ///   - environment: Added to our own.
  ///   - timeLimit: After this the whole process group gets SIGKILL.
  init(_ arguments: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(30)) throws {
    let input = try Pipe()
    let output = try Pipe()
    let errors = try Pipe()
    let started = ContinuousClock.now
    let mark = [Lifeline.variable: try Lifeline.own.get().mark]
    self.pid = try Spawn.start(
      arguments, environment: mark.merging(environment) { $1 }, input: input.reading, output: output.writing,
      errors: errors.writing)
    for fd in [input.reading, output.writing, errors.writing] { close(fd) }
    self.input = input.writing
    self.state = Mutex(State())
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    self.lines = lines
    let watch = ChildWatch(
      pid: pid, output: output.reading, errors: errors.reading, started: started, timeLimit: timeLimit,
      lines: continuation)
    Pthread.start { [self] in finish(watch.run()) }
  }

  private func finish(_ finished: Finished) {
    let waiters = state.withLock { state in
      state.finished = finished
      if state.inputIsOpen { close(input) }
      state.inputIsOpen = false
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: finished) }
  }

  /// The next line of its standard output that nobody has taken yet; nil once there can be none.
  func line() async -> String? {
    for await line in lines { return line }
    return nil
  }

  /// Takes lines until one satisfies the condition; nil if none did before the end.
  func line(where condition: (String) -> Bool) async -> String? {
    for await line in lines where condition(line) { return line }
    return nil
  }

  /// Writes a line to its standard input.
  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    state.withLock { state in
      if state.inputIsOpen { _ = write(input, bytes, bytes.count) }
    }
  }

  func closeInput() {
    state.withLock { state in
      if state.inputIsOpen { close(input) }
      state.inputIsOpen = false
    }
  }

  func signal(_ number: Int32) { kill(pid, number) }

  /// Stops it, and returns when all its threads have stopped: one that still runs may take a request of the kernel's,
  /// and who waits for that cannot be killed.
  func stop() {
    kill(pid, SIGSTOP)
    var info = siginfo_t()
    while waitid(P_PID, id_t(pid), &info, WSTOPPED | WNOWAIT) != 0, errno == EINTR {}
  }

  var hasFinished: Bool { state.withLock { $0.finished != nil } }

  @discardableResult
  func wait() async -> Finished {
    await withCheckedContinuation { continuation in
      let finished = state.withLock { state -> Finished? in
        if state.finished == nil { state.waiters.append(continuation) }
        return state.finished
      }
      if let finished { continuation.resume(returning: finished) }
    }
  }
}

/// Runs a program to its end.
@discardableResult
func run(_ arguments: [String], environment: [String: String] = [:], timeLimit: Duration = .seconds(30)) async throws
  -> Finished
{
  let child = try Child(arguments, environment: environment, timeLimit: timeLimit)
  child.closeInput()
  return await child.wait()
}
