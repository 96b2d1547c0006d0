public import DatalessCore
internal import DatalessStores
internal import Glibc
internal import SystemPackage

/// Looks at all of a state directory, and mends it: offline, with its lock held.
///
/// Whoever only looks works on a copy of the catalog: so that what is found is what would be mended, and nothing is
/// written.
public enum StateCheck {
  /// What is looked at.
  public enum Step: String, Sendable {
    case content = "looking at content"
    case catalog = "checking the catalog"
    case rows = "looking at items and names"
    case leftovers = "looking for leftovers"
  }

  /// How far a step is.
  public struct Progress: Sendable, Equatable {
    public var step: Step
    /// Rows that were looked at.
    public var rows: Int64 = 0
    /// How many are to be looked at if nothing is damaged; nil where that is not known.
    public var totalRows: Int64?
  }

  /// - Parameters:
  ///   - directory: Opened with `.repair`, or, for who only looks, with `.look`.
  ///   - isDryRun: Whether nothing is to be changed.
  ///   - scratch: Where a copy of the catalog may be made for a dry run: a directory of this user's.
  ///   - progress: Called when each step begins, and now and then in `rows`; what it throws ends the check. Rows are
  ///     not changed then.
  /// - Throws: EPROTONOSUPPORT (of a newer format), ENOSPC, EIO, EACCES, EROFS: nothing is known then.
  public static func run(
    _ directory: StateDirectory, isDryRun: Bool, scratch: String = "/tmp",
    progress: @escaping (Progress) throws(FSError) -> Void = { (_) throws(FSError) in }
  ) throws(FSError) -> StateCheckReport {
    try progress(Progress(step: .content))
    var report = StateCheckReport()
    let names = try StateInspection.names(directory.files, directory.path)
    for name in names.subtracting(StateName.files).subtracting([StateName.content]).sorted() {
      report.add(.foreignName, name, message: "is not of dataless", repair: nil)
    }
    if let flaw = directory.markerFlaw {
      report.add(.damagedMarker, StateName.marker, message: flaw, repair: "made anew")
    }
    if !isDryRun { try CatalogRescue.finish(directory.files) }
    let contents = try ContentOverview(directory, names, isDryRun: isDryRun, report: &report)
    let hasCatalog = names.contains(StateName.catalog) || names.contains(StateName.rescuedCatalog)
    if !hasCatalog, contents.sizes.isEmpty {
      if !isDryRun { try keepMarker(directory) }
      return report
    }
    try progress(Progress(step: .catalog))
    let copy = isDryRun ? try CatalogCopy(of: directory, in: scratch) : nil
    defer { copy?.remove() }
    let place = copy?.place ?? CatalogPlace(directory)
    try directory.refuseForeign(place.path(StateName.catalog))
    let end = try StateDirectory.naming(directory.path) { () throws(Errno) in
      try CatalogEnd(directory, log: place.files, isDryRun: isDryRun)
    }
    if !hasCatalog { try CatalogRescue.make(place, of: directory.marker, &report) }
    let catalog = try CatalogRescue.open(place, &report)
    try progress(Progress(step: .rows))
    let (kept, session) = try catalog.write("cannot mend the catalog") { connection in
      let rows = try RowProgress(connection) { (done, all) throws(FSError) in
        try progress(Progress(step: .rows, rows: done, totalRows: all))
      }
      var mending = CatalogMending(
        connection, contents, directory: directory, end: end, report: report, progress: rows)
      let session = try mending.mend()
      report = mending.report
      try progress(Progress(step: .leftovers))
      return (mending.referenced, session)
    }
    contents.removeOthers(than: kept, isDryRun: isDryRun, &report)
    if !isDryRun {
      // Before the log goes, as at the end of a volume.
      if end.isMarked {
        try StateDirectory.naming(directory.path) { () throws(Errno) in
          try SessionMark.write(session, isClosed: true, of: directory.marker, directory.files)
        }
      }
      try keepMarker(directory)
    }
    try catalog.close()
    return report
  }

  /// Once what was mended is on the disk: until then nobody knows for certain whose the catalog is, volumes are
  /// refused, and the next `check` removes nothing either.
  private static func keepMarker(_ directory: StateDirectory) throws(FSError) {
    if directory.markerFlaw != nil { try directory.keepMarker() }
  }
}

/// Where a catalog lies.
struct CatalogPlace {
  /// As SQLite is given it.
  let path: @Sendable (String) -> String
  let files: StateFiles

  init(_ directory: StateDirectory) {
    files = directory.files
    path = { [files = directory.files] in files.path($0) }
  }

  init(_ files: StateFiles) {
    self.files = files
    path = { files.path($0) }
  }
}

/// A copy of a catalog, in a directory of its own.
struct CatalogCopy {
  let place: CatalogPlace
  private let path: String
  private let directory: OwnedFile

  init(of original: StateDirectory, in scratch: String) throws(FSError) {
    var template = Array("\(scratch)/dataless-check-XXXXXX".utf8CString)
    let made: String? = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    guard let made else { throw FSError(Errno(rawValue: errno), "cannot make a directory in '\(scratch)'") }
    path = made
    let opened = Glibc.open(made, O_RDONLY)
    guard opened >= 0 else { throw FSError(Errno(rawValue: errno), "cannot open '\(made)'") }
    directory = OwnedFile(opened)
    let files = StateFiles(directory: opened)
    place = CatalogPlace(files)
    do throws(Errno) {
      let isRescued = try Self.copy(StateName.rescuedCatalog, from: original.files, to: files, as: StateName.catalog)
      for suffix in ["", "-wal"] where !isRescued {
        let name = StateName.catalog + suffix
        _ = try Self.copy(name, from: original.files, to: files, as: name)
      }
    } catch {
      remove()
      throw FSError(error, "cannot copy the catalog of '\(original.path)' to '\(made)'")
    }
  }

  /// - Returns: Whether there is one.
  private static func copy(
    _ name: String, from: StateFiles, to: StateFiles, as copy: String
  ) throws(Errno) -> Bool {
    let source: CInt
    do throws(Errno) {
      source = try from.open(name, O_RDONLY)
    } catch {
      if error == .noSuchFileOrDirectory { return false }
      throw error
    }
    defer { close(source) }
    let target = try to.open(copy, O_WRONLY | O_CREAT | O_EXCL)
    defer { close(target) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(source, &buffer, buffer.count)
      guard count >= 0 else { throw Errno(rawValue: errno) }
      if count == 0 { return true }
      let written = write(target, buffer, count)
      guard written == count else { throw written < 0 ? Errno(rawValue: errno) : .noSpace }
    }
  }

  func remove() {
    for name in (try? place.files.names()) ?? [] { place.files.remove(String(decoding: name, as: UTF8.self)) }
    rmdir(path)
  }
}
