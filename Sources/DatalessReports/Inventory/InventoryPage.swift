public import DatalessControl

/// An inventory as one page for a browser: a treemap of directories by what they store, and the text. It has no script,
/// and needs no network.
public enum InventoryPage {
  private static let width = 1200.0
  private static let height = 640.0
  private static let colours = [
    "documents": "#4c78a8", "support": "#72b7b2", "caches": "#f58518", "temporary": "#e45756", "offline": "#54a24b",
  ]

  /// - Throws: `ControlError.system`, when the file cannot be written.
  public static func write(_ report: InventoryReport, to request: ReportRequest) throws(ControlError) {
    let file = try ReportFile(path: request.path)
    try file.write(Array(html(report).utf8))
    try file.commit()
  }

  static func html(_ report: InventoryReport) -> String {
    let name = report.path.isEmpty ? "the volume" : TerminalText.escaped(report.pathBytes)
    let title = "Inventory of \(EscapedText.markup(name))"
    let text = InventoryText.lines(report).map { EscapedText.markup($0) }.joined(separator: "\n")
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(title)</title>
      </head>
      <body>
      <h1>\(title)</h1>
      <p>Each rectangle is a directory, as large as what is stored in it; the deeper part of it is what is resident.</p>
      \(picture(report))
      <p>\(legend)</p>
      <pre>\(text)</pre>
      </body>
      </html>

      """
  }

  private static var legend: String {
    colours.sorted { $0.key < $1.key }.map { name, colour in
      "<svg width=\"12\" height=\"12\" role=\"presentation\"><rect width=\"12\" height=\"12\" fill=\"\(colour)\"/></svg> \(name)"
    }.joined(separator: " &#160; ")
  }

  // MARK: - The picture

  private struct Branch {
    var directory: InventoryDirectory
    var children: [Branch] = []
  }

  private static func picture(_ report: InventoryReport) -> String {
    var output =
      "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" width=\"100%\" role=\"img\" "
      + "aria-label=\"what directories store\" font-family=\"sans-serif\" font-size=\"11\">\n"
    let space = Treemap.Rectangle(x: 0, y: 0, width: width, height: height)
    draw(branches(report), in: space, &output)
    return output + "</svg>"
  }

  /// The directories, those in others below them.
  private static func branches(_ report: InventoryReport) -> [Branch] {
    let all = report.tree.map { (directory: $0, path: $0.pathBytes) }
    func below(_ parent: [UInt8]) -> [Branch] {
      let prefix = parent.isEmpty ? [] : parent + [UInt8(ascii: "/")]
      return all.filter { entry in
        entry.path.count > prefix.count && entry.path.starts(with: prefix)
          && !entry.path[prefix.count...].contains(UInt8(ascii: "/"))
      }.map { Branch(directory: $0.directory, children: below($0.path)) }
    }
    return below(report.pathBytes)
  }

  private static func draw(_ branches: [Branch], in space: Treemap.Rectangle, _ output: inout String) {
    let drawn = branches.filter { $0.directory.storedBytes > 0 }
    let places = Treemap.layout(drawn.map { Double($0.directory.storedBytes) }, in: space)
    for (branch, place) in zip(drawn, places) where place.width >= 1 && place.height >= 1 {
      let directory = branch.directory
      let path = EscapedText.markup(TerminalText.escaped(directory.pathBytes))
      let category = directory.category.map { ", \(EscapedText.markup($0))" } ?? ""
      let share = Double(min(directory.residentBytes, directory.storedBytes)) / Double(directory.storedBytes)
      let colour = directory.category.flatMap { colours[$0] } ?? "#9d9da1"
      output += "<g><title>\(path): \(HumanText.size(directory.storedBytes)) stored, "
      output += "\(HumanText.size(directory.residentBytes)) resident\(category)</title>"
      output += rectangle(place, "fill=\"\(colour)\" fill-opacity=\"0.35\" stroke=\"#fff\"")
      var local = place
      local.width *= share
      output += rectangle(local, "fill=\"\(colour)\" fill-opacity=\"0.45\"")
      output += label(directory, place) + "</g>\n"
      guard place.width > 40, place.height > 40 else { continue }
      let inner = Treemap.Rectangle(
        x: place.x + 3, y: place.y + 16, width: place.width - 6, height: place.height - 19)
      draw(branch.children, in: shrunk(inner, to: branch), &output)
    }
  }

  /// What lies in a directory itself has no rectangle: those of its directories are as much smaller.
  private static func shrunk(_ space: Treemap.Rectangle, to branch: Branch) -> Treemap.Rectangle {
    let inner = branch.children.reduce(0.0) { $0 + Double($1.directory.storedBytes) }
    let share = min(1, inner / Double(max(1, branch.directory.storedBytes)))
    var space = space
    if space.width >= space.height { space.width *= share } else { space.height *= share }
    return space
  }

  private static func label(_ directory: InventoryDirectory, _ place: Treemap.Rectangle) -> String {
    guard place.width > 30, place.height > 14 else { return "" }
    let name = directory.pathBytes.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    // About six units for each letter.
    let text = String(TerminalText.escaped(name).prefix(max(1, Int(place.width / 6.5) - 1)))
    return "<text x=\"\(number(place.x + 3))\" y=\"\(number(place.y + 12))\">\(EscapedText.markup(text))</text>"
  }

  private static func rectangle(_ place: Treemap.Rectangle, _ attributes: String) -> String {
    "<rect x=\"\(number(place.x))\" y=\"\(number(place.y))\" width=\"\(number(place.width))\" "
      + "height=\"\(number(place.height))\" \(attributes)/>"
  }

  /// With one digit after the point.
  private static func number(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
  }
}
