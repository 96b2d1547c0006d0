public import DatalessCore
internal import DatalessStores
internal import Glibc
internal import SystemPackage

/// Gets what was made or written on a volume out of its state directory, without a mount: beneath one directory, and
/// never over what is there.
public enum StateExport {
  public struct Options: Sendable {
    /// Whether devices are made, and setuid, setgid and sticky bits set. The state directory may be anybody's work.
    public var includesSpecial = false
    public init() {}
  }

  /// What was written, and what was not.
  public struct Report: Sendable, Equatable {
    public internal(set) var files = 0
    public internal(set) var bytes: Int64 = 0
    public internal(set) var directories = 0
    public internal(set) var links = 0
    /// What was left out, with the reason: the first `skippedMax`.
    public internal(set) var skipped: [Skipped] = []
    /// All that was left out.
    public internal(set) var skippedCount = 0
    public static let skippedMax = 10_000

    mutating func skip(_ path: String, _ reason: String) {
      skippedCount += 1
      if skipped.count < Self.skippedMax { skipped.append(Skipped(path: path, reason: reason)) }
    }
  }

  public struct Skipped: Sendable, Equatable {
    /// On the volume; ready to be escaped and shown.
    public let path: String
    public let reason: String
  }

  /// - Parameters:
  ///   - directory: Opened with `.look`.
  ///   - target: A directory in which everything is put; not closed.
  ///   - scratch: As for `StateCheck.run`.
  /// - Throws: EIO (the catalog cannot be read: run `check`), EPROTONOSUPPORT, ENOSPC (in `scratch`). What concerns one
  ///   file only is in the report.
  public static func run(
    _ directory: StateDirectory, to target: CInt, _ options: Options = Options(), scratch: String = "/tmp"
  ) throws(FSError) -> Report {
    var report = Report()
    let names = try StateInspection.names(directory.files, directory.path)
    let content =
      names.contains(StateName.content)
      ? try DiskContentStore(in: directory.files.directory, path: FilePath(directory.path), lifetime: .looked) : nil
    let copy = try CatalogCopy(of: directory, in: scratch)
    defer { copy.remove() }
    let catalog = try Catalog(copy.place.path(StateName.catalog), .writing, home: 0)
    let items = try catalog.read("cannot read the catalog") { connection in
      try ExportedItems(connection, &report).sorted
    }
    try catalog.close()
    var writer = ExportWriter(to: target, content: content, options, report)
    for item in items { writer.write(item) }
    writer.finish()
    return writer.report
  }
}

/// What is to be written, and where.
struct ExportedItem {
  let path: [[UInt8]]
  let row: ItemRow
}

/// The items of a catalog that are changed files, or were made on the volume, by the paths that callers see.
struct ExportedItems {
  /// Directories before what is in them.
  let sorted: [ExportedItem]

  init(_ connection: CatalogConnection, _ report: inout StateExport.Report) throws {
    let search = CatalogSearch(connection)
    var found: [ExportedItem] = []
    var skipped: [(id: Int64, reason: String)] = []
    var rows: [ItemRow] = []
    try connection.forEach("SELECT \(ItemRow.columns) FROM item WHERE id <> 1") { row in
      do {
        let item = try ItemRow(row)
        if item.record.isDirty || !item.isOfStore { rows.append(item) }
      } catch let damage as Damage {
        skipped.append((try row.integer(0), damage.description))
      }
    }
    for row in rows {
      do {
        if let path = try search.path(of: row) { found.append(ExportedItem(path: path, row: row)) }
      } catch let damage as Damage {
        skipped.append((row.id, damage.description))
      }
    }
    for (id, reason) in skipped { report.skip("item \(id)", "damaged: \(reason)") }
    sorted = found.sorted { left, right in
      left.path.lexicographicallyPrecedes(right.path) { $0.lexicographicallyPrecedes($1) }
    }
  }
}

extension CatalogSearch {
  /// Where callers find an item, from the root; nil for what has no name.
  func path(of item: ItemRow) throws -> [[UInt8]]? {
    var names: [[UInt8]] = []
    var row = item
    while row.id != ItemRow.root {
      guard let (parent, name) = try directory(of: row) else { return nil }
      names.append(name)
      guard names.count <= Self.depthMax else { throw Damage("a directory is in itself") }
      guard let next = try connection.item(parent) else { throw Damage("its directory is missing") }
      row = next
    }
    return names.reversed()
  }
}
