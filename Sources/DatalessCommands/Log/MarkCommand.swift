import ArgumentParser
import DatalessControl

/// `dataless mark`: a line in the log, to tell phases of a test apart.
struct MarkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark",
    abstract: "Write a labelled mark into a volume's log.",
    discussion: """
      The summary has a section for what happened after each mark.

      EXAMPLES
        dataless mark /mnt/project 'second run'
        dataless mark /mnt/project \"$(git rev-parse HEAD)\" --json

      EXIT STATUS
        0 written; 1 it could not be written; 2 usage error; 3 no such volume, or its daemon is not running; 4 timed out.
      """)

  @Argument(help: ArgumentHelp("A mounted volume.", valueName: "mountpoint"), completion: Completions.mountpoint)
  var mountpoint: PathArgument

  @Argument(help: ArgumentHelp("1 to 1,024 bytes of text.", valueName: "label"))
  var label: String

  @Flag(help: "Print the record's number as a JSON object. [default: print nothing]")
  var json = false

  func validate() throws {
    let bytes = ArgumentBytes.decode(label)
    guard (1...1_024).contains(bytes.count), UTF8Elements.areAllScalars(bytes) else {
      throw ValidationError("malformed label: expected 1 to 1024 bytes of UTF-8 (EINVAL).")
    }
  }

  func run() throws {
    let volume = try VolumeLocator.volume(mountpoint.bytes)
    let label = label
    let answer = try Blocking.run { try await ControlClient.with(volume: volume) { try await $0.mark(label) } }
    if json { try StandardOutput().json(answer) }
  }
}
