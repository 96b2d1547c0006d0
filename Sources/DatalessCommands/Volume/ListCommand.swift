import ArgumentParser
import DatalessControl
import DatalessCore

/// `dataless ls`: what the volume knows about its items.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List items with their state, size and local bytes, without touching the volume.",
    discussion: """
      Asks the daemon, not the file system: nothing is materialized or listed. A dataless directory is one line, \
      because what is in it is not known yet. Columns: state, size, bytes in the cache, path. A file that was written to \
      on the volume is dirty: nobody else has its content.

      EXAMPLES
        dataless ls -R /mnt/project
        dataless ls /mnt/project/src/main.c --json

      EXIT STATUS
        0 listed; 1 no such item, or failure; 2 usage error; 3 not on a volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("Files or directories on volumes.", valueName: "path"))
  var paths: [PathArgument]

  @Flag(name: .customShort("R"), help: "List listed directories below, too. [default: one level]")
  var recursive = false

  @Flag(help: "Print each item as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let resolver = try PathResolver.current()
    let output = StandardOutput()
    var hasFailed = false
    for path in paths {
      guard let location = try resolver.locate(path.bytes) else { throw ControlError.notAVolume(path.bytes) }
      do {
        try list(location, to: output)
      } catch let error as ControlError where error.code == .remote {
        let errno = error.errno.map { " (\($0.name))" } ?? ""
        var failure = CommandFailure(
          "cannot list \(path.description): \(error.message)\(errno).",
          code: CommandFailure.code(of: error), errno: error.errno)
        failure.path = path.bytes
        try output.failure(failure, json: json)
        hasFailed = true
      }
    }
    try output.flush()
    if hasFailed { throw CommandExit(.failure) }
  }

  private func list(_ location: PathResolver.Location, to output: StandardOutput) throws {
    var query = ItemQuery(path: location.relative, recursive: recursive, limit: ItemQuery.limitMax)
    let client = try ControlClient(volume: location.mount)
    defer { try? Blocking.run { await client.shutdown() } }
    var isFirst = true
    repeat {
      let request = query
      let page = try Blocking.run { try await client.items(request) }
      for item in page.items {
        defer { isFirst = false }
        // A directory itself is only of interest when there is nothing to say about what is in it.
        if isFirst, item.kind == "directory", item.state == "listed", page.items.count > 1 { continue }
        try print(item, at: location.mount.mountPoint, to: output)
      }
      query.after = page.next
    } while query.after != nil
  }

  private func print(_ item: VolumeItem, at mountPoint: [UInt8], to output: StandardOutput) throws {
    if json { try output.line(json: item) } else { try output.line(Self.line(item, at: mountPoint)) }
  }

  static func line(_ item: VolumeItem, at mountPoint: [UInt8]) -> String {
    var path = TerminalText.escaped(item.pathBytes.isEmpty ? mountPoint : PathBytes.join(mountPoint, item.pathBytes))
    if item.kind == "directory" { path += "/" }
    let isSized = item.kind == "file"
    let state = item.isDirty == true ? "dirty" : item.state == "other" ? item.kind : item.state
    return table.line([
      TerminalText.escaped(state),
      isSized ? HumanText.size(item.sizeBytes) : "-", isSized ? HumanText.size(item.localBytes) : "-", path,
    ])
  }

  private static let table = TextTable([
    .init("STATE", width: 13), .init("SIZE", .right, width: 10), .init("LOCAL", .right, width: 10), .init("PATH"),
  ])
}
