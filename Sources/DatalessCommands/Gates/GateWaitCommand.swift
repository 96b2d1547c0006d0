import ArgumentParser
import DatalessControl
import DatalessCore

/// `dataless gate wait`: until so many callers are blocked.
struct GateWaitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until so many callers are blocked at a gate.",
    discussion: """
      EXAMPLES
        dataless gate wait /mnt/project photos
        dataless gate wait /mnt/project photos --callers 100 --timeout 10s --json

      EXIT STATUS
        0 so many are blocked; 1 no such gate, or failure; 2 usage error; 3 no such volume, or its daemon is not running; \
      4 not so many within the time limit.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("The gate.", valueName: "name"), completion: Completions.gate)
  var name: String

  @Option(
    help: ArgumentHelp("How many callers, 0 or more. [default: 1]", valueName: "n"),
    transform: { text in
      guard let value = Int64(text), value >= 0 else {
        throw ValidationError("malformed number of callers '\(text)': expected a whole number, 0 or more (EINVAL).")
      }
      return value
    })
  var callers: Int64 = 1

  @Option(
    help: ArgumentHelp("How long to wait at most, up to 24h. [default: 30s]", valueName: "duration"),
    transform: { text in
      let duration = try VolumeOptions.checked { () throws(FSError) in try DurationText.parse(text) }
      guard duration <= .milliseconds(GateWaitRequest.timeoutMillisecondsMax) else {
        throw ValidationError("malformed time limit '\(text)': expected at most 24h (EINVAL).")
      }
      return duration
    })
  var timeout: Duration = .milliseconds(GateWaitRequest.defaultTimeoutMilliseconds)

  @Flag(help: "Print a JSON object. [default: print nothing]")
  var json = false

  func run() throws {
    // Rounded up: a limit of 100 us is one.
    let limit = (timeout.nanoseconds + 999_999) / 1_000_000
    let request = GateWaitRequest(gate: name, callers: callers, timeoutMilliseconds: limit)
    let answer = try RemoteCall.run(mountpoint, failure: "cannot wait at \(mountpoint.description)") { client in
      try await client.waitForGate(request)
    }
    if json { try StandardOutput().json(answer) }
    guard answer.isReached else {
      throw CommandFailure(
        "\(HumanText.count(answer.callers)) of \(HumanText.count(callers, "caller")) at gate "
          + "'\(TerminalText.escaped(name))' within \(DurationText.format(timeout)) (ETIMEDOUT). "
          + "`dataless gate list \(mountpoint.description)` shows who is there.", status: .timedOut)
    }
  }
}
