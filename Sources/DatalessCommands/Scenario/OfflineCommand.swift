import ArgumentParser
import DatalessControl

/// `dataless offline`: makes the store unreachable.
struct OfflineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "offline",
    abstract: "Make a volume's backing store unreachable: what needs it fails with ETIMEDOUT.",
    discussion: """
      Fails at once, without latency; what is resident or listed is served as before. Fetches under way go on.

      EXAMPLES
        dataless offline /mnt/project
        dataless offline /mnt/project --json

      EXIT STATUS
        0 the store is unreachable; 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func run() throws { try Self.set(true, mountpoint, json: json) }

  static func set(_ isOffline: Bool, _ mountpoint: PathArgument, json: Bool) throws {
    let what = "cannot take \(mountpoint.description) \(isOffline ? "offline" : "online")"
    let change = try RemoteCall.run(mountpoint, failure: what) { client in
      try await client.changeSettings(["offline": .bool(isOffline)])
    }
    try ScenarioChangeReport.print(change, json: json)
  }
}

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
        0 the store can be reached; 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func run() throws { try OfflineCommand.set(false, mountpoint, json: json) }
}
