import Glibc

/// The argument vector of a process, as far as it is known.
enum ProcessArguments: Sendable, Equatable {
  /// The capture lane has not read it yet.
  case pending
  /// `isTruncated`: there were more than 32 arguments or more than 4 KiB.
  case known([[UInt8]], isTruncated: Bool)
  case unavailable(Unavailability)
  /// They are none of the log's business; `script` is what an interpreter runs.
  case withheld(script: [UInt8]?)

  // LIMIT: what a record keeps of an argument vector; a compiler's or an archiver's may have megabytes.
  static let maximumCount = 32
  static let maximumBytes = 4096

  /// Reads /proc/`pid`/cmdline. Only on the capture lane: it can block for ever.
  ///
  /// - Parameters:
  ///   - startTicks, executable: what the process was when it was identified; if it has become another one in between
  ///     (an exec, a reused pid), the arguments are those of the other one and are not returned.
  static func read(pid: Int32, startTicks: UInt64, executable: ProcessExecutable) -> ProcessArguments {
    var failure: Int32 = 0
    let text = ProcReader.bytes(LivingThread.of(pid), "cmdline", limit: maximumBytes + 1, failure: &failure)
    guard let look = ProcessSnapshot(pid), look.startTicks == startTicks, executable.isContinued(by: look.executable)
    else {
      return .unavailable(.exited)
    }
    guard let text else { return .unavailable(failure == ENOENT || failure == ESRCH ? .exited : .permission) }
    // The image is gone (a zombie): an empty text says nothing.
    if text.isEmpty, case .unavailable(let reason) = look.executable { return .unavailable(reason) }
    return split(text)
  }

  /// The script alone: nothing else of the arguments is kept.
  func withheld(executable: ProcessExecutable) -> ProcessArguments {
    switch self {
    case .known: .withheld(script: script(executable))
    default: self
    }
  }

  /// The script that an interpreter runs.
  func script(_ executable: ProcessExecutable) -> [UInt8]? {
    switch self {
    case .known(let list, let isTruncated):
      executable.bytes.flatMap { ScriptName.find(in: list, isTruncated: isTruncated, executable: $0) }
    case .withheld(let script): script
    case .pending, .unavailable: nil
    }
  }

  /// Arguments are separated by NUL and end with one, which a process that writes its own title may leave out.
  static func split(_ text: [UInt8]) -> ProcessArguments {
    var isTruncated = text.count > maximumBytes
    var arguments = text.prefix(maximumBytes).split(separator: 0, omittingEmptySubsequences: false).map { Array($0) }
    if arguments.last?.isEmpty == true { arguments.removeLast() }
    if arguments.count > maximumCount {
      arguments.removeLast(arguments.count - maximumCount)
      isTruncated = true
    }
    return .known(arguments, isTruncated: isTruncated)
  }
}

/// Whose arguments the log keeps. Arguments hold secrets at times, and logs are handed on.
public enum ArgumentPolicy: String, Sendable, Codable, CaseIterable {
  /// Nobody's, and no script names either.
  case none
  /// Of processes that call themselves; of their ancestors the names of scripts. The default.
  case callers = "self"
  /// Of callers and all their ancestors.
  case all

  /// What of a command may be said before it is known whether it calls itself: all, or the program and its script.
  ///
  /// - Returns: `isWithheld`: whether something is left out.
  func words(of command: [[UInt8]]) -> (words: [[UInt8]], isWithheld: Bool) {
    guard self != .all, let program = command.first else { return (command, false) }
    let script = self == .callers ? ScriptName.find(in: command, isTruncated: false, executable: program) : nil
    let words = [program] + (script.map { [$0] } ?? [])
    return (words, command.count > 1)
  }
}
