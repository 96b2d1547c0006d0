/// Answer of `GET /v1/gates`.
public struct GateList: Codable, Sendable, Equatable {
  /// By name.
  public var gates: [GateStatus]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gates
  }

  public init(gates: [GateStatus]) {
    self.gates = gates
  }
}
