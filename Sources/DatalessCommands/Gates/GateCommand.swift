import ArgumentParser
import DatalessControl

/// `dataless gate`: holds that only the tester releases.
struct GateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gate",
    abstract: "See who is held at a gate, wait for callers, and let them go.",
    discussion: """
      A gate is there because a rule of the scenario names it: `gate: NAME`. It holds the attempts that match the rule, \
      and every caller that waits for them, until it is released; or, with `access: {open: {gate: NAME}}`, the calls of that \
      operation on what is local. Nothing else.

      EXAMPLES
        dataless gate wait /mnt/project photos --callers 2 --timeout 10s
        dataless gate release /mnt/project photos --fail EIO

      EXIT STATUS
        0 done; 1 failure, also no such gate, or nothing of the kind held; 2 usage error; 3 no such volume, or its daemon \
      is not running; 4 timed out: `wait` did not see so many callers.
      """,
    subcommands: [
      GateListCommand.self, GateWaitCommand.self, GateReleaseCommand.self, GateOpenCommand.self, GateCloseCommand.self,
    ])
}

/// `dataless gate open`.
struct GateOpenCommand: ParsableCommand {
  static let configuration = GateSetting.configuration(
    "open", abstract: "Open a gate: lets go what it holds, and lets everything pass.")

  @OptionGroup var setting: GateSetting

  func run() throws { try setting.set(isOpen: true) }
}

/// `dataless gate close`.
struct GateCloseCommand: ParsableCommand {
  static let configuration = GateSetting.configuration(
    "close", abstract: "Close a gate again, so that it holds what comes.")

  @OptionGroup var setting: GateSetting

  func run() throws { try setting.set(isOpen: false) }
}

/// What `gate open` and `gate close` have in common.
struct GateSetting: ParsableArguments {
  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("The gate.", valueName: "name"), completion: Completions.gate)
  var name: String

  @Flag(help: "Print a JSON object. [default: print nothing]")
  var json = false

  static func configuration(_ verb: String, abstract: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: verb,
      abstract: abstract,
      discussion: """
        A new gate is closed. Opening and closing a gate that is so already does nothing.

        EXAMPLES
          dataless gate \(verb) /mnt/project photos
          dataless gate \(verb) /mnt/project photos --json

        EXIT STATUS
          0 done; 1 no such gate, or failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
        """)
  }

  func set(isOpen: Bool) throws {
    let name = name
    let what = "cannot \(isOpen ? "open" : "close") a gate of \(mountpoint.description)"
    let answer = try RemoteCall.run(mountpoint, failure: what) { client in
      try await client.setGate(name, isOpen: isOpen)
    }
    if json { try StandardOutput().json(answer) }
  }
}
