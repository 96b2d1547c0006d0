/// A row of the table `name`: what was done to a name on the volume.
struct NameRow: Equatable {
  /// Where the name is, as an item.
  let directory: Int64
  let name: [UInt8]
  let layer: Layer
  let item: Int64

  enum Layer: Int64 {
    /// It was made here.
    case made = 0
    /// The store has it, and it is not shown.
    case hidden = 1
  }

  init(directory: Int64, name: [UInt8], layer: Layer, item: Int64) {
    self.directory = directory
    self.name = name
    self.layer = layer
    self.item = item
  }

  static let columns = "directory, name, layer, item, sum"

  private var values: [SQLValue] {
    [.integer(directory), .bytes(name), .integer(layer.rawValue), .integer(item)]
  }

  /// - Parameter row: With `columns`.
  init(_ row: SQLRow) throws(Damage) {
    directory = try row.integer(0)
    name = try row.bytes(1)
    try SavedName.check(name)
    guard let layer = Layer(rawValue: try row.integer(2)) else { throw Damage("a name is neither made nor hidden") }
    self.layer = layer
    item = try row.integer(3)
    try row.checkSum(values, in: 4)
  }

  func save(_ connection: CatalogConnection) throws {
    let values = values
    try connection.run(
      "INSERT OR REPLACE INTO name(\(Self.columns)) VALUES(?, ?, ?, ?, ?)",
      values[0], values[1], values[2], values[3], .integer(Checksum.of(values)))
  }
}

extension CatalogConnection {
  func name(_ name: [UInt8], in directory: Int64, _ layer: NameRow.Layer) throws -> NameRow? {
    try first(
      "SELECT \(NameRow.columns) FROM name WHERE directory = ? AND name = ? AND layer = ?", .integer(directory),
      .bytes(name), .integer(layer.rawValue)
    ) { row throws in try NameRow(row) }
  }

  func forEachName(in directory: Int64, _ body: (NameRow) throws -> Void) throws {
    try forEach("SELECT \(NameRow.columns) FROM name WHERE directory = ?", .integer(directory)) { row in
      try body(try NameRow(row))
    }
  }

  /// LIMIT: names of one item that are looked at.
  func names(of item: Int64) throws -> [NameRow] {
    var found: [NameRow] = []
    try forEach("SELECT \(NameRow.columns) FROM name WHERE item = ? LIMIT 1024", .integer(item)) { row in
      found.append(try NameRow(row))
    }
    return found
  }

  func deleteName(_ name: [UInt8], in directory: Int64, _ layer: NameRow.Layer) throws {
    try run(
      "DELETE FROM name WHERE directory = ? AND name = ? AND layer = ?", .integer(directory), .bytes(name),
      .integer(layer.rawValue))
  }
}
