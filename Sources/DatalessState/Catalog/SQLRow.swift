internal import CSQLite

/// The row that a statement has arrived at. Somebody else may have made the table: a column may hold anything.
///
/// A column of another type than it should have throws.
struct SQLRow {
  private let statement: OpaquePointer
  /// As `Catalog.home`.
  let home: UInt64
  /// LIMIT: bytes of one value. The largest that is ever written is a part of a listing.
  private static let bytesMax: CInt = 1 << 28

  init(of statement: OpaquePointer, home: UInt64) {
    self.statement = statement
    self.home = home
  }

  func integer(_ column: CInt) throws(Damage) -> Int64 {
    guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { throw Damage("a number is none") }
    return sqlite3_column_int64(statement, column)
  }

  func optionalInteger(_ column: CInt) throws(Damage) -> Int64? { isNull(column) ? nil : try integer(column) }

  func bytes(_ column: CInt) throws(Damage) -> [UInt8] {
    guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { throw Damage("bytes are none") }
    return copy(column)
  }

  func optionalBytes(_ column: CInt) throws(Damage) -> [UInt8]? { isNull(column) ? nil : try bytes(column) }

  func text(_ column: CInt) throws(Damage) -> String {
    guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { throw Damage("a text is none") }
    return String(decoding: copy(column), as: UTF8.self)
  }

  /// What a column holds, whatever that is; what is no number, text or bytes is NULL.
  func value(_ column: CInt) -> SQLValue {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
    case SQLITE_TEXT: .text(String(decoding: copy(column), as: UTF8.self))
    case SQLITE_BLOB: .bytes(copy(column))
    default: .null
    }
  }

  func isNull(_ column: CInt) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

  /// Throws for a row whose sum, in its last column, is not that of the others.
  func checkSum(_ values: [SQLValue], in column: CInt) throws(Damage) {
    guard try integer(column) == Checksum.of(values) else { throw Damage("its checksum is another") }
  }

  private func copy(_ column: CInt) -> [UInt8] {
    // The pointer first: it may convert, and the number of bytes is that of the converted value.
    guard let start = sqlite3_column_blob(statement, column) else { return [] }
    let count = min(sqlite3_column_bytes(statement, column), Self.bytesMax)
    return Array(UnsafeRawBufferPointer(start: start, count: Int(max(count, 0))))
  }
}
