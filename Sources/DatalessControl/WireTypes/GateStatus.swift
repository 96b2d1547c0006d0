/// One gate, and what it holds. A gate is there because a rule names it.
public struct GateStatus: Codable, Sendable, Equatable {
  public var name: String
  /// Whether everything passes.
  public var isOpen: Bool
  /// Callers that are blocked here now.
  public var callers: Int64
  /// Attempts that are held here now.
  public var attemptCount: Int64
  /// The rules that name the gate, in their order.
  public var rules: [String]
  /// The first 1,000 of the held attempts, oldest first.
  public var held: [HeldAttempt]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, callers, rules, held
    case isOpen = "open"
    case attemptCount = "attempt_count"
  }

  public init(
    name: String, isOpen: Bool, callers: Int64, attemptCount: Int64, rules: [String], held: [HeldAttempt]
  ) {
    self.name = name
    self.isOpen = isOpen
    self.callers = callers
    self.attemptCount = attemptCount
    self.rules = rules
    self.held = held
  }
}
