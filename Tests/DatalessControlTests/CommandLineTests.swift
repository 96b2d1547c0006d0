import ArgumentParser
import DatalessScenario
import Testing

@testable import DatalessCommands

/// The command line as a function: arguments in, exit status out. Nothing here mounts.
@Suite struct CommandLineTests {
  @Test(arguments: [
    "mnt a", "log", "log x --type bogus", "log x --tree --json", "log x --tree -f", "log x --since 2026-02-30",
    "log x --since soon", "log x --since 5m --until 10m", "log x --blocked <0s", "log x --blocked >5",
    "log x --outcome EIOO", "log x --type mark --blocked 1s", "log x --type handle --main-thread",
    "log x --type wait.started --outcome ok", "--bogus", "mark /tmp", "ls", "status a b",
    "set /proc", "set /proc latency", "set /proc a=1 a=2", "set /proc =1", "offline", "gate wait /proc",
    "gate release /proc g --fail EIOO",
    "gate release /proc g --all --count 1", "gate release /proc g --count 0", "gate release /proc g --path [",
    "gate wait /proc g --callers -1", "gate wait /proc g --timeout 5", "gate wait /proc g --timeout 48h",
    "policy /proc maybe",
    "policy /proc off --exe cat", "policy /proc rule", "explain", "scenario apply /proc", "mount a b --interrupt some",
    "mount a b --seed x", "mount a b --stacks some", "mount a b --stacks over=5", "stack", "stack /proc --pid x",
    "mount a b --give-up-after 5", "check-log", "check-log x", "check-log x --max-files -1", "check-log x --max-wait 5",
    "check-log x --min-parallel 0", "check-log x --forbid [", "check-log x --update-baseline",
    "check-log x --baseline a --baseline b", "check-log x --allow /", "check-log x --expect a --expect b",
    "mount a b --scenario c --scenario=d", "restore --simulate --from a b --scenario c --scenario d",
    "mount a b --give-up-after 5", "summary x --report pdf=x", "summary x --report junit",
    "summary x --report json=- --report trace=-", "summary x --json --report json=-", "diff", "diff a",
    "diff a b --fail-on more", "diff a b --report trace=x",
    "top", "top /proc --interval 5ms", "top /proc --count 0", "top /proc --sort size", "mount a b --watchdog soon",
    "mount a b --quota 0", "mount a b --quota x", "pin", "pin /proc --policy maybe", "unpin", "pressure",
    "remove", "remove --json",
    "pressure /proc 5MB", "pressure 0 /proc", "pressure -1 /proc", "capacity", "inventory",
    "inventory /proc --report json=x", "inventory /proc --report html",
    "conflicts", "conflicts --keep-mine --keep-both /proc", "conflicts --keep-all /proc",
    "mount a b --watchdog kill=1s", "mount a b --watchdog 0s", "summary x --frame 0", "check", "check a b", "export a",
    "doctor x",
    "restore", "restore --simulate x", "restore --from x y",
  ])
  func wrongUse(line: String) { #expect(Self.execute(line) == 2) }

  /// The parser alone would take the last one, and say nothing of what is not looked at then.
  @Test(arguments: RepeatedOptions.conditions) func aConditionOfLogIsGivenOnce(name: String) throws {
    #expect(throws: ValidationError.self) { try RepeatedOptions.check(["log", "x", name, "1", "\(name)=2"]) }
    try RepeatedOptions.check(["summary", "x", name, "1", name, "2"])
  }

  @Test(arguments: RepeatedOptions.names) func whatIsExpectedIsSaidOnce(name: String) throws {
    for arguments in [["check-log", "x", name, "1", "\(name)=2"], ["run", "x", name, "1", name, "2", "--", "true"]] {
      let error = #expect(throws: ValidationError.self) { try RepeatedOptions.check(arguments) }
      #expect(error?.message == "\(name) is given 2 times: there can be one (EINVAL).")
    }
    try RepeatedOptions.check(["run", "x", name, "1", "--", "echo", name, name])
    try RepeatedOptions.check(["log", "x", name, "1", name, "2"])
    if name.hasPrefix("--max") || name.hasPrefix("--min") {
      let value = name == "--max-wait" || name == "--max-main-thread" ? "1s" : "1"
      #expect(DatalessCommand.execute(["check-log", "/dev/null", name, value]) == 1)
      #expect(DatalessCommand.execute(["check-log", "/dev/null", name, value, name, value]) == 2)
    }
  }

  /// 2 would be taken for the command's own status.
  @Test(arguments: [
    "run", "run /tmp --max-files 0 --max-files 9 -- true", "run /tmp --scenario a --scenario b -- true",
    "run /tmp --bogus -- true", "run /tmp --report html=- -- true", "run /tmp --report html -- true", "exec",
    "exec -- true", "exec --materialize maybe -- true",
    "exec --materialize off", "coordinate", "coordinate -- true", "coordinate --read a",
    "coordinate --read a --timeout soon -- true",
  ])
  func wrongUseOfWhatPassesAStatusOn(line: String) { #expect(Self.execute(line) == 125) }

  @Test(arguments: [
    "log /nonexistent", "summary /dev/null", "check-log /dev/null --max-files 1",
    "check-log /nonexistent --max-files 1", "check-log x --baseline /nonexistent", "check-log x --baseline /dev/null",
    "log /dev/null", "check /nonexistent", "check /dev/null", "check /usr/share/doc",
    "export /usr/share/doc /nonexistent", "restore --simulate --from /usr/share/doc /nonexistent",
  ])
  func failures(line: String) { #expect(Self.execute(line) == 1) }

  @Test(arguments: [
    "status /proc", "ls /proc", "materialize /proc", "evict /proc/self /", "mark / x", "unmount /proc",
    "summary /proc", "log /", "set /proc latency=1s", "offline /proc", "online /proc", "gate list /proc", "stack /proc",
    "top /proc",
    "gate wait /proc g", "gate release /proc g", "gate open /proc g", "gate close /proc g", "scenario show /proc",
    "fault add /proc EIO", "fault list /proc", "fault remove /proc x", "policy /proc", "policy /proc off",
    "policy /proc rule off",
    "explain /proc", "pin /proc", "unpin /proc/self", "pressure 5MB /proc", "capacity /proc", "inventory /proc",
    "remove /proc/self",
    "conflicts /proc", "conflicts --take-theirs /proc/self",
  ])
  func noVolume(line: String) { #expect(Self.execute(line) == 3) }

  /// The parser takes -1 for an option; it is a value that an option has to refuse.
  @Test(
    arguments: [
      ("check-log x --max-files -1", "malformed number of files '-1': expected a whole number, 0 or more"),
      ("run x --max-dirs -2 -- true", "malformed number of directories '-2': expected a whole number, 0 or more"),
      ("gate wait /proc g --timeout -5s", "'-5s'"), ("mount a b --concurrency -1", "'-1'"),
      ("mount a b --seed -1", "malformed seed '-1'"),
      ("check-log x --min-parallel -.5", "malformed --min-parallel '-.5'"),
    ])
  func aNegativeNumberIsAWrongValue(line: String, words: String) {
    let arguments = NegativeNumbers.joined(line.split(separator: " ").map { String($0) })
    let error = #expect(throws: (any Error).self) { try DatalessCommand.parseAsRoot(arguments) }
    let message = error.map { DatalessCommand.message(for: $0) } ?? ""
    #expect(message.contains(words), "\(message)")
    #expect(!message.lowercased().contains("missing value"))
  }

  @Test func theWordsOfACommandAreLeftAsTheyAre() {
    func joined(_ line: String) -> [String] { NegativeNumbers.joined(line.split(separator: " ").map { String($0) }) }
    let words = ["run", "x", "--max-files=-1", "--", "head", "--lines", "-1"]
    #expect(joined("run x --max-files -1 -- head --lines -1") == words)
    for line in ["mark /mnt -1", "run x --json -", "status --json -h", "a --b=c -1", "-1", "--"] {
      #expect(joined(line) == line.split(separator: " ").map { String($0) })
    }
  }

  /// Wherever it stands: behind a flag it is joined with that.
  @Test(arguments: ["pressure -5 /m", "pressure /m -5", "pressure /m --json -5", "pressure --json -5 /m"])
  func aNegativeSizeIsNamed(line: String) {
    let arguments = NegativeNumbers.joined(line.split(separator: " ").map { String($0) })
    let error = #expect(throws: (any Error).self) { try DatalessCommand.parseAsRoot(arguments) }
    let text = error.map { DatalessCommand.message(for: $0) } ?? ""
    let message = DatalessCommand.usageMessage(text, arguments: arguments, subcommand: "pressure")
    #expect(message.hasPrefix("malformed size '-5': expected 1 byte or more (EINVAL)"), "\(message)")
  }

  /// The parser alone names what is missing first, and of the option nothing.
  @Test(
    arguments: [
      ("ls --json --jsno", "unknown option '--jsno'. Did you mean '--json'?"),
      ("mount --latncy 5ms", "unknown option '--latncy'. Did you mean '--latency'?"),
      ("fault remove --jsn", "unknown option '--jsn'. Did you mean '--json'?"),
      ("run --frmae 5ms", "unknown option '--frmae'. Did you mean '--frame'?"),
      ("run /tmp --frmae 5ms --", "unknown option '--frmae'. Did you mean '--frame'?"),
      // Nothing is unknown, or something else is wrong, too.
      ("ls --json", "missing expected argument '<path> ...'."),
      ("gate wait --callers 2", "missing expected argument '<mountpoint>'."),
      ("run /tmp", "missing expected argument '-- <command> ...'."),
      ("mount --bandwidth", "missing value for '--bandwidth <rate>'."),
    ])
  func anUnknownOptionIsNamedBeforeWhatIsMissing(line: String, words: String) {
    let arguments = line.split(separator: " ").map { String($0) }
    let error = #expect(throws: (any Error).self) { try DatalessCommand.parseAsRoot(arguments) }
    let text = error.map { DatalessCommand.parsingMessage($0, arguments) } ?? ""
    let message = DatalessCommand.usageMessage(text, arguments: arguments, subcommand: arguments.first)
    #expect(message.hasPrefix(words), "\(message)")
  }

  private static func execute(_ line: String) -> Int32 {
    DatalessCommand.execute(line.split(separator: " ").map { String($0) })
  }

  @Test func everyCommandHasTwoExamplesAndItsExitStatuses() {
    let groups = DatalessCommand.configuration.groupedSubcommands
    let commands = groups.flatMap { $0.subcommands }
    #expect(commands.count == 37)
    let named = commands.map { ($0.configuration.commandName ?? "", $0) }
    let below = named.flatMap { parent, command in
      command.configuration.subcommands.map { ("\(parent) \($0.configuration.commandName ?? "")", $0) }
    }
    #expect(below.count == 11)
    for (name, command) in named + below {
      let text = command.configuration.discussion
      #expect(text.contains("EXIT STATUS"), "\(name)")
      let examples = text.split(separator: "\n").count { $0.hasPrefix("  ") && $0.contains("dataless \(name)") }
      #expect(examples == 2, "\(name)")
    }
  }

  /// What a scenario can set, and `set` can change, is in its help.
  @Test func theHelpOfSetNamesEverySetting() throws {
    let schema = try ScenarioNode(parsing: ScenarioSchema.json(), name: "schema")
    func names(_ node: ScenarioNode?) -> [String] {
      guard case .mapping(let entries) = node?.value else { return [] }
      return entries.map(\.key)
    }
    let settings = names(schema["properties"]).filter { !["version", "rules", "expect"].contains($0) }
    let accesses = names(schema["$defs"]?["access"]?["properties"]).map { "access.\($0)" }
    #expect(settings.count > 20 && accesses.count > 4)
    let text = SetCommand.configuration.discussion
    let words = text.split { !$0.isLetter && $0 != "_" && $0 != "." }.map { $0.hasSuffix(".") ? $0.dropLast() : $0 }
    for name in settings + accesses {
      #expect(words.contains { $0 == name }, "'dataless set --help' does not name \(name)")
    }
  }

  @Test func theStatusesAreThoseOfTheDocumentation() {
    #expect(DatalessCommands.ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3, 4, 90, 91, 92, 125, 126, 127, 130])
  }
}
