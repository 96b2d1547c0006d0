import ArgumentParser

/// Options with one value that decide what is expected, what the log tells of it, or which files are written. Of
/// several the parser takes the last one and says nothing: whoever relies on the others would believe that they hold,
/// or miss a file. (`--baseline` is looked at where it is read.) Those that only shape a simulation, such as
/// `--latency`, may be given again, behind those of a script.
enum RepeatedOptions {
  static let names = [
    "--expect", "--scenario", "--max-files", "--max-bytes", "--max-dirs", "--max-wait", "--max-main-thread",
    "--max-needless", "--max-refusals", "--max-parallel", "--min-parallel", "--max-repeated", "--max-serial-waits",
    "--max-together", "--observe", "--stacks", "--watchdog", "--wait-children", "--log", "--json", "--json-fd",
    "--state", "--cache-dir",
  ]
  private static let commands: Set<String> = ["run", "mount", "check-log", "restore"]
  /// Conditions of `log`, which hold together: of two of a kind one would not.
  static let conditions = ["--path", "--process", "--since", "--until", "--blocked", "--rule"]

  /// - Parameter arguments: As they were parsed, so that none of these names is the value of another option.
  /// - Throws: `ValidationError` for the first one that is given more than once.
  static func check(_ arguments: [String]) throws {
    guard let command = arguments.first, commands.contains(command) || command == "log" else { return }
    // Behind `--` are the words of another command.
    let own = arguments.dropFirst().prefix { $0 != "--" }
    for name in command == "log" ? conditions : names {
      let count = own.count { $0 == name || $0.hasPrefix(name + "=") }
      if count > 1 { throw ValidationError("\(name) is given \(count) times: there can be one (EINVAL).") }
    }
  }
}
