import ArgumentParser
import DatalessControl

/// `dataless capacity`: how much room there is, and what could go for more.
struct CapacityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capacity",
    abstract: "Say how much room a volume has, for important and for opportunistic use.",
    discussion: """
      Important is what people ask for: free, and all that could be purged or evicted for it. Opportunistic is what nobody \
      has asked for: free and temporary files, less the setting `reserve`. Programs read the same numbers as the extended \
      attribute user.dataless.capacity.

      EXAMPLES
        dataless capacity /mnt/project
        dataless capacity /mnt/project --json

      EXIT STATUS
        0 said; 1 failure; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Flag(help: "Print the numbers as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    let answer = try RemoteCall.run(volume, failure: "cannot tell the capacity of \(mountpoint.description)") {
      try await $0.capacity()
    }
    if json {
      try output.json(answer)
    } else {
      for line in Self.lines(answer) { try output.line(line) }
    }
    try output.flush()
  }

  static func lines(_ answer: CapacityAnswer) -> [String] {
    let rows: [(String, Int64, String)] = [
      ("important", answer.importantBytes, "free, and all that could go"),
      ("opportunistic", answer.opportunisticBytes, "free and temporary, less the reserve"),
      ("total", answer.totalBytes, ""), ("free", answer.freeBytes, ""),
      ("temporary", answer.temporaryBytes, "could be purged"),
      ("caches", answer.cachesBytes, "of apps that do not run, could be purged"),
      ("evictable", answer.evictableBytes, "can come again"), ("reserve", answer.reserveBytes, ""),
    ]
    var table = TextTable([.init(""), .init("", .right), .init("")])
    table.rows = rows.map { [$0.0, HumanText.size($0.1), $0.2] }
    return Array(table.lines.dropFirst())
  }
}
