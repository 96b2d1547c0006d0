/// A change of the scenario. Texts are YAML or JSON.
public enum ScenarioEdit: Sendable {
  /// Another scenario in the place of this one. `name`: what messages call it.
  case replace([UInt8], name: String)
  case settings([(key: String, value: String)])
  case addRule([UInt8], first: Bool)
  case removeRule(name: String)
}
