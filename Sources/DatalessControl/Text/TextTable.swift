/// Columns padded with spaces. The last column is as long as it is; text wider than its column shifts the rest.
public struct TextTable: Sendable {
  public enum Alignment: Sendable { case left, right }

  public struct Column: Sendable {
    public var title: String
    public var alignment: Alignment
    /// In characters; 0 for as wide as the widest cell.
    public var width: Int
    /// Longer text is cut and ends with `~`; 0 for never.
    public var widthMax: Int

    public init(_ title: String, _ alignment: Alignment = .left, width: Int = 0, widthMax: Int = 0) {
      self.title = title
      self.alignment = alignment
      self.width = width
      self.widthMax = widthMax
    }
  }

  public var columns: [Column]
  public var rows: [[String]] = []

  public init(_ columns: [Column]) { self.columns = columns }

  /// The header and all rows, without trailing spaces.
  public var lines: [String] {
    var table = self
    for index in columns.indices where columns[index].width == 0 {
      let widest = ([columns[index].title] + rows.map { $0[index] }).map(\.count).max() ?? 0
      table.columns[index].width = columns[index].widthMax > 0 ? min(widest, columns[index].widthMax) : widest
    }
    return [table.header] + rows.map { table.line($0) }
  }

  public var header: String { line(columns.map(\.title)) }

  public func line(_ cells: [String]) -> String {
    var output = ""
    output.reserveCapacity(160)
    for (index, column) in columns.enumerated() {
      var cell = cells[index]
      var width = Self.width(cell)
      if column.widthMax > 0, width > column.widthMax {
        cell = cell.prefix(column.widthMax - 1) + "~"
        width = column.widthMax
      }
      if index > 0 { output += "  " }
      if column.alignment == .right { Self.pad(column.width - width, &output) }
      output += cell
      if column.alignment == .left { Self.pad(column.width - width, &output) }
    }
    while output.utf8.last == UInt8(ascii: " ") { output.unicodeScalars.removeLast() }
    return output
  }

  /// Characters; of what is ASCII the bytes, which are quick to count. CR and LF make one character, and no cell has
  /// them.
  private static func width(_ text: String) -> Int {
    text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.count
  }

  private static func pad(_ count: Int, _ output: inout String) {
    for _ in 0..<max(0, count) { output += " " }
  }
}
