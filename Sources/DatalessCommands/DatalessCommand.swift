public import ArgumentParser
import DatalessControl
import DatalessDaemon
import DatalessScenario
import Glibc
import SystemPackage

/// `dataless`: parses the command line, runs one command, and turns every outcome into an exit status.
public struct DatalessCommand: ParsableCommand {
  public static let configuration = CommandConfiguration(
    commandName: "dataless",
    abstract: "Present a directory as dataless files, and see which program materializes what.",
    discussion: """
      EXAMPLES
        dataless mount ~/project /mnt/project --latency 200ms
        dataless run ~/project -- grep -r needle {}

      EXIT STATUS
        0 done; 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out; 130 interrupted. \
      `run`, `exec` and `coordinate` have their own.
      """,
    version: Version.current,
    groupedSubcommands: [
      CommandGroup(
        name: "Volumes",
        subcommands: [
          MountCommand.self, UnmountCommand.self, RunCommand.self, ExecCommand.self, CoordinateCommand.self,
        ]),
      CommandGroup(name: "Kept volumes", subcommands: [CheckCommand.self, ExportCommand.self, RestoreCommand.self]),
      CommandGroup(name: "This machine", subcommands: [DoctorCommand.self]),
      CommandGroup(
        name: "What happened",
        subcommands: [LogCommand.self, SummaryCommand.self, DiffCommand.self, CheckLogCommand.self, MarkCommand.self]),
      CommandGroup(
        name: "What is there",
        subcommands: [
          StatusCommand.self, TopCommand.self, StackCommand.self, ListCommand.self, MaterializeCommand.self,
          EvictCommand.self, PinCommand.self, UnpinCommand.self, PressureCommand.self,
          RefreshCommand.self, ConflictsCommand.self, CapacityCommand.self, InventoryCommand.self, RemoveCommand.self,
        ]),
      CommandGroup(
        name: "What is simulated",
        subcommands: [
          SetCommand.self, ScenarioCommand.self, GateCommand.self, FaultCommand.self, PolicyCommand.self,
          OfflineCommand.self, OnlineCommand.self, ExplainCommand.self, ResetCommand.self,
        ]),
    ])

  public init() {}

  /// Runs the command that this process' arguments ask for.
  public static func start() -> Never {
    InheritedSignals.takeOver()
    openStandardDescriptors()
    let arguments = arguments().map { ArgumentBytes.encode($0) }
    if let failure = OwnProcess.failure(own: OwnProcess.linkOfSelf, arguments: arguments) {
      Glibc.exit(end(failure, JSONDestination.ofErrors(arguments)))
    }
    Glibc.exit(execute(arguments))
  }

  /// - Parameter arguments: Without the program's name; bytes mapped by `ArgumentBytes`.
  /// - Returns: The exit status.
  static func execute(_ arguments: [String]) -> Int32 {
    let arguments = RunCommand.completed(NegativeNumbers.joined(arguments))
    do {
      var command = try parseAsRoot(arguments)
      try RepeatedOptions.check(arguments)
      StaleSessions.remove()
      try command.run()
      return ExitStatus.success.rawValue
    } catch {
      return report(error, arguments)
    }
  }

  private static func report(_ error: any Error, _ arguments: [String]) -> Int32 {
    switch error {
    case let exit as CommandExit: return exit.code
    case let failure as CommandFailure: return end(failure, JSONDestination.ofErrors(arguments))
    case let failure as ControlError: return report(CommandFailure(failure), arguments)
    case let failure as LifecycleError: return report(CommandFailure(failure), arguments)
    case let error as ScenarioError: return report(CommandFailure(error), arguments)
    default: return reportParsing(error, arguments)
    }
  }

  /// The last words of a command. That they cannot be written changes nothing any more.
  private static func end(_ failure: CommandFailure, _ json: JSONDestination?) -> Int32 {
    Console.error(failure)
    try? json?.write(failure.answer)
    return failure.status.rawValue
  }

  /// Help and the version go to standard output, a wrong command line to standard error in one line.
  private static func reportParsing(_ error: any Error, _ arguments: [String]) -> Int32 {
    let subcommand = commandNames.first { $0 == arguments.first }
    // The parser answers `nosuch --help` with the help of all, as if there were such a command.
    let isUnknown = subcommand == nil && arguments.first.map { !$0.hasPrefix("-") && $0 != "help" } ?? false
    guard exitCode(for: error).isSuccess, !isUnknown else {
      // The status of `run` and `exec` is their command's, so their own has to be one that commands do not use.
      let passesStatusOn = subcommand == "run" || subcommand == "exec" || subcommand == "coordinate"
      let failure = CommandFailure(
        usageMessage(parsingMessage(error, arguments), arguments: arguments, subcommand: subcommand),
        status: passesStatusOn ? .runFailed : .usage,
        code: .usage, errno: .invalidArgument)
      // A source that `--json` has taken for its file is nothing to write to.
      guard takenSource(arguments) == nil else { return end(failure, nil) }
      return end(failure, subcommand == "run" ? RunCommand.destination(arguments) : JSONDestination.ofErrors(arguments))
    }
    do {
      let output = StandardOutput()
      let text = fullMessage(for: error)
      if !text.isEmpty { try output.line(text) }
      try output.flush()
      return ExitStatus.success.rawValue
    } catch {
      return report(error, arguments)
    }
  }

  /// What the parser says of a wrong command line. It names what is missing before what it does not know, and who has
  /// mistyped an option would learn nothing of the option. With what is missing put in, it names the option.
  static func parsingMessage(_ error: any Error, _ arguments: [String]) -> String {
    let first = message(for: error)
    var (text, filled) = (first, arguments)
    // LIMIT: arguments that are put in. No command has more that must be there.
    for _ in 0..<3 where text.hasPrefix("Missing expected argument") {
      let isOfCommand = text.contains("'-- ")
      if isOfCommand, !filled.contains("--") { filled.append("--") }
      // A number is a name, a path and a size.
      filled.insert("1", at: isOfCommand ? filled.endIndex : filled.firstIndex(of: "--") ?? filled.endIndex)
      do {
        _ = try parseAsRoot(filled)
        return first
      } catch {
        text = message(for: error)
      }
    }
    return text.hasPrefix("Unknown option") ? text : first
  }

  static func usageMessage(_ text: String, arguments: [String], subcommand: String?) -> String {
    let help = "See 'dataless \(subcommand.map { $0 + " " } ?? "")--help'."
    if subcommand == nil, let first = arguments.first, !first.hasPrefix("-") {
      return "unknown command '\(TerminalText.escaped(ArgumentBytes.decode(first)))'. \(help)"
    }
    var message = text.split(separator: "\n").map { readable($0) }.joined(separator: " ")
    // The parser's sentences begin with a capital letter, ours do not.
    if let first = message.first, message.dropFirst().first?.isLowercase == true {
      message = first.lowercased() + message.dropFirst()
    }
    if text.contains("'<source>'"), let taken = takenSource(arguments).map({ TerminalText.escaped($0) }) {
      message =
        "the source is missing: --json names the file for the result, and has taken '\(taken)' for that. "
        + "Put the source first, as in 'dataless run \(taken) --json -- COMMAND', or write --json - for standard output"
    }
    // The parser takes it for options that nobody knows, and what follows for the size; or for the value of a flag.
    if subcommand == "pressure", let size = arguments.dropFirst().compactMap({ NegativeNumbers.number(in: $0) }).first {
      message = "malformed size '\(TerminalText.escaped(ArgumentBytes.decode(size)))': expected 1 byte or more (EINVAL)"
    }
    if subcommand == "mount", let option = runOption(in: arguments) {
      message = "unknown option '\(option)' of mount: it belongs to 'dataless run', which tries one command on a volume"
    }
    return message + (message.hasSuffix(".") || message.hasSuffix("?") ? " " : ". ") + help
  }

  /// The first option that only `run` has.
  private static func runOption(in arguments: [String]) -> String? {
    let names = ["--max-files", "--max-bytes", "--replace", "--strict-rules", "--wait-children", "--kill-children"]
    return names.first { name in arguments.contains { $0 == name || $0.hasPrefix(name + "=") } }
  }

  /// What `run --json` takes for its file, if that looks like a source: once `--json` took no file.
  private static func takenSource(_ arguments: [String]) -> [UInt8]? {
    let own = arguments.prefix { $0 != "--" }
    guard arguments.first == "run", let index = own.lastIndex(of: "--json"), index + 1 < own.endIndex else {
      return nil
    }
    let taken = ArgumentBytes.decode(own[index + 1])
    var status = stat()
    let isThere = (taken + [0]).withUnsafeBytes { bytes in
      stat(bytes.assumingMemoryBound(to: CChar.self).baseAddress!, &status) == 0
    }
    let isDirectory = isThere && status.st_mode & S_IFMT == S_IFDIR
    return isDirectory || taken.starts(with: "synthetic:".utf8) ? taken : nil
  }

  private static var commandNames: [String] {
    configuration.groupedSubcommands.flatMap { $0.subcommands }.compactMap { $0.configuration.commandName }
  }

  /// A message that quotes an argument must not send the argument's control characters to the terminal.
  private static func readable(_ line: Substring) -> String {
    let isPlain = line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f && $0.value < 0x10ff00 }
    return isPlain ? String(line) : TerminalText.escaped(ArgumentBytes.decode(line))
  }

  /// The arguments of this process as bytes, without the program's name.
  private static func arguments() -> [[UInt8]] {
    (1..<max(1, Int(CommandLine.argc))).compactMap { index in
      CommandLine.unsafeArgv[index].map { pointer in
        UnsafeBufferPointer(start: pointer, count: strlen(pointer)).map { UInt8(bitPattern: $0) }
      }
    }
  }

  /// Fills descriptors 0 to 2 that the caller closed, so that no socket or log file gets their number. They are opened
  /// the wrong way round: using one is an error, as it would be if it were closed.
  private static func openStandardDescriptors() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}

extension CommandFailure {
  init(_ error: LifecycleError) {
    self.init(error.message, status: ExitStatus(rawValue: error.exitCode) ?? .failure)
  }
}
