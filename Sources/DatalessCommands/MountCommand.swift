import ArgumentParser
import DatalessControl
import DatalessCore
import DatalessDaemon
import DatalessScenario

/// `dataless mount`: presents a directory as dataless files.
struct MountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mount",
    abstract: "Present a directory as a volume of dataless files.",
    discussion: """
      Names, sizes, times, owners and xattrs are there at once; content comes at the first read. The volume is \
      read-only unless --scratch lets programs change it until it is unmounted, or --state DIR keeps what they change \
      for the next mount; SOURCE is never written to, except for dataless' own cache and log directories where these lie \
      in it, which the volume does not show. Returns when the volume answers; a daemon serves it until it is unmounted.

      EXAMPLES
        dataless mount ~/project /mnt/project --latency 200ms --state ~/.project-state
        dataless mount synthetic:files=1000000,depth=3,size=4k..1m,seed=1 /mnt/many --scenario slow.yaml

      EXIT STATUS
        0 the volume answers; 1 it cannot be mounted; 2 usage error, also an invalid scenario; 4 SOURCE or the volume did not answer in time.
      """)

  @Argument(
    help: ArgumentHelp("A directory, or synthetic:files=N[,depth=N][,size=MIN..MAX][,seed=N].", valueName: "source"))
  var source: PathArgument

  @Argument(help: ArgumentHelp("An empty directory outside of SOURCE.", valueName: "mountpoint"))
  var mountpoint: PathArgument

  @OptionGroup var options: VolumeOptions

  @Option(
    help: ArgumentHelp(
      "Unmount the volume when this process ends, however it ends. It must be yours. [default: stay until unmounted]",
      valueName: "pid"),
    transform: Self.process)
  var endsWith: Int32?

  @Flag(help: "Serve the volume in this process, until Ctrl-C or SIGTERM. [default: a daemon in the background]")
  var foreground = false

  @Flag(help: "Print a JSON object. [default: text]")
  var json = false

  func run() throws {
    let plan = try options.plan(source: source)
    var configuration = try plan.configure(mountpoint: mountpoint.bytes, say: { Console.note("dataless: \($0)") })
    configuration.endsWith = endsWith
    if case .directory(let folder) = plan.source { RulePaths.warn(plan.scenario.simulation.rules, folder) }
    if let warning = Self.warning(of: plan.scenario.simulation.watchdog) {
      Console.note("dataless: warning: \(warning)")
    }
    if !foreground {
      let launched = try DaemonLauncher().launch(configuration)
      // Detached before anything is printed: whoever closes our output early must not end the volume with it.
      launched.detach()
      return try MountReport(launched.volume, configuration, scenario: plan.scenario.warnings).print(json: json)
    }
    var failure: CommandFailure?
    let status = DaemonProcess.serveInForeground(configuration) { message in
      switch message {
      case .ready(let volume):
        try? MountReport(volume, configuration, scenario: plan.scenario.warnings).print(json: json)
      case .error(let text, let code): failure = CommandFailure(LifecycleError(text, exitCode: code))
      }
    }
    if let failure { throw failure }
    throw CommandExit(code: status)
  }
}

extension MountCommand {
  private static func process(_ text: String) throws -> Int32 {
    guard let pid = Int32(text), pid > 0 else {
      throw ValidationError("malformed process id '\(text)': expected a whole number, 1 or more (EINVAL).")
    }
    return pid
  }

  /// `run` has its command to abort; a mounted volume has nobody but those that are named. The option names nobody.
  static func warning(of watchdog: WatchdogPolicy?) -> String? {
    guard let watchdog, watchdog.action == .abort, watchdog.apps.isEmpty else { return nil }
    return "watchdog: abort needs 'apps' in the scenario, and none are named: nobody is aborted until then. "
      + "Write 'watchdog: {main_thread: 1s, action: abort, apps: {comm: viewer}}' into it."
  }
}

/// What `mount` prints about the volume it mounted.
struct MountReport {
  private let answer: MountAnswer
  private let lines: [String]

  /// - Parameter scenario: What is worth a look in it; standard error has it already.
  init(_ volume: ReadyVolume, _ configuration: VolumeConfiguration, scenario: [ScenarioWarning]) {
    let changes: MountAnswer.Changes =
      switch configuration.writing {
      case .readOnly: .refused
      case .scratch: .forgotten
      case .kept: .kept
      }
    answer = MountAnswer(
      changes: changes, device: volume.device, log: volume.log, mountpoint: volume.mountpoint, pid: volume.pid,
      session: volume.session,
      socket: SessionPaths.socket(runtime: configuration.runtimeDirectory, device: volume.device),
      source: configuration.sourceBytes,
      warnings: volume.warnings,
      scenarioWarnings: scenario.map { WireProblem($0) })
    let isReadOnly = configuration.writing == .readOnly
    var lines =
      [
        "mounted \(TerminalText.escaped(volume.mountpoint)) (\(isReadOnly ? "read-only" : "writable")) from "
          + TerminalText.escaped(configuration.sourceBytes),
        "log \(TerminalText.escaped(volume.log))",
      ]
    switch configuration.writing {
    case .readOnly: break
    case .scratch: lines.append("all changes are forgotten at unmount")
    case .kept: lines.append("changes are kept in \(TerminalText.escaped(configuration.state ?? []))")
    }
    self.lines = lines
  }

  /// Warnings go to standard error, the rest to standard output.
  func print(json: Bool) throws {
    let output = StandardOutput()
    if json {
      try output.json(answer)
      return
    }
    for warning in answer.warnings { Console.note("dataless: warning: \(warning)") }
    for line in lines { try output.line(line) }
    try output.flush()
  }
}
