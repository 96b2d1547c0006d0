import DatalessControl
import DatalessCore

/// What rules have done, for the log and for `run`.
extension Volume {
  func ruleCounts() -> RuleCounts {
    RuleCounts(
      engine.ruleCounts.map { RuleCount(name: $0.name, attempts: $0.attempts, decided: $0.decided) })
  }
}

extension LogValue {
  init(_ counts: RuleCounts) {
    self = .object([
      LogField(key: "count", value: .integer(counts.count)),
      LogField(key: "never_fired", value: .integer(counts.neverFired)),
      LogField(
        key: "rules",
        value: .array(
          counts.rules.map { rule in
            .object([
              LogField(key: "name", value: .string(rule.name)),
              LogField(key: "attempts", value: .integer(rule.attempts)),
              LogField(key: "decided", value: .integer(rule.decided)),
            ])
          })),
    ])
  }
}
