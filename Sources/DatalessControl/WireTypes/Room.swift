/// Body of `POST /v1/pin`.
public struct PinRequest: Codable, Sendable, Equatable {
  /// Relative to the volume's root; an empty path means the root.
  public var paths: [WirePath]
  /// The content policy: `inherited`, `lazy`, `lazy-and-evict` or `eager`. Default: `eager`, which pins.
  public var policy: String?

  public init(paths: [WirePath], policy: String? = nil) {
    self.paths = paths
    self.policy = policy
  }
}

extension PinRequest: WireRequest {
  public static var keys: [String] { ["paths", "policy"] }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    paths = try container.decode([StrictRequest<WirePath>].self, forKey: .paths).map(\.body)
    policy = try container.decodeIfPresent(String.self, forKey: .policy)
  }
}

/// Body of `POST /v1/pressure`.
public struct PressureRequest: Codable, Sendable, Equatable {
  /// How much local content is to go, 1 or more.
  public var bytes: Int64

  public init(bytes: Int64) { self.bytes = bytes }
}

extension PressureRequest: WireRequest {
  public static var keys: [String] { ["bytes"] }
}

/// The limit on local content of a volume that has one.
public struct RoomCounts: Codable, Sendable, Equatable {
  /// What local content may take.
  public var quotaBytes: Int64
  /// What it takes: trash and dirty content included.
  public var usedBytes: Int64
  /// What was granted, and is not there yet.
  public var pendingBytes: Int64
  /// What is being removed.
  public var removingBytes: Int64
  /// Fetches and writers that wait for room.
  public var waiting: Int64

  enum CodingKeys: String, CodingKey {
    case waiting
    case quotaBytes = "quota_bytes"
    case usedBytes = "used_bytes"
    case pendingBytes = "pending_bytes"
    case removingBytes = "removing_bytes"
  }

  public init(quotaBytes: Int64, usedBytes: Int64, pendingBytes: Int64, removingBytes: Int64, waiting: Int64) {
    self.quotaBytes = quotaBytes
    self.usedBytes = usedBytes
    self.pendingBytes = pendingBytes
    self.removingBytes = removingBytes
    self.waiting = waiting
  }
}
