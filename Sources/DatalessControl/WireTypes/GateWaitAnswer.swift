/// Answer of `POST /v1/gates/wait`.
public struct GateWaitAnswer: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// Whether so many callers were blocked before the time was over.
  public var isReached: Bool
  /// Callers that were blocked when the wait ended.
  public var callers: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, callers
    case isReached = "reached"
  }

  public init(gate: String, isReached: Bool, callers: Int64) {
    self.gate = gate
    self.isReached = isReached
    self.callers = callers
  }
}
