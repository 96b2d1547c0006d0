/// Body of `POST /v1/run/finished`: the command has ended.
public struct RunFinishedRequest: Codable, Sendable, Equatable {
  /// 0...255; absent when a signal ended it.
  public var exitStatus: Int32?
  /// Name, such as `SIGKILL`; absent when it exited.
  public var signal: String?
  /// What the command left running.
  public var children: RunChildren?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case signal, children
    case exitStatus = "exit_status"
  }

  public init(exitStatus: Int32? = nil, signal: String? = nil, children: RunChildren? = nil) {
    self.exitStatus = exitStatus
    self.signal = signal
    self.children = children
  }
}
