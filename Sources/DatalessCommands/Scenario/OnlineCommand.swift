import ArgumentParser

/// `dataless online`: the store can be reached again.
struct OnlineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "online",
    abstract: "Make a volume's backing store reachable again.",
    discussion: """
      The next trigger of an item is a new attempt.

      EXAMPLES
        dataless online /mnt/project
        dataless online /mnt/project --json

      EXIT STATUS
        0 the store can be reached; 1 failure; 2 wrong use; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"))
  var mountpoint: PathArgument

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func run() throws { try OfflineCommand.set(false, mountpoint, json: json) }
}
