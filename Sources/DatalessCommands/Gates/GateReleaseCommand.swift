import ArgumentParser
import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless gate release`: lets go what a gate holds.
struct GateReleaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Let go what a gate holds: all, or some of it; to proceed, or to fail.",
    discussion: """
      The gate stays closed for what comes later. Released attempts go on to queue, latency and fetch; released accesses are \
      answered.

      EXAMPLES
        dataless gate release /mnt/project photos --count 1
        dataless gate release /mnt/project photos --path '2024/*' --fail ETIMEDOUT

      EXIT STATUS
        0 released; 1 no such gate, or it holds nothing of the kind, or failure; 2 usage error; 3 no such volume, or its \
      daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("The gate.", valueName: "name"), completion: Completions.gate)
  var name: String

  @Option(help: ArgumentHelp("So many attempts, the oldest first, and then accesses. [default: all]", valueName: "n"))
  var count: Int64?

  @Option(help: ArgumentHelp("One attempt, by its number in `gate list`. [default: all]", valueName: "id"))
  var attempt: UInt64?

  @Option(
    help: ArgumentHelp("The attempts and accesses on paths that match. [default: all]", valueName: "glob"),
    transform: GlobOption.parse)
  var path: PathPattern?

  @Flag(help: "Everything that is held. [default]")
  var all = false

  @Option(
    help: ArgumentHelp("Have them fail with this errno, such as EIO. [default: proceed]", valueName: "errno"),
    completion: Completions.errno)
  var fail: String?

  @Flag(help: "Print a JSON object. [default: print nothing]")
  var json = false

  func validate() throws {
    guard [count != nil, attempt != nil, path != nil, all].count(where: { $0 }) <= 1 else {
      throw ValidationError("--count, --attempt, --path and --all exclude each other (EINVAL).")
    }
    if let count, count < 1 {
      throw ValidationError("malformed count '\(count)': expected a whole number, 1 or more (EINVAL).")
    }
    if let fail, Errno(name: fail) == nil {
      throw ValidationError("unknown errno '\(fail)': expected a name such as EIO or ETIMEDOUT (EINVAL).")
    }
  }

  func run() throws {
    let request = GateReleaseRequest(gate: name, count: count, attempt: attempt, path: path?.text, errno: fail)
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    if let path { try GlobOption.check(path, option: "--path", on: volume, argument: mountpoint) }
    let answer = try RemoteCall.run(volume, failure: "cannot release at \(mountpoint.description)") { client in
      try await client.releaseGate(request)
    }
    if json { try StandardOutput().json(answer) }
  }
}
