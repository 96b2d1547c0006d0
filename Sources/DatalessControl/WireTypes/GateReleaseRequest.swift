/// Body of `POST /v1/gates/release`: all that the gate holds, or what one of `count`, `attempt` and `path` says.
public struct GateReleaseRequest: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// So many attempts, the oldest first; 1 or more.
  public var count: Int64?
  /// One attempt, by its number.
  public var attempt: UInt64?
  /// The attempts whose path matches this glob.
  public var path: String?
  public var pathBase64: String?
  /// Name of the errno to fail with; absent to go on.
  public var errno: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, count, attempt, path, errno
    case pathBase64 = "path_b64"
  }

  public init(
    gate: String, count: Int64? = nil, attempt: UInt64? = nil, path: [UInt8]? = nil, errno: String? = nil
  ) {
    self.gate = gate
    self.count = count
    self.attempt = attempt
    if let path { (self.path, pathBase64) = WirePath.split(path) }
    self.errno = errno
  }

  public var pathBytes: [UInt8]? { path.map { WirePath.bytes($0, pathBase64) } }
}
