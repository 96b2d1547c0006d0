/// A condition of a rule, by its name in a scenario.
public enum RuleCondition: String, Sendable {
  case path, size, kind, trigger, attempt, during, nth, process, ancestor, probability
}
