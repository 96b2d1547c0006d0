/// Body of `POST /v1/gates/open` and `POST /v1/gates/close`.
public struct GateRequest: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate
  }

  public init(gate: String) {
    self.gate = gate
  }
}
