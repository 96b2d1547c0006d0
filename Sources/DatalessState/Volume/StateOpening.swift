import DatalessCore
import DatalessStores
internal import CDatalessLinux
import Glibc
import SystemPackage

/// The steps by which a state directory becomes a volume.
struct StateOpening {
  let catalog: Catalog
  let content: DiskContentStore
  let writer: CatalogWriter
  let epochs: Epochs
  let identity: MountIdentity?
  let wasClean: Bool
  /// Content of files that were unlinked and still open when the last run ended.
  let orphaned: [ContentID]
  /// As `StateVolume.found`.
  let found: [ContentID]
  /// As `StateVolume.namedFiles`.
  let named: Int
  let uses: KeptUses
  /// As `StateVolume.session`.
  let session: UInt64?
  /// As `CatalogConnection.sizesFrom`.
  let sizesFrom: Int64?
  /// As `StateVolume.missingChanges`.
  let flaw: String?

  init(_ directory: StateDirectory, source: String, root: ItemAttributes) throws(FSError) {
    let files = directory.files
    try CatalogRescue.finish(files)
    try Self.makeCatalogIfNew(directory, source: source, root: root)
    let content = try DiskContentStore(in: files.directory, path: FilePath(directory.path), lifetime: .kept)
    self.content = content
    if let name = content.adoption.refusedContent {
      throw FSError(
        .notPermitted,
        "cannot use the state directory '\(directory.path)': 'content/\(name)' in it is no plain file of this user's"
          + " alone, and a file may have its bytes there. Make it yours alone (chmod -R go-rwx)")
    }
    let (log, mark) = try StateDirectory.naming(directory.path) { () throws(Errno) in
      (try LogState(directory, log: files), try SessionMark(files))
    }
    try directory.refuseForeign(files.path(StateName.catalog))
    CatalogReserve.makeRoomForLog(files.path(StateName.catalog))
    catalog = try Catalog(
      files.path(StateName.catalog), .writing, home: root.device, shown: "the catalog of '\(directory.path)'")
    catalog.keepReserve(files.path(StateName.catalog))
    let identity = MountIdentity(of: files.directory)
    self.identity = identity
    let what = "cannot begin with '\(directory.path)'"
    let flaw = try catalog.read(what) { try Self.check($0, directory, source: source, mark: mark, log: log) }
    let isMarked = try StateDirectory.naming(directory.path) { () throws(Errno) in
      try mark.prepare(directory.marker, files, isBelieved: flaw == nil)
    }
    let (begun, session, sizesFrom) = try catalog.write(what) { connection in
      if log.isTorn || flaw != nil { try connection.set(.wasTorn, to: [1]) }
      let session = isMarked ? try connection.nextSession(after: mark) : nil
      let begun = try Self.begin(connection, source: source, root: root, identity: identity, content: content)
      if let session { try connection.set(.session, to: session) }
      return (begun, session, try connection.sizesFrom)
    }
    // Nothing that this session makes is there before its number is.
    if let session {
      try StateDirectory.naming(directory.path) { () throws(Errno) in
        try SessionMark.write(session, isClosed: false, of: directory.marker, files)
      }
      catalog.keepMark(files, of: directory.marker)
    }
    (self.flaw, self.session, self.sizesFrom) = (flaw, session, sizesFrom)
    writer = begun.writer
    epochs = begun.epochs
    wasClean = begun.wasClean
    orphaned = begun.orphaned
    named = begun.named
    uses = begun.uses
    var found: [ContentID] = []
    let removed = Set(begun.orphaned)
    // Names of content may be in what was left out.
    if !begun.wasClean && !begun.wasTorn {
      content.forEachContent { id, _ in if !removed.contains(id) { found.append(id) } }
    }
    self.found = found
  }

  private struct Begun {
    var writer: CatalogWriter
    var epochs: Epochs
    var wasClean: Bool
    /// Whether content is there that may have had a name in what was left out, and has none yet.
    var wasTorn: Bool
    var orphaned: [ContentID]
    var named: Int
    var uses: KeptUses
  }

  /// Whether the catalog is that of the directory, and of SOURCE. Nothing is changed before that is known.
  ///
  /// - Returns: As `SessionMark.flaw`.
  private static func check(
    _ connection: CatalogConnection, _ directory: StateDirectory, source: String, mark: SessionMark, log: LogState
  ) throws -> String? {
    try directory.refuseForeign(connection)
    if let known = try connection.setting(.source), known != Array(source.utf8) {
      throw FSError(
        .invalidArgument,
        "the state directory '\(directory.path)' is of SOURCE '\(String(decoding: known, as: UTF8.self))', not of"
          + " '\(source)'. Name that, or another directory")
    }
    return try mark.flaw(of: connection, log: log)
  }

  /// One transaction: from here on the directory is in use.
  private static func begin(
    _ connection: CatalogConnection, source: String, root: ItemAttributes, identity: MountIdentity?,
    content: DiskContentStore
  ) throws -> Begun {
    // `check` has taken it away if it could not be read.
    try connection.set(.source, to: Array(source.utf8))
    guard var row = try connection.item(ItemRow.root) else { throw Damage("it has no root") }
    let version = StoreVersion(root)
    if row.record.version != version || row.inode != root.inode {
      row.record.version = version
      row.inode = root.inode
      try row.save(connection)
    }
    let hasEnded = try connection.hasEnded
    let epochs = try Epochs(connection, identity)
    // What was removed before a loss of power may be there again.
    var wasTorn = try connection.setting(.wasTorn) == [1]
    // Else a file may be shorter than a row says that came before its content was cut off.
    if try !hasEnded || wasTorn || epochs.hasLost || connection.sizesFrom == nil {
      try connection.set(.sizesFrom, to: UInt64(epochs.current))
    }
    let wasClean = try connection.setting(.isClean) == [1] && !epochs.hasLost && !wasTorn
    try connection.set(.isClean, to: [0])
    let orphaned = try connection.removeOrphans()
    var named = 0
    if wasTorn, let found = try nameLost(connection, content, except: Set(orphaned)) {
      (wasTorn, named) = (false, found)
    }
    let writer = try CatalogWriter(connection, epoch: epochs.current)
    return Begun(
      writer: writer, epochs: epochs, wasClean: wasClean, wasTorn: wasTorn, orphaned: orphaned, named: named,
      uses: try connection.keptUses())
  }

  /// The end of the WAL was left out, and with it names of what programs were writing just then, or had removed; or the
  /// catalog is not the latest one: it gets names, as by `check`. The rest that nobody names is of no use, and
  /// `reconcile` removes it.
  ///
  /// All rows are read for it: after a loss of power that has cut a commit, and where commits are missing.
  ///
  /// - Returns: How many; nil if the catalog is damaged besides: that is for `check`.
  private static func nameLost(
    _ connection: CatalogConnection, _ content: DiskContentStore, except removed: Set<ContentID>
  ) throws -> Int? {
    var sizes: [ContentID: Int64] = [:]
    content.forEachContent { id, size in
      if content.hasOwnFile(id), !removed.contains(id) { sizes[id] = size }
    }
    var unnamed = sizes
    do {
      if !unnamed.isEmpty {
        try connection.forEach("SELECT \(ItemRow.columns) FROM item NOT INDEXED") { row in
          if let named = try ItemRow(row).content { unnamed[named] = nil }
        }
      }
    } catch is Damage {
      return nil
    }
    var count = 0
    try FoundFiles(connection: connection) { sizes[$0] }.keep(unnamed.keys) { _, _ in count += 1 }
    try connection.remove(.wasTorn)
    return count
  }

  // MARK: - Making

  /// Makes a catalog beside its place, and puts it there when it is whole.
  private static func makeCatalogIfNew(
    _ directory: StateDirectory, source: String, root: ItemAttributes
  ) throws(FSError) {
    let files = directory.files
    let (isThere, hasContent) = try StateDirectory.naming(directory.path) { () throws(Errno) in
      let isThere = try files.exists(StateName.catalog)
      return (isThere, try isThere ? false : Self.hasContent(files))
    }
    if isThere { return }
    if hasContent {
      throw FSError(
        .ioError,
        "the state directory '\(directory.path)' has content and no catalog. Put '\(StateName.catalog)' back from where it"
          + " was moved to. If it is lost, run 'dataless check': it makes a new one, in which what programs wrote has new"
          + " names (lost+found-...)")
    }
    let catalog = try Catalog(newIn: CatalogPlace(directory), home: root.device)
    try catalog.write("cannot make '\(directory.path)'") { connection in
      try connection.set(.volume, to: Array(directory.marker.volume.utf8))
      try connection.set(.source, to: Array(source.utf8))
      try connection.set(.isClean, to: [1])
      var record = ItemRecord()
      record.version = StoreVersion(root)
      try ItemRow(id: ItemRow.root, place: nil, inode: root.inode, record: record).save(connection)
    }
    try catalog.close()
    try StateDirectory.naming(directory.path) { () throws(Errno) in
      try files.sync(file: StateName.newCatalog)
      try files.rename(StateName.newCatalog, to: StateName.catalog)
    }
  }

  private static func hasContent(_ files: StateFiles) throws(Errno) -> Bool {
    guard try files.exists(StateName.content) else { return false }
    let content = OwnedFile(try files.open(StateName.content, O_RDONLY | CLINUX_O_DIRECTORY))
    return try !StateFiles(directory: content.raw).names().isEmpty
  }
}
