import ArgumentParser

/// `dataless gate`: holds that only the tester releases.
struct GateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gate",
    abstract: "See who is held at a gate, wait for callers, and let them go.",
    discussion: """
      A gate is there because a rule of the scenario names it: `gate: NAME`. It holds the attempts that match the rule, \
      and every caller that waits for them, until it is released; nothing else.

      EXAMPLES
        dataless gate wait /mnt/project photos --callers 2 --timeout 10s
        dataless gate release /mnt/project photos --fail EIO

      EXIT STATUS
        0 done; 1 failure, also no such gate, or nothing of the kind held; 2 wrong use; 3 no such volume, or its daemon \
      is not running; 4 timed out: `wait` did not see so many callers.
      """,
    subcommands: [
      GateListCommand.self, GateWaitCommand.self, GateReleaseCommand.self, GateOpenCommand.self, GateCloseCommand.self,
    ])
}
