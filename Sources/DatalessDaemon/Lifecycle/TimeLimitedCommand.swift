import DatalessControl
import Glibc

/// Runs a small helper program without a terminal, and without waiting for ever.
enum TimeLimitedCommand {
  struct Outcome {
    /// nil when the time was up before it ended.
    let status: CommandOutcome?
    /// The last line of what it wrote to its standard error, or how it ended.
    let words: String
  }

  /// - Parameters:
  ///   - command: The program, looked for in $PATH, and its arguments.
  ///   - timeLimitMilliseconds: It is killed and left behind afterwards; with 0 it is left running, and behind.
  /// - Throws: `LifecycleError` when it cannot be started.
  static func run(_ command: [[UInt8]], timeLimitMilliseconds: Int) throws(LifecycleError) -> Outcome {
    let words = try Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, words.writeEnd, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = SignalSet.of([])
    posix_spawnattr_setsigmask(&attributes, &none)
    // What we ignore (SIGPIPE, SIGHUP, SIGIO) is nothing to the program.
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var pid: pid_t = 0
    let result = CStringArray.with(command) { argv in
      posix_spawnp(&pid, argv[0]!, &actions, &attributes, argv, environ)
    }
    close(words.writeEnd)
    defer { close(words.readEnd) }
    guard result == 0 else {
      throw LifecycleError(
        "cannot run \(ErrorText.quoted(command[0])): \(ErrorText.reason(result)). Install it (apt install fuse3).")
    }
    guard timeLimitMilliseconds > 0 else { return Outcome(status: nil, words: "") }
    return wait(for: pid, words.readEnd, Deadline(milliseconds: timeLimitMilliseconds))
  }

  /// The end of its standard error is its end: such programs start nothing that outlives them.
  private static func wait(for pid: pid_t, _ descriptor: CInt, _ deadline: Deadline) -> Outcome {
    var words: [UInt8] = []
    var status: CInt = 0
    while !DescriptorIO.waitReadable([descriptor], until: deadline).isEmpty {
      guard let bytes = DescriptorIO.readSome(descriptor), !bytes.isEmpty else {
        guard let outcome = CommandOutcome(waitingFor: pid) else {
          return Outcome(status: nil, words: CommandOutcome.lostWords)
        }
        let line = words.split(separator: UInt8(ascii: "\n")).last.map { TerminalText.escaped($0) }
        return Outcome(status: outcome, words: line ?? outcome.words)
      }
      words = (words + bytes).suffix(4096)
    }
    kill(pid, SIGKILL)
    waitpid(pid, &status, WNOHANG)
    return Outcome(status: nil, words: "it did not end in time")
  }
}
