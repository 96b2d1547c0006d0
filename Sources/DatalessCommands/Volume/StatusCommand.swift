import ArgumentParser
import DatalessControl

/// `dataless status`: what volumes there are, and what they do at this moment.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show mounted volumes: options, counts by state, and who waits for what.",
    discussion: """
      Without MOUNTPOINT, all volumes of this user. To root, those of other users are named, without \
      asking their daemons; name one to ask. Touches no volume.

      EXAMPLES
        dataless status
        dataless status /mnt/project --json

      EXIT STATUS
        0 shown (also when there are none); 1 failure; 2 usage error; 3 no such volume, or a daemon is not running; \
      4 timed out.
      """)

  @Argument(
    help: ArgumentHelp("A mounted volume. [default: all of this user]", valueName: "mountpoint"),
    completion: Completions.mountpoint)
  var mountpoint: PathArgument?

  @Flag(help: "Print each volume as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    if let mountpoint {
      let status = try Self.status(of: try VolumeLocator.volume(mountpoint.bytes))
      if json { return try output.json(status) }
      for line in StatusText.lines(status) { try output.line(line) }
      return try output.flush()
    }
    let volumes = try MountedVolumes.own()
    let others = try MountedVolumes.ofOthers()
    var isFirst = true
    func print(_ lines: [String]) throws {
      if !isFirst { try output.line("") }
      isFirst = false
      for line in lines { try output.line(line) }
    }
    var failure: CommandFailure?
    for volume in volumes {
      do {
        let status = try Self.status(of: volume)
        if json { try output.line(json: status) } else { try print(StatusText.lines(status)) }
      } catch  where error is ControlError || error is CommandFailure {
        // Unmounted since the mounts were read: nothing is wrong, and there is nothing to show.
        let isThere = try MountedVolumes.own().contains { $0.mountID == volume.mountID && $0.device == volume.device }
        guard isThere else { continue }
        guard var found = error as? CommandFailure ?? (error as? ControlError).map(CommandFailure.init) else {
          throw error
        }
        found.path = volume.mountPoint
        try output.failure(found, json: json)
        failure = found
      }
    }
    for volume in others {
      if json {
        try output.line(
          json: UnaskedVolume(mountpoint: volume.mountPoint, source: volume.source, userID: volume.userID))
      } else {
        try print(StatusText.foreign(volume))
      }
    }
    if !json, volumes.isEmpty, others.isEmpty { try output.line("no dataless volume is mounted") }
    try output.flush()
    if let failure { throw CommandExit(failure.status) }
  }

  private static func status(of volume: MountEntry) throws -> VolumeStatus {
    try RemoteCall.run(volume, failure: "cannot show \(TerminalText.escaped(volume.mountPoint))") {
      try await $0.status()
    }
  }
}
