internal import DatalessCore

/// A scenario as it was read: the settings, and the rules one by one.
struct ScenarioDraft: Sendable {
  var simulation = Simulation()
  var rules: [RuleDraft] = []
}
