import ArgumentParser
import DatalessControl
import DatalessReports

/// `dataless inventory`: what is stored, by area, category and largest file.
struct InventoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inventory",
    abstract: "Say what is stored, resident, purgeable, dirty, in a backup or not and why, by area and category.",
    discussion: """
      Goes through what is listed; nothing is listed or fetched for it. Equal content is found by reading what is local; \
      what is dataless is never fetched to compare, and counts as unknown. Areas are those of the scenario.

      EXAMPLES
        dataless inventory /mnt/phone/Containers --since launched --json
        dataless inventory /mnt/phone --report html=phone.html

      EXIT STATUS
        0 said; 1 no such path or mark, or failure; 2 usage error; 3 not on a volume, or its daemon is not running; 130 \
      interrupted.
      """)

  @Argument(help: ArgumentHelp("A file or directory on a volume.", valueName: "path"))
  var path: PathArgument

  @Option(
    help: ArgumentHelp(
      "What no process opened since this mark (`dataless mark`) is untouched. [default: since the mount]",
      valueName: "label"))
  var since: String?

  @Option(
    help: ArgumentHelp(
      "Write a page with a treemap: html=FILE. [default: none]", valueName: "kind=file"),
    transform: Self.page)
  var report: ReportRequest?

  @Flag(help: "Print the inventory as one line of JSON. [default: text]")
  var json = false

  func run() throws {
    let output = StandardOutput()
    guard let location = try PathResolver.current().locate(path.bytes) else {
      throw ControlError.notAVolume(path.bytes)
    }
    if let report { try ReportRequest.check([report], log: nil) }
    let long = LongRequest()
    let (since, relative) = (since, location.relative)
    let inventory = try long.run(location.mount, failure: "cannot look at \(path.description)") { client in
      let line = ProgressLine()
      defer { line.clear() }
      return try await client.inventory(relative, since: since) { progress in
        let compared = progress.comparedBytes > 0 ? ", compared \(HumanText.size(progress.comparedBytes))" : ""
        let all = progress.totalItems.map { " of \(HumanText.count($0))" } ?? ""
        // What is compared comes after all are met: how long that takes is not known.
        let share = progress.totalItems.flatMap { total in
          total > 0 && progress.comparedBytes == 0 ? min(1, Double(progress.items) / Double(total)) : nil
        }
        line.show("met \(HumanText.count(progress.items, "item"))\(all)\(compared)", share: share)
      }
    }
    guard let inventory else {
      long.cut(at: location.mount.mountPoint, [relative])
      return try long.finish("Nothing was changed.")
    }
    if let report { try InventoryPage.write(inventory, to: report) }
    if report?.isStandardOutput != true {
      if json {
        try output.json(inventory)
      } else {
        for line in InventoryText.lines(inventory) { try output.line(line) }
      }
    }
    try output.flush()
    try long.finish("Nothing was changed.")
  }

  private static func page(_ text: String) throws -> ReportRequest {
    do {
      let request = try ReportRequest(parsing: ArgumentBytes.decode(text))
      if request.kind == .html { return request }
      throw ValidationError("an inventory has no report but html=FILE: \(TerminalText.escaped(text)) (EINVAL).")
    } catch let error as ReportRequest.Flaw {
      throw ValidationError(
        "malformed --report '\(TerminalText.escaped(ArgumentBytes.decode(text)))': \(error.words) (EINVAL).")
    }
  }
}
