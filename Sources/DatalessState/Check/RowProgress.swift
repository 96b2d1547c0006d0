import DatalessCore

/// How many rows of a catalog were looked at, of how many.
///
/// Each item and each name is looked at once, and each item with content once more. Where something is damaged, names
/// are looked at again: no more than all is ever told.
struct RowProgress {
  /// LIMIT: rows after which it is told how far it is: a few milliseconds.
  private static let interval: Int64 = 4096

  let total: Int64
  private var done: Int64 = 0
  private let tell: (_ done: Int64, _ total: Int64) throws(FSError) -> Void

  init(_ connection: CatalogConnection, tell: @escaping (Int64, Int64) throws(FSError) -> Void) throws {
    let items = try connection.first("SELECT count(*) + count(content) FROM item") { try $0.integer(0) }
    let names = try connection.first("SELECT count(*) FROM name") { try $0.integer(0) }
    total = (items ?? 0) + (names ?? 0)
    self.tell = tell
  }

  /// A row was looked at.
  mutating func note() throws(FSError) {
    done += 1
    if done % Self.interval == 0 { try tell(min(done, total), total) }
  }
}
