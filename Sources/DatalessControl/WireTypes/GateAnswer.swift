/// Answer of requests that release, open or close a gate.
public struct GateAnswer: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// Attempts that were released by the request.
  public var released: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, released
  }

  public init(gate: String, released: Int64) {
    self.gate = gate
    self.released = released
  }
}
