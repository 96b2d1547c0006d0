internal import CSQLite

/// A connection to the catalog while it is one's own: what statements are made of.
///
/// Values are bound and read by SQLite's own functions, so that nothing that a column holds can end the process.
struct CatalogConnection {
  let database: CatalogDatabase
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
  var changes: Int { database.changes }

  /// The rowid of the last row that was added.
  var lastRow: Int64 { database.lastRow }

  private func visit(_ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
    try database.withStatement(sql) { try visit($0, values, body) }
  }

  private func visit(_ statement: OpaquePointer, _ values: [SQLValue], _ body: (SQLRow) throws -> Void) throws {
    for (index, value) in values.enumerated() {
      try check(Self.bind(value, statement, index: CInt(index + 1)))
    }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw database.failure(code) }
      try body(SQLRow(of: statement, home: home))
    }
  }

  private func check(_ code: CInt) throws {
    if code != SQLITE_OK { throw database.failure(code) }
  }

  private static func bind(_ value: SQLValue, _ statement: OpaquePointer, index: CInt) -> CInt {
    switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let number): sqlite3_bind_int64(statement, index, number)
    case .bytes(let bytes): bind(bytes, statement, index: index)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, copies)
    }
  }

  private static func bind(_ bytes: [UInt8], _ statement: OpaquePointer, index: CInt) -> CInt {
    // A null pointer would be NULL.
    if bytes.isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
    return bytes.withUnsafeBytes {
      sqlite3_bind_blob64(statement, index, $0.baseAddress, sqlite3_uint64($0.count), copies)
    }
  }

  /// SQLITE_TRANSIENT: SQLite makes a copy.
  private static var copies: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
