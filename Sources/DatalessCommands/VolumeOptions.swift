public import ArgumentParser
import DatalessCore
import DatalessDaemon
import DatalessScenario

/// The options of a volume, shared by `mount` and `run`.
struct VolumeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What is simulated: a file of settings and rules, or - for standard input. Other options override its settings."
        + " [default: nothing]", valueName: "file"))
  var scenario: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Delay before the content of a file, such as 200ms or 1.5s. [default: 0]", valueName: "duration"),
    transform: { try Self.setting($0, DurationText.parse) })
  var latency: String?

  @Option(
    help: ArgumentHelp("Delay before the listing of a directory, such as 50ms. [default: 0]", valueName: "duration"),
    transform: { try Self.setting($0, DurationText.parse) })
  var directoryLatency: String?

  @Option(
    help: ArgumentHelp(
      "Bytes per second that all fetches share, such as 20MB/s. [default: unlimited]", valueName: "rate"),
    transform: { try Self.setting($0, Rate.parse) })
  var bandwidth: String?

  @Option(
    help: ArgumentHelp("Fetches at the same time, 1 or more. [default: unlimited]", valueName: "n"),
    transform: Self.count)
  var concurrency: String?

  @Option(
    help: ArgumentHelp(
      "The most local content, such as 2GiB: what was used least recently is evicted for more. [default: unlimited]",
      valueName: "size"),
    transform: { try Self.setting($0, ByteSize.parsePositive) })
  var quota: String?

  @Option(
    help: ArgumentHelp(
      "How much of a file one attempt brings in: full, progressive or partial. [default: full]", valueName: "mode"))
  var hydration: Hydration?

  @Option(
    help: ArgumentHelp(
      "Which reads are recorded: off (of files that were dataless when opened) or reads (all; each read of local content "
        + "becomes a request, too). [default: off; run: reads]", valueName: "mode"))
  var observe: Observation?

  @Option(
    help: ArgumentHelp(
      "Of which waits the caller's stack goes into the log: off, first (of each process for each attempt), all, or"
        + " over=DURATION such as over=100ms. [default: off]", valueName: "which"),
    transform: { try Self.setting($0, StackPolicy.parse) })
  var stacks: String?

  @Option(
    help: ArgumentHelp(
      "What is done about a main thread that waits for longer: off, a duration such as 1s (the log has it, with its stack,"
        + " while it waits), log=1s (without the stack), or abort=1s (then SIGABRT; of mount only processes that 'apps'"
        + " of the scenario's watchdog names, which count with this option, too). [default: off]", valueName: "what"),
    transform: { try Self.setting($0, WatchdogPolicy.parse) })
  var watchdog: String?

  @Option(help: ArgumentHelp("Which signals end a wait, with EINTR: fatal or any. [default: fatal]", valueName: "mode"))
  var interrupt: Simulation.InterruptMode?

  @Option(
    help: ArgumentHelp(
      "Attempts that take longer fail with ETIMEDOUT (or as the profile says), such as 30s. [default: never]",
      valueName: "duration"),
    transform: { try Self.setting($0, DurationText.parse) })
  var giveUpAfter: String?

  @Option(
    help: ArgumentHelp(
      "What materializes, and with which errnos it fails: macos, open, windows or openvfs. [default: macos]",
      valueName: "name"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "How metadata looks: blocks=zero|one|real, ctime=stable|bump, seek=data|hole, state=dataless|openvfs|none, subtype=NAME."
        + " Repeatable. [default: blocks=zero, ctime=stable, seek=data, state=dataless, subtype=dataless]",
      valueName: "key=value"),
    transform: Self.assignment)
  var present: [Assignment] = []

  @Option(
    help: ArgumentHelp(
      "Delay of calls on what is local, as on a network file system: lookup=1ms, getattr=1ms, open=1ms, read=5ms, and"
        + " on a volume that can be changed write=5ms. Repeatable."
        + " [default: none]", valueName: "key=value"),
    transform: Self.assignment)
  var access: [Assignment] = []

  // Unconditional: a negative number is a wrong seed, not an option.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("For all that chance decides: the same seed, the same run. [default: 0]", valueName: "n"),
    transform: Self.seed)
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "The event log's file. [default: a new file in /var/log/dataless for root, else in ~/.local/state/dataless/logs]",
      valueName: "file"))
  var log: PathArgument?

  @Option(
    help: ArgumentHelp(
      "Whose command lines the log keeps: none, self (the callers'; of their ancestors the names of programs and"
        + " scripts) or all. [default: self]", valueName: "whose"))
  var argv: ArgumentPolicy = .callers

  @Option(
    help: ArgumentHelp(
      "Where materialized content is kept while the volume is mounted."
        + " [default: /var/cache/dataless for root, else ~/.cache/dataless]",
      valueName: "directory"))
  var cacheDir: PathArgument?

  @Flag(
    help:
      "Let programs change the volume; all changes are forgotten at unmount. SOURCE stays as it is. [default: read-only]"
  )
  var scratch = false

  @Option(
    help: ArgumentHelp(
      "Keep the volume in this directory: what programs change, and what was fetched, is there at the next mount with it. "
        + "Not with --scratch or --cache-dir. [default: nothing is kept]", valueName: "directory"))
  var state: PathArgument?

  @Flag(
    help:
      "Let other users use the volume; of those, only root reaches that of run. [default: only the user that mounts it]"
  )
  var allowOther = false

  @Flag(help: "Follow mounts below SOURCE. [default: they show as empty directories]")
  var crossMounts = false

  @Option(
    help: ArgumentHelp(
      "Do without a fast path, to test the fallback: \(FastPath.allCases.map(\.rawValue).joined(separator: ", ")). Repeatable."
        + " [default: use what the kernel has]", valueName: "fast-path"))
  var without: [FastPath] = []

  /// The plan of a volume of `source`.
  ///
  /// - Parameter observe: Unless an option or the scenario says it. Default: the setting's own default.
  /// - Throws: `CommandFailure` for a malformed synthetic specification, naming the part that is wrong.
  func plan(source: PathArgument, observe: Observation? = nil) throws -> VolumePlan {
    let scenario = try document(observe)
    ScenarioFile.say(scenario.warnings)
    return VolumePlan(
      source: try Self.source(source), scenario: scenario, log: log?.bytes,
      cacheDirectory: cacheDir?.bytes, state: state?.bytes,
      allowOther: allowOther, crossMounts: crossMounts,
      writing: state != nil ? .kept : scratch ? .scratch : .readOnly,
      argumentPolicy: argv, without: without)
  }

  func validate() throws {
    guard state != nil else { return }
    if scratch {
      throw ValidationError("--state keeps what --scratch forgets (EINVAL): give one of them.")
    }
    if cacheDir != nil {
      throw ValidationError("--state has the content, too (EINVAL): give it without --cache-dir.")
    }
  }

  /// The scenario of the file with the options in it.
  private func document(_ observeByDefault: Observation?) throws -> ScenarioDocument {
    let document = try scenario.map { try ScenarioFile.read($0) } ?? .empty
    let observe = self.observe ?? (document.root.value(at: "observe") == nil ? observeByDefault : nil)
    let settings =
      [
        ("latency", latency), ("directory_latency", directoryLatency), ("bandwidth", bandwidth),
        ("concurrency", concurrency), ("quota", quota), ("hydration", hydration?.rawValue),
        ("interrupt", interrupt?.rawValue),
        ("observe", observe?.rawValue), ("stacks", stacks),
        ("watchdog", watchdog.map { Self.watchdog($0, in: document) }),
        ("give_up_after", giveUpAfter), ("seed", seed.map(String.init)),
        ("profile", profile),
      ].compactMap { key, value in value.map { (key: key, value: $0) } }
      + present.map { (key: "present.\($0.key)", value: $0.value) }
      + access.map { (key: "access.\($0.key)", value: $0.value) }
    guard !settings.isEmpty else { return document }
    return try ScenarioFile.checked { () throws(ScenarioError) in try document.setting(settings) }
  }

  /// The option says what is done, and when; whom it is about stays with the scenario.
  static func watchdog(_ text: String, in document: ScenarioDocument) -> String {
    guard case .some(.some(let policy)) = try? WatchdogPolicy.parse(text),
      let apps = document.root.value(at: "watchdog.apps")
    else { return text }
    let node = ScenarioNode.object([
      "main_thread": .text("\(policy.mainThread.rawValue)ns"), "action": .text(policy.action.rawValue), "apps": apps,
    ])
    return String(decoding: node.json(pretty: false), as: UTF8.self)
  }

  private static func source(_ argument: PathArgument) throws -> VolumeConfiguration.Source {
    let text = String(decoding: argument.bytes, as: UTF8.self)
    guard SyntheticSource.isSpecification(text) else { return .directory(argument.bytes) }
    do {
      try SyntheticSource.check(text)
    } catch {
      throw CommandFailure("cannot use SOURCE: \(error.message) (EINVAL).", status: .usage)
    }
    return .synthetic(text)
  }

  /// The text of a setting that is one.
  private static func setting<Value>(
    _ text: String, _ parse: (String) throws(FSError) -> Value
  ) throws -> String {
    _ = try checked { () throws(FSError) in try parse(text) }
    return text
  }

  /// KEY=VALUE.
  struct Assignment: Sendable {
    var key: String
    var value: String
  }

  private static func assignment(_ text: String) throws -> Assignment {
    guard let mark = text.firstIndex(of: "="), mark != text.startIndex else {
      throw ValidationError("malformed setting '\(text)': expected KEY=VALUE, such as blocks=one (EINVAL).")
    }
    return Assignment(key: String(text[..<mark]), value: String(text[text.index(after: mark)...]))
  }

  private static func count(_ text: String) throws -> String {
    guard let value = Int(text), (1...1_000_000).contains(value) else {
      throw ValidationError("malformed concurrency '\(text)': expected a whole number, 1 to 1000000 (EINVAL).")
    }
    return String(value)
  }

  private static func seed(_ text: String) throws -> UInt64 {
    guard let value = UInt64(text) else {
      throw ValidationError("malformed seed '\(text)': expected a whole number, 0 to \(UInt64.max) (EINVAL).")
    }
    return value
  }

  static func checked<Value>(_ parse: () throws(FSError) -> Value) throws -> Value {
    do {
      return try parse()
    } catch {
      throw ValidationError(error.message + " (EINVAL).")
    }
  }
}

extension ArgumentPolicy: ExpressibleByArgument {}
extension FastPath: ExpressibleByArgument {}
extension Hydration: ExpressibleByArgument {}
extension Observation: ExpressibleByArgument {}
extension Simulation.InterruptMode: ExpressibleByArgument {}
