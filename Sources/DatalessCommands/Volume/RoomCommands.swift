import ArgumentParser
import DatalessControl
import DatalessCore
import Glibc
import SystemPackage

/// `dataless pin`: has items fetched, and kept.
struct PinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Fetch files, and directories with all that is below them, and keep them here.",
    discussion: """
      What is pinned is fetched in the background, at most six files at a time and after what programs read, follows the \
      source, and is never evicted (EPERM). What is made in a pinned directory, or moved into it, inherits that. \
      --policy gives items another content policy of their own.

      EXAMPLES
        dataless pin /mnt/project/docs
        dataless pin --policy lazy /mnt/project/docs/videos

      EXIT STATUS
        0 done; 1 an item is nowhere, or a directory on the way could not be listed; 2 usage error; 3 not on a volume, or \
      its daemon is not running; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Option(
    help: ArgumentHelp(
      "eager (fetched and kept), lazy (fetched when read; follows the source), lazy-and-evict (becomes dataless when the"
        + " source changes), or inherited. [default: eager]", valueName: "policy"),
    transform: Self.policy)
  var policy: ContentPolicy = .eager

  @Flag(help: "Print the result for each volume as one line of JSON. [default: print nothing]")
  var json = false

  func run() throws {
    let policy = policy.rawValue
    try PolicyChange(action: "pin", isJSON: json).run(paths) { client, paths in
      try await client.pin(paths, policy: policy)
    }
  }

  private static func policy(_ text: String) throws -> ContentPolicy {
    guard let policy = ContentPolicy(rawValue: text) else {
      let known = ContentPolicy.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("unknown policy '\(text)': expected one of \(known) (EINVAL).")
    }
    return policy
  }
}

/// `dataless unpin`: ends that items are kept.
struct UnpinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unpin",
    abstract: "Let files, and directories with all that is below them, be evicted again.",
    discussion: """
      Nothing is evicted by it. An item in a directory that is pinned itself gets the policy `lazy` of its own; any \
      other inherits again.

      EXAMPLES
        dataless unpin /mnt/project/docs
        dataless unpin /mnt/project/docs/videos --json

      EXIT STATUS
        0 done; 1 an item is nowhere, or a directory on the way could not be listed; 2 usage error; 3 not on a volume, or \
      its daemon is not running; 130 interrupted.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result for each volume as one line of JSON. [default: print nothing]")
  var json = false

  func run() throws {
    try PolicyChange(action: "unpin", isJSON: json).run(paths) { client, paths in try await client.unpin(paths) }
  }
}

/// The common part of `pin` and `unpin`.
private struct PolicyChange {
  let action: String
  let isJSON: Bool

  func run(
    _ paths: [PathArgument], _ call: @escaping @Sendable (ControlClient, [[UInt8]]) async throws -> TransferResult
  ) throws {
    let output = StandardOutput()
    var failed: Int64 = 0
    let long = LongRequest()
    for (volume, paths) in try MountedVolumes.locate(paths) {
      let failure = "cannot \(action) on \(TerminalText.escaped(volume.mountPoint))"
      guard let result = try long.run(volume, failure: failure, { try await call($0, paths) }) else {
        long.cut(at: volume.mountPoint, paths)
        continue
      }
      long.cut(at: volume.mountPoint, result.unfinished.map(\.bytes))
      if isJSON { try output.json(result) }
      FailureList.say(
        result.failures, count: result.failureCount, at: volume.mountPoint, action: action,
        others: "--json names the first 1,000")
      failed = failed.plus(result.failureCount)
    }
    try long.finish("Everything else that was asked for is done; the same command goes on from here.")
    try FailureList.end(failed, "cannot \(action)")
  }
}

/// `dataless pressure`: simulates a disk that gets full.
struct PressureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pressure",
    abstract: "Simulate that the disk gets full: evict what was used least recently.",
    discussion: """
      So much local content goes, or as much as can: never what is open, pinned, written to on the volume, or has \
      several names. Each eviction is in the log, by `pressure`. On a writable volume with areas temporary files and \
      caches of apps that do not run are purged first: their names go, too, and what was written there.

      EXAMPLES
        dataless pressure 500MB /mnt/project
        dataless pressure 1TB /mnt/project --json

      EXIT STATUS
        0 as much went as was asked for; 1 less; 2 usage error; 3 no such volume, or its daemon is not running; 130 \
      interrupted.
      """)

  @Argument(
    help: ArgumentHelp("How much is to go, such as 500MB.", valueName: "size"),
    transform: { text in try VolumeOptions.checked { () throws(FSError) in try ByteSize.parsePositive(text) } })
  var size: Int64

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print the result as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    let long = LongRequest()
    let size = size
    let result = try long.run(volume, failure: "cannot simulate pressure at \(mountpoint.description)") { client in
      let line = ProgressLine()
      defer { line.clear() }
      return try await client.press(size) { progress in
        let gone = "\(HumanText.count(progress.files, "file")), \(HumanText.size(progress.bytes))"
        let share = min(1, Double(progress.bytes) / Double(max(size, 1)))
        line.show("\(gone) of \(HumanText.size(size)) gone", share: share)
      }
    }
    guard let result else {
      long.cut(at: volume.mountPoint, [[]])
      return try long.finish("What was evicted, or purged, stays so.")
    }
    if json {
      try output.json(result)
    } else {
      try output.line(Self.text(result))
      try output.flush()
    }
    if result.isInterrupted { long.cut(at: volume.mountPoint, [[]]) }
    try long.finish("What was evicted, or purged, stays so.")
    guard result.bytes < size else { return }
    throw CommandFailure(
      "no more than \(HumanText.size(result.bytes)) of \(HumanText.size(size)) could go: what else is local is open, "
        + "pinned, written to, has several names, or is kept by its area (ENOSPC).", code: .incomplete, errno: .noSpace)
  }

  /// What can come again, and what cannot, are not the same.
  private static func text(_ result: TransferResult) -> String {
    let (purged, bytes) = (max(result.purgedFiles ?? 0, 0), max(result.purgedBytes ?? 0, 0))
    let evicted =
      "evicted \(HumanText.count(result.files.minus(purged), "file")) (\(HumanText.size(result.bytes.minus(bytes))))"
    guard purged > 0 else { return evicted }
    let lost = result.lostBytes.map { $0 > 0 ? ", of which \(HumanText.size($0)) were written here and are lost" : "" }
    return "\(evicted), purged \(HumanText.count(purged, "file")) (\(HumanText.size(bytes))\(lost ?? ""))"
  }
}
