/// Answer of `POST /v1/unmount`: the daemon has begun to end.
public struct AcceptedAnswer: Codable, Sendable, Equatable {
  /// The daemon's process id, whose end means that all is cleaned up.
  public var pid: Int32

  enum CodingKeys: String, CodingKey, CaseIterable {
    case pid
  }

  public init(pid: Int32) {
    self.pid = pid
  }
}
