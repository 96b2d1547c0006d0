internal import DatalessCore

/// A rule as it was read, with what later checks say about it.
struct RuleDraft: Sendable {
  var name: String?
  var match = RuleMatch()
  var effects = RuleEffects()
  var node: ScenarioNode
}
