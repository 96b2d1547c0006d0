internal import CDatalessLinux
internal import Glibc

/// Room that the catalog has already, so that it can still be changed when the disk is full: what programs remove gives
/// room back only when the catalog says so durably.
///
/// The WAL has blocks beyond its end, allocated with FALLOC_FL_KEEP_SIZE: SQLite writes into them without asking the
/// disk for any, and never cuts them off. Where they are used up, the WAL is begun anew, as long as the database can
/// take what is in it. The database is larger than what is in it: it is cut back to its end with each checkpoint,
/// which would take blocks beyond that, so SQLite is told to leave it as large as it is (`CatalogDatabase.keepSize`).
///
/// For one thread at a time. Nothing of it can fail: where there is no room, or the file system allocates nothing in
/// advance, there is no reserve.
final class CatalogReserve {
  /// Kept open until SQLite has closed its own: closing one takes away the process's locks on the file.
  private final class Part {
    let path: String
    var file: OwnedFile?

    init(_ path: String) { self.path = path }
  }

  /// What there is after `renew`.
  struct Left {
    /// Whether the WAL should be begun anew, because it cannot grow by much.
    var needsNewLog: Bool
    var allowance: CatalogAllowance
  }

  /// LIMIT: bytes, and which part of the disk's free room is taken at most.
  private static let logMost: Int64 = 4 << 20
  private static let databaseMost: Int64 = 4 << 20
  private static let logLeast: Int64 = 512 << 10
  private static let share: Int64 = 8
  private static let least: Int64 = 64 << 10
  /// LIMIT: bytes that are kept for removals, and for what is told without being asked for; and which part of the disk
  /// at most.
  private static let floorMost: Int64 = 256 << 10
  private static let floorShare: Int64 = 64

  private let log: Part
  private let database: Part
  private var isRefused = false

  /// - Parameter path: Of the database; both files are made by SQLite.
  init(_ path: String) {
    log = Part(path + "-wal")
    database = Part(path)
  }

  /// Makes up for what was used. Outside of a transaction.
  func renew(_ connection: CatalogConnection) -> Left {
    let logLeft = renewLog()
    return Left(needsNewLog: logLeft < Self.logLeast, allowance: renewDatabase(connection))
  }

  private struct Status {
    let file: CInt
    let size: Int64
    /// In bytes.
    let allocated: Int64
    /// Of the disk.
    let free: Int64
    let all: Int64
  }

  private func look(_ part: Part) -> Status? {
    if part.file == nil {
      let descriptor = open(part.path, O_RDWR | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW)
      guard descriptor >= 0 else { return nil }
      part.file = OwnedFile(descriptor)
    }
    var (status, disk) = (stat(), statvfs())
    guard let file = part.file, fstat(file.raw, &status) == 0, fstatvfs(file.raw, &disk) == 0 else { return nil }
    func bytes(_ blocks: fsblkcnt_t) -> Int64 {
      let (bytes, overflow) = Int64(clamping: blocks).multipliedReportingOverflow(by: Int64(disk.f_frsize))
      return overflow ? .max : bytes
    }
    return Status(
      file: file.raw, size: Int64(status.st_size), allocated: Int64(status.st_blocks) * 512,
      free: bytes(disk.f_bavail), all: bytes(disk.f_blocks))
  }

  /// - Returns: By how many bytes the WAL can grow without asking the disk.
  private func renewLog() -> Int64 {
    guard !isRefused, let status = look(log) else { return .max }
    let left = status.allocated - status.size
    guard left < Self.logMost / 2 else { return left }
    // At least so much that any one change fits, if the disk has it.
    let needed = min(Self.logLeast - status.size, status.free)
    let wanted = min(Self.logMost, max(status.free / Self.share, needed))
    guard wanted >= 4096 else { return left }
    let result = clinux_fallocate(status.file, CLINUX_FALLOC_FL_KEEP_SIZE, status.size, wanted)
    isRefused = result == -Int(EOPNOTSUPP) || result == -Int(ENOSYS)
    return isRefused ? .max : result < 0 ? left : wanted
  }

  /// Up to whole steps.
  private static func rounded(_ size: Int64) -> Int64 { (size + least - 1) / least * least }

  private func renewDatabase(_ connection: CatalogConnection) -> CatalogAllowance {
    guard !isRefused, let used = try? connection.usedBytes, let status = look(database) else { return .unknown }
    var size = Self.rounded(max(min(status.size, used.end + Self.databaseMost), used.end))
    let left = size - used.end + used.free
    let wanted = min(Self.databaseMost - left, status.free / Self.share) / Self.least * Self.least
    if left < Self.databaseMost / 2, wanted >= Self.least { size += wanted }
    // Also for what has come since the last checkpoint, and for holes that another program has left. Nobody leaves
    // many: a file, or a header, that says that it is larger by far was made to have the disk filled.
    let isPlausible = size - status.allocated <= max(2 * Self.databaseMost, status.free / Self.share)
    if !isPlausible {
      size = 0
    } else if size > status.size || status.allocated < size {
      let result = clinux_fallocate(status.file, 0, 0, size)
      isRefused = result == -Int(EOPNOTSUPP) || result == -Int(ENOSYS)
      if isRefused { return .unknown }
      if result < 0 { size = max(min(status.size, status.allocated), used.end) }
    }
    connection.database.keepSize(size)
    let spare = max(size, used.end) - used.end + used.free + status.free / Self.share
    let floor = min(Self.floorMost, status.all / Self.floorShare)
    return CatalogAllowance(making: spare - floor, removing: spare - floor / 4)
  }
}

/// By how many bytes the catalog may grow before it is looked how much room there is; below 0: not at all.
struct CatalogAllowance: Sendable {
  /// By what is made or changed.
  let making: Int64
  /// By what is removed, and has to be kept as removed.
  let removing: Int64

  /// Nobody refuses anything.
  static let unknown = CatalogAllowance(making: .max, removing: .max)
}

extension CatalogReserve {
  private static let headerBytes = 100

  /// Has the disk have room for a WAL, which a clean end has removed: where others have filled the disk since, the
  /// database gives some of its own back. Before SQLite opens it: later it would take a file that is cut for a damaged
  /// one.
  ///
  /// What is cut off lies behind what is in the database, as its header says, and is nothing but zeros: a bit that has
  /// turned in the header costs nothing.
  ///
  /// - Parameter path: Of the database.
  static func makeRoomForLog(_ path: String) {
    var status = stat()
    if lstat(path + "-wal", &status) == 0, status.st_size > 0 { return }
    let descriptor = open(path, O_RDWR | CLINUX_O_CLOEXEC | CLINUX_O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    let file = OwnedFile(descriptor)
    var disk = statvfs()
    guard fstatvfs(file.raw, &disk) == 0, fstat(file.raw, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return
    }
    let (free, overflow) = Int64(clamping: disk.f_bavail).multipliedReportingOverflow(by: Int64(disk.f_frsize))
    guard !overflow, free < logLeast, let end = usedEnd(file) else { return }
    let size = Int64(status.st_size)
    let given = min(logLeast - free, size - rounded(end)) / least * least
    guard given > 0, isZero(file, (size - given)..<size) else { return }
    ftruncate(file.raw, off_t(size - given))
  }

  /// Where what is in the database ends; nil where its header does not say so.
  private static func usedEnd(_ file: OwnedFile) -> Int64? {
    var header = [UInt8](repeating: 0, count: headerBytes)
    guard pread(file.raw, &header, header.count, 0) == header.count,
      header.starts(with: "SQLite format 3\0".utf8),
      // It was written by who knows the number of pages.
      header[24..<28].elementsEqual(header[92..<96])
    else { return nil }
    func number(_ range: Range<Int>) -> Int64 { header[range].reduce(0) { $0 << 8 | Int64($1) } }
    let (page, pages) = (number(16..<18) == 1 ? 65536 : number(16..<18), number(28..<32))
    return page >= 512 && pages > 0 ? page * pages : nil
  }

  private static func isZero(_ file: OwnedFile, _ range: Range<Int64>) -> Bool {
    var bytes = [UInt8](repeating: 0, count: range.count)
    return pread(file.raw, &bytes, bytes.count, off_t(range.lowerBound)) == bytes.count && bytes.allSatisfy { $0 == 0 }
  }
}

extension CatalogConnection {
  /// Where what is in the database ends, as it will be after the next checkpoint, and what is free before that: bytes.
  fileprivate var usedBytes: (end: Int64, free: Int64) {
    get throws {
      func number(_ name: String) throws -> Int64 {
        try first("PRAGMA \(name)") { row throws in try row.integer(0) } ?? 0
      }
      let page = try number("page_size")
      return (try number("page_count") * page, try number("freelist_count") * page)
    }
  }
}
