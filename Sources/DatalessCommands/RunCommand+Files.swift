import DatalessControl
import DatalessCore
import DatalessReports
import DatalessScenario
import Glibc

/// The files that `run` reads and writes.
extension RunCommand {
  /// Refuses `--strict-rules` where there is no rule that could decide nothing: it would always hold.
  static func checkStrictRules(_ scenario: ScenarioDocument) throws {
    guard scenario.simulation.rules.rules.isEmpty else { return }
    throw CommandFailure(
      "--strict-rules fails when a rule of the scenario decided nothing, and there is no rule (EINVAL). Give --scenario FILE "
        + "with 'rules', or leave --strict-rules out.", status: .usage)
  }

  /// Two options that name one file; nil where each has its own. Nothing is opened for it.
  func fileConflict() -> NamedFile.Conflict? {
    var files: [NamedFile] = []
    // First, because where it can be written at all, it has what is wrong with the others.
    if let json { files.append(NamedFile("--json", json.bytes, isWritten: true)) }
    if let jsonFd { files.append(NamedFile("--json-fd", descriptor: jsonFd)) }
    if let scenario = options.scenario { files.append(NamedFile("--scenario", scenario.bytes, isWritten: false)) }
    if let file = expected.baselineFile { files.append(file) }
    if let log = options.log {
      files.append(NamedFile("--log", log.bytes, isWritten: true))
    } else if let state = options.state {
      files.append(NamedFile("--state", PathBytes.join(state.bytes, Array("log".utf8)), isWritten: true))
    }
    files += reporting.reports.map { NamedFile("--report \($0.kind.rawValue)", $0.path, isWritten: true) }
    return NamedFile.conflict(in: files)
  }

  /// Before anything else is opened: what is no descriptor of the caller's could be one of ours later.
  ///
  /// - Parameter conflict: Where it is about this one, nothing is opened.
  func destination(_ conflict: NamedFile.Conflict?) throws(CommandFailure) -> JSONDestination? {
    if let conflict, conflict.concerns("--json") || conflict.concerns("--json-fd") {
      throw conflict.failure(status: .runFailed)
    }
    if let jsonFd {
      let destination = try JSONDestination.open(descriptor: jsonFd)
      if jsonFd == STDERR_FILENO { Console.silence() }
      return destination
    }
    guard let json else { return nil }
    return try JSONDestination.open(path: json.bytes)
  }

  /// Ours, which is also that of the command at its start; nil where it is gone.
  static var workingDirectory: [UInt8]? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
  }

  /// Writes the answer as JSON.
  ///
  /// - Parameter status: How the run ended but for that.
  /// - Returns: How it ended: an answer that could not be written is our failure, but hides nothing that does not
  ///   hold. Standard error says why it could not.
  static func write(_ answer: some Encodable, to destination: JSONDestination?, of status: RunStatus) -> RunStatus {
    guard let destination else { return status }
    var status = status
    do {
      try destination.write(answer)
    } catch {
      if let failure = error as? CommandFailure { Console.error(failure) } else { Console.error("\(error)") }
      status.isOutputMissing = true
    }
    return status
  }

  /// Where the answer was to go by arguments that are wrong otherwise; nil for nowhere, or where that cannot be told,
  /// and where another argument names the same file.
  static func destination(_ arguments: [String]) -> JSONDestination? {
    let own = Array(arguments.prefix { $0 != "--" })
    func value(of option: String) -> String? {
      if let index = own.firstIndex(of: option) { return index + 1 < own.endIndex ? own[index + 1] : nil }
      return own.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) }
    }
    if let number = value(of: "--json-fd") {
      guard let number = CInt(number), let destination = try? JSONDestination.open(descriptor: number) else {
        return nil
      }
      if number == STDERR_FILENO { Console.silence() }
      return destination
    }
    guard let path = value(of: "--json"), !path.isEmpty else { return nil }
    let bytes = ArgumentBytes.decode(path)
    if let identity = FileIdentity(bytes), uses(of: identity, in: own) > 1 { return nil }
    return try? JSONDestination.open(path: bytes)
  }

  /// How many arguments name a file: themselves, or behind an equals sign.
  private static func uses(of identity: FileIdentity, in arguments: [String]) -> Int {
    arguments.count { argument in
      let bytes = ArgumentBytes.decode(argument)
      let values = bytes.indices.filter { bytes[$0] == UInt8(ascii: "=") }.map { Array(bytes[($0 + 1)...]) }
      return ([bytes] + values).contains { FileIdentity($0) == identity }
    }
  }
}
