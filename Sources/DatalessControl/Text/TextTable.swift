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
    for (index, column) in columns.enumerated() {
      var cell = cells[index]
      if column.widthMax > 0, cell.count > column.widthMax { cell = cell.prefix(column.widthMax - 1) + "~" }
      let padding = String(repeating: " ", count: max(0, column.width - cell.count))
      if index > 0 { output += "  " }
      output += column.alignment == .right ? padding + cell : cell + padding
    }
    while output.last == " " { output.removeLast() }
    return output
  }
}
