/// Scenarios that are refused, with all that is said about each.
enum BadScenarios {
  struct Case: Sendable, CustomStringConvertible {
    let text: String
    let message: String
    /// Whether the JSON Schema refuses it, too: it knows forms, not meanings.
    var isInSchema = true
    var description: String { text }
  }
}
