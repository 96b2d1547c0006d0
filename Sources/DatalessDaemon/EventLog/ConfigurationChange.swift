/// A change of what a mounted volume simulates, for the log.
struct ConfigurationChange: Sendable {
  enum What: String, Sendable {
    case settings, rules, scenario, gate
  }

  var what: What
  /// What was there, and what is there now; null for nothing.
  var before: LogValue
  var after: LogValue
  var by: ChangeOrigin
}
