/// Something in a state directory that is not as it should be.
public struct StateFinding: Sendable, Equatable, CustomStringConvertible {
  public enum Kind: String, Sendable, CaseIterable {
    /// A name in the directory that is not ours.
    case foreignName = "foreign_name"
    /// The marker is missing, or says something else.
    case damagedMarker = "damaged_marker"
    /// SQLite cannot read the catalog, or it is not as it was made.
    case damagedCatalog = "damaged_catalog"
    /// A row of the catalog that cannot be read, or cannot be true.
    case damagedRow = "damaged_row"
    /// Something that leads nowhere.
    case danglingRow = "dangling_row"
    /// A directory that lies in itself, or has two names.
    case ring
    /// An end of the WAL that SQLite has to leave out.
    case tornLog = "torn_log"
    /// An item without a name.
    case nameless
    /// Content of a file whose row is lost.
    case lostName = "lost_name"
    /// A file that was unlinked and still open when the volume ended.
    case unlinked
    /// Clean content that is missing, too short, or may never have been written.
    case lostContent = "lost_content"
    /// Content that a program wrote, and that is missing.
    case lostChanges = "lost_changes"
    /// The same, of which only the beginning is there.
    case shortContent = "short_content"
    /// Content of a file that was made on the volume, and never flushed, that is missing.
    case unwritten
    /// Changes that were committed, and are not in the catalog that is there.
    case lostCommits = "lost_commits"
    /// Content that nobody names.
    case leftover
    /// A name below `content` that is no content, or not this user's alone.
    case foreignContent = "foreign_content"

    /// Whether it is more than a crash, or a loss of power, may leave.
    fileprivate var isDamage: Bool {
      switch self {
      case .foreignName, .tornLog, .unlinked, .lostContent, .unwritten, .leftover: false
      case .damagedCatalog, .damagedRow, .danglingRow, .ring, .nameless, .lostName, .lostChanges, .shortContent,
        .lostCommits, .damagedMarker, .foreignContent:
        true
      }
    }
  }

  public let kind: Kind
  /// What it is about: ready to be escaped and shown.
  public let place: String
  public let message: String
  /// What is done about it; nil: nothing.
  public let repair: String?
  /// Whether it is more than a crash, or a loss of power, may leave.
  public let isDamage: Bool

  public var description: String { "\(place): \(message)" + (repair.map { " (\($0))" } ?? "") }
}

/// What a look at a state directory has brought.
public struct StateCheckReport: Sendable, Equatable {
  /// The first `findingsMax`.
  public private(set) var findings: [StateFinding] = []
  /// All.
  public private(set) var count = 0
  /// Those that something is done about.
  public private(set) var repairs = 0
  /// Those that are more than a crash may leave.
  public private(set) var damages = 0
  public internal(set) var items = 0
  public internal(set) var names = 0
  public internal(set) var contents = 0
  /// Files that have got a name, `lost+found-...`, in the root.
  public internal(set) var namedFiles = 0
  /// Bytes of content.
  public internal(set) var bytes: Int64 = 0

  /// LIMIT: findings that are told one by one.
  public static let findingsMax = 10_000

  /// - Parameter isDamage: nil: as its kind is.
  mutating func add(
    _ kind: StateFinding.Kind, _ place: String, message: String, repair: String?, isDamage: Bool? = nil
  ) {
    let isDamage = isDamage ?? kind.isDamage
    count += 1
    if repair != nil { repairs += 1 }
    if isDamage { damages += 1 }
    guard findings.count < Self.findingsMax else { return }
    findings.append(StateFinding(kind: kind, place: place, message: message, repair: repair, isDamage: isDamage))
  }
}
