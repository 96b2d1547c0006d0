internal import GRDB
internal import GRDBSQLite

/// A connection to the catalog while it is one's own: what statements are made of.
///
/// GRDB has the connection, its statements and transactions; values are bound and read by SQLite's own functions, so
/// that nothing that a column holds can end the process, and no bytes pass through Foundation.
struct CatalogConnection {
  let database: Database
  /// As `Catalog.home`.
  let home: UInt64

  /// Runs a statement that brings no rows.
  func run(_ sql: String, _ values: SQLValue...) throws { try visit(sql, values) { _ in } }

  func run(_ sql: String, values: [SQLValue]) throws { try visit(sql, values) { _ in } }

  /// Calls `body` for each row. Statements may be run in it, but not the same one.
  func forEach(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> Void) throws {
    try visit(sql, values, body)
  }

  /// The first row; nil if there is none.
  @discardableResult
  func first<Result>(_ sql: String, _ values: SQLValue..., body: (SQLRow) throws -> Result) throws -> Result? {
    var result: Result?
    try visit(sql, values) { row in
      if result == nil { result = try body(row) }
    }
    return result
  }

  /// Rows that the last statement changed.
  var changes: Int { database.changesCount }

  /// The rowid of the last row that was added.
  var lastRow: Int64 { database.lastInsertedRowID }

  private func visit(_ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
    let statement = try database.cachedStatement(sql: sql).sqliteStatement
    // One that is under way further up keeps its place: a second one is made for whoever calls in between.
    if sqlite3_stmt_busy(statement) != 0 {
      let other = try database.makeStatement(sql: sql)
      try withExtendedLifetime(other) { try visit(other.sqliteStatement, values, body) }
    } else {
      try visit(statement, values, body)
    }
  }

  private func visit(_ statement: OpaquePointer, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      try check(Self.bind(value, statement, CInt(index + 1)))
    }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw failure(code) }
      try body(SQLRow(of: statement, home: home))
    }
  }

  private func check(_ code: CInt) throws {
    if code != SQLITE_OK { throw failure(code) }
  }

  private func failure(_ code: CInt) -> CatalogFailure {
    let connection = database.sqliteConnection
    return CatalogFailure(
      code: code, system: connection.map { sqlite3_system_errno($0) } ?? 0,
      message: connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "")
  }

  private static func bind(_ value: SQLValue, _ statement: OpaquePointer, _ index: CInt) -> CInt {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .bytes(let bytes): bind(bytes, statement, index)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, copies)
    }
  }

  private static func bind(_ bytes: [UInt8], _ statement: OpaquePointer, _ index: CInt) -> CInt {
    // A null pointer would be NULL.
    if bytes.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
    return bytes.withUnsafeBytes {
      sqlite3_bind_blob64(statement, index, $0.baseAddress, sqlite3_uint64($0.count), copies)
    }
  }

  /// SQLITE_TRANSIENT: SQLite makes a copy.
  private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
