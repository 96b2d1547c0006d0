/// The tables of the catalog, and the steps from each format to the next.
///
/// What is opened has to be, text by text, what one of these steps has made: a trigger, a view or a column more would
/// be somebody else's.
enum CatalogSchema {
  /// PRAGMA application_id of every catalog: "dlss".
  static let applicationID: Int64 = 0x646c_7373
  /// PRAGMA user_version: the number of steps that have been taken.
  static var format: Int64 { Int64(migrations.count) }

  struct Migration: Sendable {
    /// Tables and indices that it makes, by name.
    let makes: [(name: String, sql: String)]
    /// Statements after that, for what is there already.
    let changes: [String]
  }

  static let migrations: [Migration] = [
    Migration(makes: first, changes: []),
    // Records of items say when these were used (`ItemRecord`). Those that are there are read as they are.
    Migration(makes: [], changes: []),
  ]

  /// The tables and indices of a format. - Returns: Their SQL by name; nil for a format that there is none of.
  static func objects(of format: Int64) -> [String: String]? {
    guard format >= 0, format <= Self.format else { return nil }
    var objects: [String: String] = [:]
    for migration in migrations.prefix(Int(format)) {
      for (name, sql) in migration.makes { objects[name] = sql }
    }
    return objects
  }

  private static let first: [(name: String, sql: String)] = [
    (
      "item",
      "CREATE TABLE item(id INTEGER PRIMARY KEY, parent INTEGER, name BLOB, inode INTEGER NOT NULL, content INTEGER, "
        + "record BLOB NOT NULL, sum INTEGER NOT NULL) STRICT"
    ),
    ("item_place", "CREATE UNIQUE INDEX item_place ON item(parent, name) WHERE parent IS NOT NULL"),
    ("item_inode", "CREATE INDEX item_inode ON item(inode)"),
    ("item_content", "CREATE UNIQUE INDEX item_content ON item(content) WHERE content IS NOT NULL"),
    (
      "name",
      "CREATE TABLE name(directory INTEGER NOT NULL, name BLOB NOT NULL, layer INTEGER NOT NULL, item INTEGER NOT NULL, "
        + "sum INTEGER NOT NULL, PRIMARY KEY(directory, name, layer)) STRICT, WITHOUT ROWID"
    ),
    ("name_item", "CREATE INDEX name_item ON name(item)"),
    (
      "attribute",
      "CREATE TABLE attribute(item INTEGER NOT NULL, name BLOB NOT NULL, value BLOB, sum INTEGER NOT NULL, "
        + "PRIMARY KEY(item, name)) STRICT, WITHOUT ROWID"
    ),
    (
      "listing",
      "CREATE TABLE listing(id INTEGER PRIMARY KEY, directory INTEGER NOT NULL, part INTEGER NOT NULL, "
        + "entries BLOB NOT NULL, sum INTEGER NOT NULL) STRICT"
    ),
    ("listing_part", "CREATE UNIQUE INDEX listing_part ON listing(directory, part)"),
    ("orphan", "CREATE TABLE orphan(item INTEGER PRIMARY KEY) STRICT"),
    (
      "epoch",
      "CREATE TABLE epoch(number INTEGER PRIMARY KEY, boot BLOB NOT NULL, mount INTEGER NOT NULL, "
        + "sealed INTEGER NOT NULL) STRICT"
    ),
    ("setting", "CREATE TABLE setting(name TEXT PRIMARY KEY, value BLOB NOT NULL, sum INTEGER NOT NULL) STRICT"),
  ]
}
