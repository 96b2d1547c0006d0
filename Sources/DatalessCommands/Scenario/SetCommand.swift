import ArgumentParser
import DatalessControl
import DatalessScenario

/// `dataless set`: changes settings of a mounted volume.
struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Change settings of a mounted volume, such as its latency.",
    discussion: """
      Holds for what is triggered from now on; attempts under way go on as they started. Settings are those of a scenario \
      file: seed, latency, directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, stacks, watchdog, \
      interrupt, give_up_after, offline, materialize, profile, present, access, poll; and present.blocks, present.ctime, \
      present.seek and present.state alone, as access.lookup, access.getattr, access.open, access.read and access.write. \
      Values are written as in such a file; 'none' removes a limit. All are changed, or none.

      EXAMPLES
        dataless set /mnt/project latency=200ms bandwidth=20MB/s
        dataless set /mnt/project 'latency={preset: s3}' profile=windows present.blocks=one

      EXIT STATUS
        0 changed; 1 failure; 2 usage error, also an invalid value; 3 no such volume, or its daemon is not running; \
      4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(
    help: ArgumentHelp("Settings with their new values.", valueName: "key=value"), completion: Completions.setting)
  var settings: [String]

  @Flag(help: "Print the number of rules and the warnings as a JSON object. [default: print nothing]")
  var json = false

  func validate() throws {
    _ = try parsed()
  }

  func run() throws {
    let settings = try withoutFiles(try parsed())
    let change = try RemoteCall.run(mountpoint, failure: "cannot change settings of \(mountpoint.description)") {
      client in
      try await client.changeSettings(settings)
    }
    try ScenarioChangeReport.print(change, json: json)
  }

  /// Logs that `replay` names are read here, from the working directory on: the daemon opens no file for a scenario.
  private func withoutFiles(_ settings: [String: JSONValue]) throws -> [String: JSONValue] {
    var settings = settings
    for (key, value) in settings {
      guard case .string(let text) = value else { continue }
      settings[key] = .string(
        try ScenarioFile.checked { () throws(ScenarioError) in
          try ScenarioDocument.valueWithoutFiles(key, text, readFile: ScenarioFile.reader(in: []))
        })
    }
    return settings
  }

  private func parsed() throws -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for setting in settings {
      guard let mark = setting.firstIndex(of: "="), mark != setting.startIndex else {
        throw ValidationError("malformed setting '\(setting)': expected KEY=VALUE, such as latency=200ms (EINVAL).")
      }
      let key = String(setting[..<mark])
      guard values.updateValue(.string(String(setting[setting.index(after: mark)...])), forKey: key) == nil else {
        throw ValidationError("'\(key)' is set twice. Give it once (EINVAL).")
      }
    }
    return values
  }
}
