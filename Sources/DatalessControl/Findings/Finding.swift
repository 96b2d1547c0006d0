/// What a log says of how programs use a volume, beside what they materialize: docs/FINDINGS.md has each exactly.
public struct Finding: Codable, Sendable, Equatable {
  /// What is looked for, in the order in which it is told.
  public enum Kind: String, Codable, Sendable, CaseIterable {
    /// Files that one process waited for one after the other.
    case serial
    /// Waits of main threads.
    case mainThread = "main_thread"
    /// Lookups that blocked, and that nothing followed.
    case notNeeded = "not_needed"
    /// Files that main threads waited for, and that a listing had shown long enough before.
    case prefetch
    /// Files that one process wrote while another one had them open, without a lock or an intent.
    case together
  }

  public enum Outcome: String, Codable, Sendable, CaseIterable {
    case found
    /// There is none.
    case none
    /// The log does not tell: what is counted may be none, or there may be some that is not.
    case unknown
  }

  public var kind: Kind
  public var outcome = Outcome.none
  /// The rule of thumb behind it, in a sentence.
  public var rule: String
  /// Why something is not known, one sentence each; empty where all is.
  public var reasons: [String] = []
  /// Of `serial`, `prefetch` and `together` files, of `main_thread` waits, of `not_needed` lookups.
  public var count: Int64 = 0
  /// Further ones of which nobody knows whether they belong here.
  public var unknownCount: Int64 = 0
  /// Time that callers waited for what is counted.
  public var blockedNanoseconds: Int64 = 0
  /// How much of it would have been spared; absent where the log does not tell.
  public var sparedNanoseconds: Int64?
  /// By program, the longest blocked first, at most `placesMax`.
  public var places: [FindingPlace] = []
  /// How many programs there are.
  public var placeCount: Int64 = 0

  // LIMIT: programs that are told of one finding.
  static let placesMax = 64

  public init(_ kind: Kind) {
    self.kind = kind
    rule = kind.rule
  }

  enum CodingKeys: String, CodingKey {
    case kind, outcome, rule, reasons, count, places
    case unknownCount = "unknown_count"
    case blockedNanoseconds = "blocked_ns"
    case sparedNanoseconds = "spared_ns"
    case placeCount = "place_count"
  }
}

/// What one program did of a finding: processes of one name, executable, script and starter.
public struct FindingPlace: Codable, Sendable, Equatable {
  public struct Path: Codable, Sendable, Equatable {
    public var path: String
    public var pathBase64: String?

    public init(_ bytes: [UInt8]) { (path, pathBase64) = WirePath.split(bytes) }

    public var bytes: [UInt8] { WirePath.bytes(path, pathBase64) }

    enum CodingKeys: String, CodingKey {
      case path
      case pathBase64 = "path_b64"
    }
  }

  /// The first of them; absent where the log does not tell.
  public var process: Violation.Process?
  public var processCount: Int64 = 0
  /// As that of the finding.
  public var count: Int64 = 0
  public var blockedNanoseconds: Int64 = 0
  public var sparedNanoseconds: Int64?
  /// Of `serial`: how many lists; absent otherwise.
  public var lists: Int64?
  /// Of `main_thread`: waits that lasted longer than a frame; absent otherwise.
  public var hitches: Int64?
  /// Of `prefetch`: how much earlier a file could have been asked for, the most of all, and who had listed it; absent
  /// otherwise.
  public var leadNanoseconds: Int64?
  public var listedBy: Violation.Process?
  /// Of `together`: who had the first of the files open; absent otherwise.
  public var other: Violation.Process?
  /// The first ones, at most `pathsMax`.
  public var paths: [Path] = []
  /// Numbers of the log, by which the longest wait is found; absent where it does not tell.
  public var attempt: UInt64?
  public var threadID: Int32?
  /// Of the longest wait; absent when the log has none.
  public var stack: CallerStack?

  // LIMIT: paths that are told of one program.
  static let pathsMax = SerialWaits.pathsMax

  public init() {}

  enum CodingKeys: String, CodingKey {
    case process, count, lists, hitches, other, paths, attempt, stack
    case processCount = "process_count"
    case blockedNanoseconds = "blocked_ns"
    case sparedNanoseconds = "spared_ns"
    case leadNanoseconds = "lead_ns"
    case listedBy = "listed_by"
    case threadID = "tid"
  }
}

extension Finding.Kind {
  /// Of those of Apple's TN3150 and File System Programming Guide that a log can be held against.
  var rule: String {
    switch self {
    case .serial: "Ask for all files of a list at once, and wait for them then."
    case .mainThread: "A thread that has a window or a prompt waits for no file."
    case .notNeeded: "Open what is wanted and handle the error, instead of asking first whether it is there."
    case .prefetch: "Ask for what is visible before it is wanted."
    case .together: "Lock a file, or coordinate, before it is written to while others have it open."
    }
  }
}
