internal import CSQLite

/// A connection to SQLite, its statements and its transactions. `Catalog` has one, for one thread at a time.
///
/// Not GRDB, whose use of Foundation made the executable 48.8 MB larger (45.0 MB without it); of GRDB the catalog needs
/// no more than this, because values are bound and read by SQLite's own functions anyway (`SQLRow`).
final class CatalogDatabase {
  /// nil once it is closed.
  private var connection: OpaquePointer?
  /// Made once for each text.
  private var statements: [String: OpaquePointer] = [:]

  /// - Parameter path: Is made if it is not there, unless `isReadOnly`.
  init(_ path: String, isReadOnly: Bool) throws(CatalogFailure) {
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(path, &connection, access | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK else {
      // What cannot be opened is a connection all the same, which has the message.
      let failure = failure(code)
      sqlite3_close_v2(connection)
      connection = nil
      throw failure
    }
    sqlite3_extended_result_codes(connection, 1)
    if !isReadOnly { keepLog(true) }
  }

  /// The file alone as it is, without what is in its WAL, and without a lock: nothing is changed.
  init(untouched path: String) throws(CatalogFailure) {
    let access = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2("file:\(path)?immutable=1", &connection, access, nil)
    guard code == SQLITE_OK else {
      let failure = failure(code)
      sqlite3_close_v2(connection)
      connection = nil
      throw failure
    }
  }

  deinit { try? end() }

  /// Has what is in the WAL in the file itself, if nobody else has it open, and removes it. Later statements fail.
  ///
  /// - Parameter keepsLog: Whether the WAL stays, as it does where nobody closes this: without it, nobody could tell
  ///   whether all that was committed is there (`SessionMark`).
  func close(keepsLog: Bool = false) throws(CatalogFailure) {
    if !keepsLog { keepLog(false) }
    try end()
  }

  private func keepLog(_ isKept: Bool) {
    guard let connection else { return }
    var value: CInt = isKept ? 1 : 0
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_PERSIST_WAL, &value)
  }

  /// Has SQLite leave the file so large, or larger, when it cuts it back to the end of what is in it, as it does with
  /// each checkpoint: by the size of the pieces in which it is told to let the file grow.
  ///
  /// - Parameter size: In bytes; 0: as large as what is in it.
  func keepSize(_ size: Int64) {
    guard let connection else { return }
    // It is a whole number of pieces then, and the number of bytes of one fits into an int. Of whole pages: the file is
    // rounded up to these, and would then begin one piece more.
    let pieces = max((size + Self.pieceMax - 1) / Self.pieceMax, 1)
    let pages = (size + pieces * Self.pageMax - 1) / (pieces * Self.pageMax)
    var piece = CInt(clamping: pages * Self.pageMax)
    sqlite3_file_control(connection, "main", SQLITE_FCNTL_CHUNK_SIZE, &piece)
  }

  private static let pieceMax: Int64 = 1 << 30
  /// The largest page that SQLite has.
  private static let pageMax: Int64 = 64 << 10

  private func end() throws(CatalogFailure) {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
    guard let open = connection else { return }
    let code = sqlite3_close(open)
    guard code == SQLITE_OK else { throw failure(code) }
    connection = nil
  }

  // MARK: - Statements

  /// Calls `body` with a statement that nobody else is at, and sets it back afterwards.
  func withStatement<Result>(_ sql: String, _ body: (OpaquePointer) throws -> Result) throws -> Result {
    let kept = try keptStatement(sql)
    guard sqlite3_stmt_busy(kept) != 0 else {
      defer {
        sqlite3_reset(kept)
        sqlite3_clear_bindings(kept)
      }
      return try body(kept)
    }
    // One that is under way further up keeps its place: a second one is made for whoever calls in between.
    let other = try makeStatement(sql, flags: 0)
    defer { sqlite3_finalize(other) }
    return try body(other)
  }

  private func keptStatement(_ sql: String) throws(CatalogFailure) -> OpaquePointer {
    if let statement = statements[sql] { return statement }
    let statement = try makeStatement(sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
    statements[sql] = statement
    return statement
  }

  private func makeStatement(_ sql: String, flags: UInt32) throws(CatalogFailure) -> OpaquePointer {
    guard let connection else { throw CatalogFailure(code: SQLITE_MISUSE, system: 0, message: "it is closed") }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(connection, sql, -1, flags, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    return statement
  }

  /// What SQLite says of a call that failed.
  func failure(_ code: CInt) -> CatalogFailure {
    CatalogFailure(
      code: code, system: connection.map { sqlite3_system_errno($0) } ?? 0,
      message: connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? "")
  }

  /// Whether it can only be read: as its file may, or as its header says, which is known after the first statement.
  var isReadOnly: Bool { connection.map { sqlite3_db_readonly($0, "main") == 1 } ?? false }

  /// Rows that the last statement changed.
  var changes: Int { connection.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// The rowid of the last row that was added.
  var lastRow: Int64 { connection.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  // MARK: - Transactions

  /// Everything that `body` changes is committed, or, if it throws or the commit fails, nothing.
  func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try step("BEGIN IMMEDIATE TRANSACTION")
    do {
      let result = try body()
      try step("COMMIT TRANSACTION")
      return result
    } catch {
      // A full disk, for one, has ended it already.
      if let connection, sqlite3_get_autocommit(connection) == 0 { try? step("ROLLBACK TRANSACTION") }
      throw error
    }
  }

  private func step(_ sql: String) throws {
    try withStatement(sql) { statement in
      let code = sqlite3_step(statement)
      guard code == SQLITE_DONE else { throw failure(code) }
    }
  }
}
