import DatalessCore
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// The catalog of a state directory: an SQLite database with one connection, which one thread uses at a time.
///
/// Accesses wait for each other and for the disk: the journal's lane and the metadata lane make them, nobody else.
///
/// `@unchecked Sendable`: `database`, `reserve` and `mark` are used by whoever holds `lock`, and by nobody else.
final class Catalog: @unchecked Sendable {
  private let database: CatalogDatabase
  private let lock = Mutex<Void>(())
  /// Used, as `database`, under `lock`; nil unless it is kept.
  private var reserve: CatalogReserve?
  /// The same.
  private var mark: LogMark?
  /// See `allowance`: for threads that must not wait.
  private let making = Atomic(CatalogAllowance.unknown.making)
  private let removing = Atomic(CatalogAllowance.unknown.removing)
  /// The device number of SOURCE's root: written as 0, because a disk has another one after the next boot. 0 where it
  /// does not matter.
  let home: UInt64

  /// What may be done with it.
  enum Access {
    /// Changes are committed with an fsync.
    case writing
    /// Nothing is written, the WAL included. What is in the WAL is seen.
    case looking
    /// As `writing`, but it must be new.
    case making
  }

  /// Opens a catalog, migrates it if it is older, and checks that it is one.
  ///
  /// - Parameters:
  ///   - path: Of the file; what SQLite opens beside it has the same beginning.
  ///   - home: As the property.
  ///   - shown: How messages call it. Default: the catalog.
  /// - Throws: EIO (it is damaged, or none), EPROTONOSUPPORT (of a newer format), EROFS, EACCES, ENOSPC.
  init(_ path: String, _ access: Access, home: UInt64, shown: String = "the catalog") throws(FSError) {
    self.home = home
    do {
      database = try CatalogDatabase(path, isReadOnly: access == .looking)
      // Before the first statement: a lock for writing cannot be taken on what is open for reading alone.
      if access != .looking { try Self.refuseReadOnly(database, path) }
      // What it has beyond what is in it is its reserve.
      var status = stat()
      if access == .writing, lstat(path, &status) == 0 { database.keepSize(Int64(status.st_size)) }
      let connection = CatalogConnection(database: database, home: home)
      // Before the first access: then there is no file of shared memory, which others could change.
      try connection.first("PRAGMA locking_mode=EXCLUSIVE") { _ in }
      try connection.run("PRAGMA trusted_schema=OFF")
      try connection.run("PRAGMA cell_size_check=ON")
      try connection.first("PRAGMA mmap_size=0") { _ in }
      try connection.run("PRAGMA cache_size=-4096")
      try connection.run("PRAGMA temp_store=MEMORY")
      try Self.setUp(connection, access)
    } catch {
      throw CatalogFailure.answer(error, "cannot open \(shown)")
    }
  }

  /// Makes one beside the place of a catalog, as `StateName.newCatalog`: for its caller to fill, and to put there.
  convenience init(newIn place: CatalogPlace, home: UInt64) throws(FSError) {
    do throws(Errno) {
      for suffix in StateName.suffixes { place.files.remove(StateName.newCatalog + suffix) }
      try place.files.write(StateName.newCatalog, [])
    } catch {
      throw FSError(error, "cannot make '\(StateName.newCatalog)' in the state directory")
    }
    try self.init(place.path(StateName.newCatalog), .making, home: home)
  }

  /// Opens whatever is there, to read what can be read of it.
  init(damaged path: String) throws(FSError) {
    home = 0
    do {
      database = try CatalogDatabase(path, isReadOnly: false)
      let connection = CatalogConnection(database: database, home: 0)
      try connection.first("PRAGMA locking_mode=EXCLUSIVE") { _ in }
      try connection.run("PRAGMA trusted_schema=OFF")
      try connection.first("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in }
    } catch {
      throw CatalogFailure.answer(error, "cannot open the catalog")
    }
  }

  /// Which volume a catalog is of, as its file says without its log: that is in it from its beginning. Nothing is
  /// changed: the log that lies beside it may be another's, and opening it would mix the two.
  ///
  /// - Parameter path: A path without characters that mean something in a URI.
  /// - Returns: nil where it cannot be read, or is no catalog of a format that is known: then it is not known.
  static func origin(_ path: String) -> [UInt8]? {
    guard let database = try? CatalogDatabase(untouched: path) else { return nil }
    let connection = CatalogConnection(database: database, home: 0)
    do {
      try connection.run("PRAGMA trusted_schema=OFF")
      try connection.run("PRAGMA cell_size_check=ON")
      // Before its tables are read: one may be a view that never ends.
      try check(connection, mayBeOlder: true)
      return try connection.setting(.volume)
    } catch {
      return nil
    }
  }

  /// SQLite opens what it cannot write for reading alone, and says so when something is changed: too late for a volume.
  private static func refuseReadOnly(_ database: CatalogDatabase, _ path: String) throws {
    guard database.isReadOnly else { return }
    let isAllowed = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    let error: Errno = isAllowed ? .readOnlyFileSystem : Errno(rawValue: errno)
    let remedy =
      switch error {
      case .permissionDenied: "Let its owner write to it (chmod u+w)"
      case .notPermitted: "It is immutable: take that away (chattr -i)"
      default: "Make its file system writable"
      }
    throw FSError(error, "'\(StateName.catalog)' in the state directory may only be read. \(remedy)")
  }

  private static func setUp(_ connection: CatalogConnection, _ access: Access) throws {
    guard access != .looking else { return try check(connection) }
    // This reads the header.
    try connection.first("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in }
    guard !connection.database.isReadOnly else { throw Damage("its header says that it may only be read") }
    let mode = try connection.first("PRAGMA journal_mode=WAL") { row throws in try row.text(0) }
    guard mode == "wal" else { throw FSError(.notSupported, "the file system has no WAL for SQLite") }
    // Each commit is an fsync of the WAL.
    try connection.run("PRAGMA synchronous=FULL")
    if access == .making { try connection.run("PRAGMA application_id=\(CatalogSchema.applicationID)") }
    try check(connection, mayBeOlder: true)
    try migrate(connection)
  }

  // MARK: - Formats

  static func format(_ connection: CatalogConnection) throws -> Int64 {
    try connection.first("PRAGMA user_version") { row throws in try row.integer(0) } ?? 0
  }

  private static func migrate(_ connection: CatalogConnection) throws {
    for number in try format(connection)..<CatalogSchema.format {
      try connection.database.transaction {
        let migration = CatalogSchema.migrations[Int(number)]
        for (_, sql) in migration.makes { try connection.run(sql) }
        for sql in migration.changes { try connection.run(sql) }
        try connection.run("PRAGMA user_version=\(number + 1)")
      }
    }
  }

  /// Throws for what is no catalog of ours.
  private static func check(_ connection: CatalogConnection, mayBeOlder: Bool = false) throws {
    let id = try connection.first("PRAGMA application_id") { row throws in try row.integer(0) }
    guard id == CatalogSchema.applicationID else { throw Damage("it is no catalog of dataless") }
    let format = try format(connection)
    guard format <= CatalogSchema.format else {
      throw FSError(
        .protocolNotSupported,
        "its format is \(format), newer than \(CatalogSchema.format), which this version knows. Use the version of"
          + " dataless that made it, or a newer one")
    }
    guard mayBeOlder || format == CatalogSchema.format, let expected = CatalogSchema.objects(of: format) else {
      throw Damage("its format is \(format)")
    }
    var found: [String: String] = [:]
    // Indices that SQLite makes by itself have no text. Whatever has one is made of it, however it is called.
    try connection.forEach("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL") { row in
      guard found.updateValue(try row.text(1), forKey: try row.text(0)) == nil else {
        throw Damage("two of its tables have one name")
      }
    }
    guard found == expected else { throw Damage("its tables are not those of format \(format)") }
  }

  // MARK: - Accesses

  /// - Parameter what: For messages: "cannot ...".
  func read<Result>(
    _ what: String, _ body: (CatalogConnection) throws -> Result
  ) throws(FSError) -> Result {
    do {
      return try alone { try body(CatalogConnection(database: database, home: home)) }
    } catch {
      throw CatalogFailure.answer(error, what)
    }
  }

  /// Changes everything that `body` changes, or nothing. Durable when it returns.
  func write<Result>(
    _ what: String, _ body: (CatalogConnection) throws -> Result
  ) throws(FSError) -> Result {
    do {
      return try alone {
        let connection = CatalogConnection(database: database, home: home)
        defer { renewReserve(connection) }
        let result = try database.transaction { try body(connection) }
        mark?.update()
        return result
      }
    } catch {
      throw CatalogFailure.answer(error, what)
    }
  }

  /// Keeps room for changes on a full disk from now on. - Parameter path: As of `init`.
  func keepReserve(_ path: String) {
    lock.withLock { _ in
      reserve = CatalogReserve(path)
      renewReserve(CatalogConnection(database: database, home: home))
    }
  }

  /// Keeps beside it how much is committed to its log from now on. - Parameter files: Where both lie.
  func keepMark(_ files: StateFiles, of volume: StateMarker) {
    lock.withLock { _ in
      mark = LogMark(files, of: volume)
      mark?.update()
    }
  }

  private func renewReserve(_ connection: CatalogConnection) {
    guard let reserve else { return }
    let left = reserve.renew(connection)
    making.store(left.allowance.making, ordering: .relaxed)
    removing.store(left.allowance.removing, ordering: .relaxed)
    // Where even the database cannot grow, the next change fails, and says so.
    if left.needsNewLog { try? connection.first("PRAGMA wal_checkpoint(RESTART)") { _ in } }
  }

  /// By how many bytes it may grow until the next write; a part of what the disk has is in it. Waits for nobody.
  var allowance: CatalogAllowance {
    CatalogAllowance(making: making.load(ordering: .relaxed), removing: removing.load(ordering: .relaxed))
  }

  /// Looks anew how much room there is.
  func renewReserve() {
    lock.withLock { _ in renewReserve(CatalogConnection(database: database, home: home)) }
  }

  private func alone<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    lock.withLock { _ in result = Swift.Result { try body() } }
    guard let result else { throw FSError(.ioError, "no result") }
    return try result.get()
  }

  /// Has all that is in the WAL in the file itself, and closes it. Later accesses fail.
  ///
  /// - Parameter keepsLog: Whether the WAL stays beside it.
  func close(keepsLog: Bool = false) throws(FSError) {
    do {
      try alone {
        try database.close(keepsLog: keepsLog)
        (reserve, mark) = (nil, nil)
      }
    } catch {
      throw CatalogFailure.answer(error, "cannot close the catalog")
    }
  }
}
