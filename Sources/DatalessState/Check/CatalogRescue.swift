import DatalessCore
import SystemPackage

/// Opens a catalog that may be damaged. What SQLite cannot read as a whole is copied, as far as it can be read, into a
/// new one; the old one stays beside it.
enum CatalogRescue {
  static func open(_ place: CatalogPlace, _ report: inout StateCheckReport) throws(FSError) -> Catalog {
    do throws(FSError) {
      CatalogReserve.makeRoomForLog(place.path(StateName.catalog))
      let catalog = try Catalog(place.path(StateName.catalog), .writing, home: 0)
      let flaw = try catalog.read("cannot check the catalog") { connection in
        try connection.first("PRAGMA integrity_check(1)") { row throws in try row.text(0) }
      }
      if flaw == "ok" {
        // A full disk has filled the WAL: it is begun anew.
        catalog.keepReserve(place.path(StateName.catalog))
        return catalog
      }
      try? catalog.close()
      return try rescue(place, flaw ?? "SQLite says nothing", report: &report)
    } catch {
      guard error.errno == .ioError else { throw error }
      // As a finding of `check` it need not say what to run.
      let flaw = error.message.dropFirst("cannot open the catalog: ".count)
      let advice = ". Run 'dataless check'"
      return try rescue(place, String(flaw.hasSuffix(advice) ? flaw.dropLast(advice.count) : flaw), report: &report)
    }
  }

  /// Makes a catalog where there is none, though there is content: with a root, and nothing in it.
  static func make(
    _ place: CatalogPlace, of marker: StateMarker, _ report: inout StateCheckReport
  ) throws(FSError) {
    report.add(.damagedCatalog, StateName.catalog, message: "it is missing", repair: "a new one was made")
    let files = place.files
    do throws(Errno) {
      // SQLite would apply the log of the one that is missing to the new one.
      for suffix in StateName.suffixes where try files.exists(StateName.catalog + suffix) {
        try files.rename(StateName.catalog + suffix, to: StateName.damagedCatalog + suffix)
      }
    } catch {
      throw FSError(error, "cannot make a new catalog")
    }
    let catalog = try Catalog(newIn: place, home: 0)
    try catalog.write("cannot make a new catalog") { connection in
      try connection.set(.volume, to: Array(marker.volume.utf8))
      // Whoever finds it where this was cut off knows that it has not all names, and removes nothing.
      try connection.set(.wasTorn, to: [1])
      try ItemRow(id: ItemRow.root, place: nil, inode: 0).save(connection)
    }
    try catalog.close()
    do throws(Errno) {
      try files.sync(file: StateName.newCatalog)
      try files.rename(StateName.newCatalog, to: StateName.catalog)
    } catch {
      throw FSError(error, "cannot put the new catalog in its place")
    }
  }

  private static func rescue(
    _ place: CatalogPlace, _ flaw: String, report: inout StateCheckReport
  ) throws(FSError) -> Catalog {
    report.add(
      .damagedCatalog, StateName.catalog, message: flaw,
      repair: "what can be read is in a new one, the old one is '\(StateName.damagedCatalog)'")
    let files = place.files
    let new = try Catalog(newIn: place, home: 0)
    if let old = try? Catalog(damaged: place.path(StateName.catalog)) {
      for table in tables { try copy(table, from: old, to: new) }
      try? old.close()
    }
    // As in `make`. The end of a session does not say so where `session` is missing, or was written before there was
    // one.
    try new.write("cannot make a new catalog") { connection in
      try connection.remove(.endedSession)
      try connection.set(.wasTorn, to: [1])
    }
    try new.close()
    do throws(Errno) {
      try files.sync(file: StateName.newCatalog)
      for suffix in StateName.suffixes { files.remove(StateName.damagedCatalog + suffix) }
      // This decides.
      try files.rename(StateName.newCatalog, to: StateName.rescuedCatalog)
    } catch {
      throw FSError(error, "cannot put the new catalog in its place")
    }
    try finish(files)
    return try Catalog(place.path(StateName.catalog), .writing, home: 0)
  }

  /// Puts a rescued catalog where the damaged one is, if a rescue was cut off before it did. SQLite would apply the
  /// WAL of the damaged one to whatever lies beside it, so nobody opens the catalog before this.
  static func finish(_ files: StateFiles) throws(FSError) {
    do throws(Errno) {
      guard try files.exists(StateName.rescuedCatalog) else { return }
      for suffix in StateName.suffixes where try files.exists(StateName.catalog + suffix) {
        try files.rename(StateName.catalog + suffix, to: StateName.damagedCatalog + suffix)
      }
      try files.rename(StateName.rescuedCatalog, to: StateName.catalog)
    } catch {
      throw FSError(error, "cannot put the new catalog in its place")
    }
  }

  private struct Table {
    let name: String
    let columns: [String]
    let key: String
  }

  private static let tables = [
    Table(name: "item", columns: ["id", "parent", "name", "inode", "content", "record", "sum"], key: "id"),
    Table(name: "name", columns: ["directory", "name", "layer", "item", "sum"], key: "directory"),
    Table(name: "attribute", columns: ["item", "name", "value", "sum"], key: "item"),
    Table(name: "setting", columns: ["name", "value", "sum"], key: "name"),
    Table(name: "epoch", columns: ["number", "boot", "mount", "sealed"], key: "number"),
    Table(name: "orphan", columns: ["item"], key: "item"),
  ]

  /// Whether a name is that of a table: a view may never end. Nothing else in the schema can have the name then.
  private static func isTable(_ name: String, _ connection: CatalogConnection) throws -> Bool {
    let text = "CREATE TABLE \(name)("
    return try connection.first(
      "SELECT 1 FROM sqlite_schema WHERE name = ? AND substr(sql, 1, ?) = ?", .text(name),
      .integer(Int64(text.utf8.count)), .text(text)
    ) { _ throws in true } ?? false
  }

  /// From the first row on to where it ends or cannot be read, and from the last one back.
  private static func copy(_ table: Table, from old: Catalog, to new: Catalog) throws(FSError) {
    let columns = table.columns.joined(separator: ", ")
    let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
    for order in ["ASC", "DESC"] {
      try new.write("cannot copy rows") { target in
        do {
          _ = try old.read("cannot read rows") { source in
            guard try isTable(table.name, source) else { return }
            try source.forEach("SELECT \(columns) FROM \(table.name) ORDER BY \(table.key) \(order)") { row in
              let values = table.columns.indices.map { row.value(CInt($0)) }
              // A row that breaks a rule of the table is left out.
              try? target.run("INSERT OR IGNORE INTO \(table.name)(\(columns)) VALUES(\(marks))", values: values)
            }
          }
        } catch {
          // The rest of this direction cannot be read.
        }
      }
    }
  }
}
