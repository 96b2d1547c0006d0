import ArgumentParser
import DatalessControl
import DatalessCore
import SystemPackage

/// `dataless remove`: removes whole trees at once.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove files, and directories with all that is below them, at once.",
    discussion: """
      As `rm -rf`, in one request: returns when the names are gone, however much is below them. What could not be removed \
      by you with rm is named, and then nothing is removed. Disk space is given back in the background: `dataless status` \
      says how much is left, `dataless unmount --wait` lets it finish. Files that were written here and are nowhere else are named.

      EXAMPLES
        dataless remove /mnt/project/.build
        dataless remove /mnt/project/a /mnt/project/b --json

      EXIT STATUS
        0 all is removed; 1 nothing is, because something could not be removed; 2 usage error; 3 not on a volume, or its \
      daemon is not running.
      """)

  @Argument(help: ArgumentHelp("Files or directories on writable volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(help: "Print the result for each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    for path in paths where Self.isSelf(path.bytes) {
      throw CommandFailure("cannot remove \(path.description): '.' and '..' are never removed (EINVAL).")
    }
    for path in paths {
      try Self.checkIsNotMounted(path)
      if path.bytes.last == UInt8(ascii: "/") { try Self.checkIsDirectory(path) }
    }
    for (volume, paths) in try MountedVolumes.locate(paths, named: true) {
      let answer = try RemoteCall.run(
        volume, failure: "cannot remove on \(TerminalText.escaped(volume.mountPoint))"
      ) { try await $0.remove(paths) }
      guard !json else {
        try output.json(answer)
        continue
      }
      try output.line("removed \(HumanText.count(answer.items, "item")) (\(HumanText.size(answer.bytes)) local)")
      try output.flush()
      for line in Self.dropped(answer, at: volume.mountPoint) { Console.note(line) }
    }
  }

  /// LIMIT: dropped files that are named on a terminal.
  private static let linesMax = 20

  /// What is lost, as far as that can be read.
  static func dropped(_ answer: RemoveAnswer, at mountPoint: [UInt8]) -> [String] {
    guard answer.dirtyItems > 0 else { return [] }
    let paths = answer.droppedPaths.prefix(linesMax)
    let more = answer.dirtyItems.minus(Int64(paths.count))
    var lines = [
      "dataless: dropped: \(HumanText.count(answer.dirtyItems, "file")) written here and nowhere else "
        + "(\(HumanText.size(answer.dirtyBytes))):"
    ]
    for path in paths { lines.append("  " + TerminalText.escaped(PathBytes.join(mountPoint, path))) }
    if more > 0 { lines.append("  and \(HumanText.count(more)) more; --json names the first 1,000") }
    return lines
  }

  /// A bind mount of a part of a volume: its name is where it is mounted, and rm cannot remove that either. What is
  /// mounted below it is the daemon's to refuse.
  private static func checkIsNotMounted(_ path: PathArgument) throws {
    guard let location = try PathResolver.current().locate(path.bytes, named: true), !location.relative.isEmpty,
      location.absolute == location.mount.mountPoint
    else { return }
    throw CommandFailure(
      "cannot remove \(path.description): it is a mountpoint (EBUSY). Unmount it, or name the item on the volume.",
      errno: .resourceBusy)
  }

  /// What has a slash behind its name is a directory, or it is not meant: rm says so of a link, too. Where the daemon
  /// does not know the item yet, it is as without the slash.
  private static func checkIsDirectory(_ path: PathArgument) throws {
    guard let location = try PathResolver.current().locate(path.bytes, named: true), !location.relative.isEmpty else {
      return
    }
    let client = try ControlClient(volume: location.mount)
    defer { try? Blocking.run { await client.shutdown() } }
    let query = ItemQuery(path: location.relative, recursive: false, limit: 1)
    let item = (try? Blocking.run { try await client.items(query) })?.items.first
    guard let item, item.kind != "directory" else { return }
    throw CommandFailure(
      "cannot remove \(path.description): it is not a directory (ENOTDIR). Leave out the slash at its end.",
      errno: .notDirectory)
  }

  private static func isSelf(_ path: [UInt8]) -> Bool {
    let last = PathBytes.lastComponent(path)
    return last == Array(".".utf8) || last == Array("..".utf8)
  }
}
