/// One gate as `GET /v1/status` names it; `GET /v1/gates` says more.
public struct GateSummary: Codable, Sendable, Equatable {
  public var name: String
  /// Whether everything passes.
  public var isOpen: Bool
  /// Callers that are blocked here now.
  public var callers: Int64
  /// Attempts that are held here now.
  public var attemptCount: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, callers
    case isOpen = "open"
    case attemptCount = "attempt_count"
  }

  public init(name: String, isOpen: Bool, callers: Int64, attemptCount: Int64) {
    self.name = name
    self.isOpen = isOpen
    self.callers = callers
    self.attemptCount = attemptCount
  }
}
