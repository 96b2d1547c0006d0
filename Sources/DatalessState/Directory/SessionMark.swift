internal import CDatalessLinux
internal import Glibc
internal import SystemPackage

/// Which session of the volume was the last, and whether it has ended: in a small file beside the catalog, so that a
/// catalog that is not the latest one is not taken for it. What such a catalog does not name is no leftover.
///
/// A session is a time in which the volume serves, or `check` has mended it. Its number is in the catalog before it is
/// here, and "closed" is here before the catalog's log goes. So wherever a crash cuts it, a catalog that has all that
/// was committed is one that this allows:
///
/// * its number is not below the one here;
/// * if the session here was closed, the catalog says that it has ended;
/// * if not, the log (WAL) is there, which is only removed after the session was closed, with as much as was committed
///   to it in this session (`LogMark`).
enum SessionMark: Equatable {
  /// As in every directory of a version that did not write it.
  case none
  case damaged
  case session(number: UInt64, isClosed: Bool)

  private static let title = "dataless session"
  private static let limit = 256
  /// Above all that is counted.
  static let numberMax = UInt64.max / 2
  private static let digits = 20
  private static let (open, closed) = ("open  ", "closed")

  init(_ files: StateFiles) throws(Errno) {
    let lines: [Substring]
    do throws(Errno) {
      lines = try Self.lines(files)
    } catch {
      guard error == .noSuchFileOrDirectory || error == .fileTooLarge else { throw error }
      self = error == .fileTooLarge ? .damaged : .none
      return
    }
    guard lines.count == 6 || lines.count == 5, lines[0] == Self.title, lines[1].utf8.count == Self.digits,
      lines[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt64(lines[1]), number < Self.numberMax,
      lines[2] == Self.open || lines[2] == Self.closed, lines.last?.isEmpty == true
    else {
      self = .damaged
      return
    }
    self = .session(number: number, isClosed: lines[2] == Self.closed)
  }

  private static func lines(_ files: StateFiles) throws(Errno) -> [Substring] {
    let bytes = try files.read(StateName.session, limit: limit)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
  }

  /// Which volume it is of: so that one bit of the marker that turns does not make the catalog another volume's. nil if
  /// that cannot be read.
  static func volume(_ files: StateFiles) -> [UInt8]? {
    guard let lines = try? lines(files), lines.count == 6 || lines.count == 5, lines[3].hasPrefix("volume ")
    else { return nil }
    return Array(lines[3].dropFirst(7).utf8)
  }

  /// How much was committed to the catalog's log at least (`LogMark`); nil if that is not told.
  static func log(_ files: StateFiles) -> LogPosition? {
    guard let lines = try? lines(files), lines.count == 6, lines[4].utf8.count == line(nil).utf8.count - 1 else {
      return nil
    }
    let words = lines[4].split(separator: " ")
    guard words.count == 3, words[0] == "log", let use = UInt64(words[1], radix: 16), let frames = UInt64(words[2])
    else { return nil }
    return LogPosition(use: use, frames: frames)
  }

  private static func padded(_ text: String) -> String {
    String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  private static func line(_ log: LogPosition?) -> String {
    "log \(padded(String(log?.use ?? 0, radix: 16))) \(padded(String(log?.frames ?? 0)))\n"
  }

  /// The line that says how much was committed, and where it is in the file.
  static func place(_ log: LogPosition, of volume: StateMarker) -> (bytes: [UInt8], offset: Int) {
    let bytes = Array(line(log).utf8)
    return (bytes, text(0, isClosed: false, of: volume).count - bytes.count)
  }

  /// 0 where there is none that can be read.
  var number: UInt64 {
    guard case .session(let number, _) = self else { return 0 }
    return number
  }

  /// On the disk when it returns. Always as many bytes in the same place: so a disk that is full has room for it, and
  /// no loss of power cuts it.
  static func write(
    _ number: UInt64, isClosed: Bool, of volume: StateMarker, _ files: StateFiles
  ) throws(Errno) {
    try put(text(number, isClosed: isClosed, of: volume), files)
  }

  private static func text(_ number: UInt64, isClosed: Bool, of volume: StateMarker) -> [UInt8] {
    let lines = [title, padded(String(number)), isClosed ? closed : open, "volume \(volume.volume)", line(nil)]
    return Array(lines.joined(separator: "\n").utf8)
  }

  private static func put(_ bytes: [UInt8], _ files: StateFiles) throws(Errno) {
    let file = OwnedFile(try files.open(StateName.session, O_WRONLY | O_CREAT))
    guard ftruncate(file.raw, off_t(bytes.count)) == 0 else { throw Errno(rawValue: errno) }
    let count = pwrite(file.raw, bytes, bytes.count, 0)
    let error = errno
    guard count == bytes.count else { throw count < 0 ? Errno(rawValue: error) : .noSpace }
    try files.sync(file.raw)
  }

  /// Sees to it that there is a file, before a number is in the catalog. Until that is here, too, the file says no more
  /// of the catalog than is known.
  ///
  /// - Parameter isBelieved: Whether the catalog has all that was committed, by `flaw`. If not, or if nobody has looked
  ///   yet, only the place is reserved, by as many blanks (`damaged`): what was wrong is so until `write`.
  /// - Returns: Whether there is one: not where the disk has no room for it. Then the directory is as one of a version
  ///   that did not write it, and the next session tries again.
  func prepare(_ volume: StateMarker, _ files: StateFiles, isBelieved: Bool) throws(Errno) -> Bool {
    guard self == .none || self == .damaged && isBelieved else { return true }
    do throws(Errno) {
      let bytes = Self.text(0, isClosed: true, of: volume)
      try Self.put(isBelieved ? bytes : [UInt8](repeating: UInt8(ascii: " "), count: bytes.count), files)
      try files.sync(files.directory)
      return true
    } catch {
      if self == .none { files.remove(StateName.session) }
      guard error == .noSpace || error == .diskQuotaExceeded else { throw error }
      return false
    }
  }

  /// - Parameters:
  ///   - connection: To the catalog, with all that is in its log.
  ///   - log: As it was before the catalog was opened.
  /// - Returns: Why the catalog has not all that was committed; nil if it has, as far as that is known.
  func flaw(of connection: CatalogConnection, log: LogState) throws -> String? {
    let found = try connection.session(.session) ?? 0
    switch self {
    // The catalog is of a version that did not count sessions, and its first one that is counted has not begun.
    case .none where found == 0, .damaged where found == 0: return nil
    case .none: return "'\(StateName.session)', which says whether it is the latest one, is missing"
    case .damaged: return "'\(StateName.session)', which says whether it is the latest one, is damaged"
    case .session(let number, let isClosed):
      if found != number {
        return found > number ? nil : "it is of an earlier use of the volume than the last (\(found), not \(number))"
      }
      guard isClosed else {
        guard log.isThere else { return "the volume was not unmounted, and the catalog's log is missing" }
        return log.isCut ? "the volume was not unmounted, and the end of the catalog's log is missing" : nil
      }
      let ended = try connection.session(.endedSession) ?? 0
      return ended >= number ? nil : "it is older than the end of the last use of the volume"
    }
  }

  /// Whether the log holds a frame: it does from the first commit on, and is not cut shorter before it is removed.
  static func hasLog(_ files: StateFiles) throws(Errno) -> Bool {
    do throws(Errno) {
      return try files.status(StateName.catalog + "-wal").size > WALEnd.headerBytes
    } catch {
      guard error == .noSuchFileOrDirectory else { throw error }
      return false
    }
  }
}

/// A catalog's log before the catalog is opened.
struct LogState {
  let isThere: Bool
  /// As `WALEnd`.
  let isTorn: Bool
  /// Whether less is committed to it than was once.
  let isCut: Bool

  /// - Parameter log: Where it lies.
  init(_ directory: StateDirectory, log: StateFiles) throws(Errno) {
    let end = try WALEnd(log)
    isThere = try SessionMark.hasLog(log)
    isTorn = end.isTorn
    if let found = end.committed, let told = SessionMark.log(directory.files), found.use == told.use {
      isCut = found.frames < told.frames
    } else {
      // It was begun anew since, or it is not told.
      isCut = false
    }
  }
}

/// What is known of the end of a catalog before it is opened.
struct CatalogEnd {
  let mark: SessionMark
  let log: LogState
  /// Whether the number of a session can be kept.
  let isMarked: Bool

  /// - Parameters:
  ///   - log: Where the catalog's log lies.
  ///   - isDryRun: Whether nothing is written.
  init(_ directory: StateDirectory, log: StateFiles, isDryRun: Bool) throws(Errno) {
    mark = try SessionMark(directory.files)
    self.log = try LogState(directory, log: log)
    // The catalog was not opened yet.
    isMarked = isDryRun ? true : try mark.prepare(directory.marker, directory.files, isBelieved: false)
  }
}

extension CatalogConnection {
  /// What has the number of a session.
  static let sessions: Set<Setting> = [.session, .endedSession]

  /// Whether the last session came to its end: all that it was told is in the catalog.
  var hasEnded: Bool {
    get throws {
      guard let session = try session(.session) else { return try setting(.isClean) == [1] }
      return try self.session(.endedSession) == session
    }
  }

  /// The first epoch since the last run that came to no end; nil: sizes are not believed. From that one on a row says
  /// how large its content is, at least.
  var sizesFrom: Int64? {
    get throws { try number(.sizesFrom).flatMap { Int64(exactly: $0) } }
  }

  /// A number of a session; nil in a catalog of a version that did not keep it.
  func session(_ setting: Setting) throws -> UInt64? {
    let number = try number(setting)
    guard number ?? 0 < SessionMark.numberMax else { throw Damage("the number of a session is out of range") }
    return number
  }

  /// The number that comes after the last session that is known.
  func nextSession(after mark: SessionMark) throws -> UInt64 { max(mark.number, try session(.session) ?? 0) + 1 }
}
