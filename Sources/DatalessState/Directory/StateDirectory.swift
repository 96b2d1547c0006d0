internal import CDatalessLinux
public import DatalessCore
internal import Glibc
internal import SystemPackage

/// A state directory that is ours as long as this object lives: checked, marked and locked.
public final class StateDirectory: Sendable {
  /// For messages.
  public let path: String
  let files: StateFiles
  let marker: StateMarker
  /// Why the marker is another one than that of the directory, and was found by the catalog; nil if it is the same.
  let markerFlaw: String?
  private let directory: OwnedFile
  private let lock: OwnedFile

  public enum Use: Sendable {
    /// It is made if it is empty.
    case keep
    /// It has to be there already.
    case repair
    /// The same, and nothing in it is written.
    case look
  }

  /// Takes a directory that the caller has opened, having checked those above it (`TrustedDirectory`).
  ///
  /// - Parameters:
  ///   - descriptor: Not used after this call.
  ///   - path: For messages; ready to be shown.
  /// - Throws: ENOENT (not a state directory, and not to be made one), ENOTEMPTY (other things are in it), EPERM (it,
  ///   or something in it, is not this user's alone, or a link), EBUSY (a process uses it, which the message names),
  ///   EPROTONOSUPPORT (of a newer format), EIO (damaged, or a restore that did not end), EROFS, EACCES, ENOSPC.
  public init(_ descriptor: CInt, path: String, _ use: Use) throws(FSError) {
    self.path = path
    let (directory, lock, found) = try Self.take(descriptor, path, use: use)
    self.directory = directory
    self.lock = lock
    (marker, markerFlaw) = (found.marker, found.flaw)
    files = StateFiles(directory: directory.raw)
  }

  private static func take(
    _ descriptor: CInt, _ path: String, use: Use
  ) throws(FSError) -> (OwnedFile, OwnedFile, FoundMarker) {
    let directory = try naming(path) { () throws(Errno) in
      OwnedFile(try StateFiles(directory: descriptor).open(".", O_RDONLY | CLINUX_O_DIRECTORY))
    }
    let files = StateFiles(directory: directory.raw)
    let names = try StateInspection.names(files, path)
    if !names.contains(StateName.marker) { try checkMayBeMade(files, names: names, path, use: use) }
    if use != .repair, names.contains(StateName.unfinished) {
      throw FSError(.ioError, "'\(path)' is a restore that did not end. Remove it, and restore again")
    }
    let lock = try takeLock(files, path, use: use)
    let marker = try mark(files, path, use: use)
    return (directory, lock, marker)
  }

  /// Without a marker a directory is ours only by its catalog.
  private static func checkMayBeMade(
    _ files: StateFiles, names: Set<String>, _ path: String, use: Use
  ) throws(FSError) {
    let isOurs = names.contains(StateName.catalog) && Catalog.origin(files.path(StateName.catalog)) != nil
    guard use == .keep else {
      if isOurs { return }
      throw FSError(
        .noSuchFileOrDirectory,
        "'\(path)' is no state directory of dataless: '\(StateName.marker)' is missing, and a catalog of dataless, too")
    }
    if isOurs { throw FSError(.ioError, "'\(path)/\(StateName.marker)' is missing. \(markerRemedy)") }
    if let name = names.subtracting([StateName.lock, StateName.newMarker]).min() {
      throw FSError(
        .directoryNotEmpty,
        "'\(path)' is no state directory of dataless, and other things are in it, such as '\(name)'. Name an empty or a"
          + " new directory")
    }
  }

  // MARK: - Catalog

  /// Throws if a catalog is that of another directory, before anything opens it.
  func refuseForeign(_ path: String) throws(FSError) {
    if let volume = Catalog.origin(path), volume != Array(marker.volume.utf8) { throw foreign }
  }

  /// The same of a catalog that is open, with what is in its log.
  func refuseForeign(_ connection: CatalogConnection) throws {
    guard let volume = try connection.setting(.volume) else { throw Damage("it does not say which volume it is of") }
    guard volume == Array(marker.volume.utf8) else { throw foreign }
  }

  /// What it names is another volume's content: nothing of the two is to be mixed.
  var foreign: FSError {
    FSError(
      .ioError,
      "'\(path)/\(StateName.catalog)' is the catalog of another state directory. Put this one's back, from where it was"
        + " moved to. If that is lost, move this one away and run 'dataless check': what was written here gets names"
        + " (lost+found-...)")
  }

  // MARK: - Lock

  private static func takeLock(_ files: StateFiles, _ path: String, use: Use) throws(FSError) -> OwnedFile {
    let lock = try naming(path) { () throws(Errno) in
      guard use == .look else { return OwnedFile(try files.open(StateName.lock, O_RDWR | O_CREAT)) }
      do throws(Errno) {
        return OwnedFile(try files.open(StateName.lock, O_RDONLY))
      } catch {
        // Nobody uses it then.
        guard error == .noSuchFileOrDirectory else { throw error }
        return OwnedFile(try files.open(".", O_RDONLY | CLINUX_O_DIRECTORY))
      }
    }
    let isTaken = flock(lock.raw, LOCK_EX | LOCK_NB) == 0
    let error = Errno(rawValue: errno)
    guard isTaken else {
      guard error == .wouldBlock else { throw FSError(error, "cannot lock the state directory '\(path)'") }
      throw FSError(.resourceBusy, "the state directory '\(path)' is used by \(holder(of: lock))")
    }
    // By which the kernel says who it is. Nobody opens this file again: closing any descriptor of it would give it up.
    if use != .look { _ = clinux_take_record_lock(lock.raw) }
    return lock
  }

  private static func holder(of lock: OwnedFile) -> String {
    var (start, process): (Int64, Int32) = (0, 0)
    guard clinux_find_record_lock(lock.raw, 0, 0, &start, &process) == 1, process > 0 else { return "another process" }
    return "process \(process)"
  }

  /// Says of an errno which directory it is about.
  static func naming<Result>(_ path: String, _ body: () throws(Errno) -> Result) throws(FSError) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw FSError(error, "cannot use the state directory '\(path)'")
    }
  }
}
