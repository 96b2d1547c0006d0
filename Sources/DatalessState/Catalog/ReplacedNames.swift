import DatalessCore

/// Which names an operation has taken away, and the content of the files that take them: it is to be whole before they
/// have them, so that who is renamed over is old or new.
struct ReplacedNames: Sendable {
  private var content: Set<ContentID> = []
  private var vacated: Set<VacatedName> = []

  private struct VacatedName: Hashable {
    let directory: Int64
    let name: [UInt8]
  }

  mutating func beginOperation() { vacated = [] }

  mutating func vacate(_ name: [UInt8], in directory: Int64) {
    vacated.insert(VacatedName(directory: directory, name: name))
  }

  /// A name is given.
  ///
  /// - Parameter row: Not saved yet.
  /// - Returns: The item that has the name until then.
  mutating func note(_ row: NameRow, _ connection: CatalogConnection) throws -> Int64? {
    let former = try connection.name(row.name, in: row.directory, .made)
    let isVacated = vacated.contains(VacatedName(directory: row.directory, name: row.name))
    guard isVacated || former.map({ $0.item != row.item }) == true, let item = try connection.item(row.item),
      item.record.isDirty, let id = item.content
    else { return former?.item }
    content.insert(id)
    return former?.item
  }

  mutating func takeContent() -> Set<ContentID> {
    defer { content = [] }
    return content
  }
}
