internal import Glibc
internal import SystemPackage

/// Keeps in `session` how much was committed to a catalog's log, so that a log that was cut where it looks whole is
/// known: what that has not is no leftover.
///
/// Written after each commit, in place and without an fsync of its own. What it tells of is on the disk before it is
/// written, so it may tell of less after a loss of power, and never of more. After a kill it is what was written last.
///
/// For one thread at a time, the one that commits. Nothing of it can fail: what is not told is not missed.
final class LogMark {
  private let session: OwnedFile
  private let volume: StateMarker
  /// Its file is kept open until SQLite has closed its own, as by `CatalogReserve`.
  private var scan: WALScan
  private var told: LogPosition?

  /// - Returns: nil unless both files are there.
  init?(_ files: StateFiles, of volume: StateMarker) {
    guard let session = try? files.open(StateName.session, O_WRONLY) else { return nil }
    self.session = OwnedFile(session)
    guard let log = try? files.open(StateName.catalog + "-wal", O_RDONLY) else { return nil }
    scan = WALScan(OwnedFile(log))
    self.volume = volume
  }

  /// Something was committed.
  func update() {
    guard (try? scan.goOn()) != nil, let committed = scan.committed, committed != told else { return }
    let (bytes, offset) = SessionMark.place(committed, of: volume)
    if pwrite(session.raw, bytes, bytes.count, off_t(offset)) == bytes.count { told = committed }
  }
}
