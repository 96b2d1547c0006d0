/// Body of `POST /v1/conflicts`.
public struct ConflictRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means all of it. Conflicts at them, and below them.
  public var paths: [WirePath]
  /// What stays of those: `mine` (what is on the volume), `theirs` (what SOURCE has) or `both`. Default: nothing is
  /// resolved.
  public var keep: String?

  public init(paths: [WirePath], keep: String? = nil) {
    self.paths = paths
    self.keep = keep
  }
}

extension ConflictRequest: WireRequest {
  public static var keys: [String] { ["paths", "keep"] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    paths = try container.decode([StrictRequest<WirePath>].self, forKey: .paths).map(\.body)
    keep = try container.decodeIfPresent(String.self, forKey: .keep)
  }
}

/// Answer of `POST /v1/conflicts`: what is in conflict at the paths, or still is; and what was resolved.
public struct ConflictAnswer: Codable, Sendable, Equatable {
  /// By path; the first 10,000.
  public var conflicts: [ConflictItem]
  /// All of them, those beyond the first 10,000 included.
  public var count: Int64
  /// Those that were resolved now; the first 10,000.
  public var resolved: [ResolvedItem]
  public var resolvedCount: Int64
  /// What could not be resolved, and paths without a conflict; the first 1,000.
  public var failures: [PathFailure]
  /// All failures, those beyond the first 1,000 included.
  public var failureCount: Int64

  enum CodingKeys: String, CodingKey {
    case conflicts, count, resolved, failures
    case resolvedCount = "resolved_count"
    case failureCount = "failure_count"
  }

  public init(
    conflicts: [ConflictItem] = [], count: Int64 = 0, resolved: [ResolvedItem] = [], resolvedCount: Int64 = 0,
    failures: [PathFailure] = [], failureCount: Int64 = 0
  ) {
    self.conflicts = conflicts
    self.count = count
    self.resolved = resolved
    self.resolvedCount = resolvedCount
    self.failures = failures
    self.failureCount = failureCount
  }
}

/// What was changed on both sides.
public struct ConflictItem: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `changed`, `made`, `gone_in_source`, `removed_here` or `metadata`.
  public var conflict: String
  /// What is on the volume; absent for what was removed there.
  public var mine: ConflictSide?
  /// What SOURCE had when it was listed last; absent if it has nothing.
  public var theirs: ConflictSide?

  enum CodingKeys: String, CodingKey {
    case path, conflict, mine, theirs
    case pathBase64 = "path_b64"
  }

  public init(path: [UInt8], conflict: String, mine: ConflictSide?, theirs: ConflictSide?) {
    (self.path, pathBase64) = WirePath.split(path)
    self.conflict = conflict
    self.mine = mine
    self.theirs = theirs
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// One side of a conflict.
public struct ConflictSide: Codable, Sendable, Equatable {
  /// As `VolumeItem.kind`.
  public var kind: String
  /// st_ino on that side.
  public var inode: UInt64
  /// st_size.
  public var sizeBytes: Int64
  /// Permission bits of st_mode, 0...07777.
  public var mode: UInt32
  public var uid: UInt32
  public var gid: UInt32
  /// RFC 3339, UTC, nine digits.
  public var modified: String

  enum CodingKeys: String, CodingKey {
    case kind, inode, mode, uid, gid, modified
    case sizeBytes = "size_bytes"
  }

  public init(
    kind: String, inode: UInt64, sizeBytes: Int64, mode: UInt32, uid: UInt32, gid: UInt32, modified: String
  ) {
    self.kind = kind
    self.inode = inode
    self.sizeBytes = sizeBytes
    self.mode = mode
    self.uid = uid
    self.gid = gid
    self.modified = modified
  }
}

/// A conflict that was resolved.
public struct ResolvedItem: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// As `ConflictItem.conflict`.
  public var conflict: String
  /// The other name that what was on the volume has got, if both were kept; relative to the volume's root.
  public var copy: String?
  public var copyBase64: String?

  enum CodingKeys: String, CodingKey {
    case path, conflict, copy
    case pathBase64 = "path_b64"
    case copyBase64 = "copy_b64"
  }

  public init(path: [UInt8], conflict: String, copy: [UInt8]? = nil) {
    (self.path, pathBase64) = WirePath.split(path)
    self.conflict = conflict
    if let copy { (self.copy, copyBase64) = WirePath.split(copy) }
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
  public var copyBytes: [UInt8]? { copy.map { WirePath.bytes($0, copyBase64) } }
}
