internal import CDatalessLinux
internal import Glibc

/// Room that the catalog has beyond the ends of its files, so that it can still be changed when the disk is full: what
/// programs remove gives room back only when the catalog says so durably.
///
/// Blocks that were allocated with FALLOC_FL_KEEP_SIZE: SQLite writes into them without asking the disk for any. Where
/// they are used up, the WAL is begun anew, as long as the database can take what is in it; so they are enough for any
/// number of changes that do not make the catalog itself larger by more.
///
/// For one thread at a time. Nothing of it can fail: where there is no room, or the file system allocates nothing in
/// advance, there is no reserve.
final class CatalogReserve {
  /// Kept open until SQLite has closed its own: closing one takes away the process's locks on the file.
  private final class Part {
    let path: String
    /// In bytes.
    let most: Int64
    var file: OwnedFile?
    var isRefused = false

    init(_ path: String, most: Int64) {
      self.path = path
      self.most = most
    }
  }

  /// LIMIT: bytes, and which part of the disk's free room is taken at most.
  private static let walMost: Int64 = 4 << 20
  private static let databaseMost: Int64 = 1 << 20
  private static let walLeast: Int64 = 256 << 10
  private static let share: Int64 = 8

  private let parts: [Part]

  /// - Parameter path: Of the database; both files are made by SQLite.
  init(_ path: String) {
    parts = [Part(path + "-wal", most: Self.walMost), Part(path, most: Self.databaseMost)]
  }

  /// Makes up for what was used. - Returns: Whether the WAL should be begun anew, because it cannot grow by much.
  func renew() -> Bool {
    let left = parts.map { $0.isRefused ? .max : renew($0) }
    return left[0] < Self.walLeast
  }

  /// - Returns: By how many bytes the file can grow without asking the disk.
  private func renew(_ part: Part) -> Int64 {
    if part.file == nil {
      let descriptor = open(part.path, O_RDWR | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW)
      guard descriptor >= 0 else { return .max }
      part.file = OwnedFile(descriptor)
    }
    var status = stat()
    guard let file = part.file, fstat(file.raw, &status) == 0 else { return .max }
    let size = Int64(status.st_size)
    let left = Int64(status.st_blocks) * 512 - size
    guard left < part.most / 2 else { return left }
    var disk = statvfs()
    guard fstatvfs(file.raw, &disk) == 0 else { return left }
    let (free, overflow) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(by: Int64(disk.f_frsize))
    let wanted = overflow ? part.most : min(part.most, free / Self.share)
    guard wanted >= 4096 else { return left }
    let result = clinux_fallocate(file.raw, CLINUX_FALLOC_FL_KEEP_SIZE, size, wanted)
    part.isRefused = result == -Int(EOPNOTSUPP) || result == -Int(ENOSYS)
    return part.isRefused ? .max : result < 0 ? left : wanted
  }
}
