internal import CDatalessLinux
public import DatalessCore
internal import DatalessStores
internal import Glibc
internal import SystemPackage

/// Gets what was made or written on a volume out of its state directory, without a mount: beneath one directory, and
/// never over what is there.
public enum StateExport {
  public struct Options: Sendable {
    /// Whether devices, FIFOs and sockets are made. The state directory may be anybody's work.
    public var includesDevices = false
    /// Whether setuid, setgid and sticky bits are set; likewise.
    public var keepsSetID = false
    public init() {}
  }

  /// What was written, and what was not.
  public struct Report: Sendable, Equatable {
    public internal(set) var files = 0
    public internal(set) var bytes: Int64 = 0
    public internal(set) var directories = 0
    public internal(set) var links = 0
    /// Why what was written may not be on the disk; nil if it is.
    public internal(set) var syncFailure: FSError?
    /// What was left out, with the reason: the first `skippedMax`.
    public internal(set) var skipped: [Skipped] = []
    /// All that was left out.
    public internal(set) var skippedCount = 0
    public static let skippedMax = 10_000

    mutating func skip(_ path: [UInt8], _ error: FSError) {
      skippedCount += 1
      if skipped.count < Self.skippedMax { skipped.append(Skipped(path: path, error: error)) }
    }

    /// An item whose row says what cannot be, so that nobody knows its path.
    mutating func skip(item: Int64, _ damage: Damage) {
      skip([], FSError(.ioError, "item \(item) is damaged: \(damage). Run 'dataless check'"))
    }
  }

  public struct Skipped: Sendable, Equatable {
    /// On the volume; empty where it is not known.
    public let path: [UInt8]
    public let error: FSError
  }

  /// - Parameters:
  ///   - directory: Opened with `.look`.
  ///   - target: A directory in which everything is put; not closed. On the disk when this returns.
  ///   - scratch: As for `StateCheck.run`.
  ///   - progress: Called with how many of how many items are done, now and then; what it throws ends the export, with
  ///     what was written until then.
  /// - Throws: EIO (the catalog cannot be read: run `check`; or it is another directory's), EPROTONOSUPPORT, ENOSPC (in
  ///   `scratch`). What concerns one file only is in the report.
  public static func run(
    _ directory: StateDirectory, to target: CInt, _ options: Options = Options(), scratch: String = "/tmp",
    progress: (Int, Int) throws(FSError) -> Void = { (_, _) throws(FSError) in }
  ) throws(FSError) -> Report {
    var report = Report()
    let names = try StateInspection.names(directory.files, directory.path)
    let content =
      names.contains(StateName.content)
      ? try DiskContentStore(in: directory.files.directory, path: FilePath(directory.path), lifetime: .looked) : nil
    guard names.contains(StateName.catalog) || names.contains(StateName.rescuedCatalog) else {
      if content == nil { return report }
      throw FSError(
        .ioError,
        "'\(directory.path)' has content and no catalog: nobody knows whose it is. Run 'dataless"
          + " check': it makes a new one, in which what programs wrote has new names (lost+found-...)")
    }
    let copy = try CatalogCopy(of: directory, in: scratch)
    defer { copy.remove() }
    try directory.refuseForeign(copy.place.path(StateName.catalog))
    let catalog = try Catalog(
      copy.place.path(StateName.catalog), .writing, home: 0, shown: "the catalog of '\(directory.path)'")
    let tree = try catalog.read("cannot read the catalog") { connection in
      try directory.refuseForeign(connection)
      // Rows that an index does not lead to would be left out without a word.
      let flaw = try connection.first("PRAGMA integrity_check(1)") { row throws in try row.text(0) }
      guard flaw == "ok" else { throw Damage(flaw ?? "SQLite says nothing") }
      return try ExportTree(connection, &report)
    }
    try catalog.close()
    var writer = ExportWriter(to: target, content: content, options, report)
    try writer.write(tree, progress: progress)
    report = writer.report
    let result = clinux_sync_file_system(target)
    if result < 0 {
      report.syncFailure = FSError(Errno(rawValue: CInt(-result)), "cannot synchronize the file system of the target")
    }
    return report
  }
}
