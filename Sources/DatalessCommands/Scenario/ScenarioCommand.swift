import ArgumentParser

/// `dataless scenario`: the whole of what a volume simulates.
struct ScenarioCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scenario",
    abstract: "Show, replace or check what a volume simulates.",
    discussion: """
      EXAMPLES
        dataless scenario check slow.yaml
        dataless scenario apply /mnt/project slow.yaml

      EXIT STATUS
        0 done; 1 failure; 2 wrong use, also an invalid scenario; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """,
    subcommands: [ScenarioShowCommand.self, ScenarioApplyCommand.self, ScenarioCheckCommand.self])
}
