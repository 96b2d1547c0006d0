/// What a scenario may hold at most. Beyond it the scenario is refused, with a message that says what to do instead.
public enum ScenarioLimits {
  /// Of the text.
  public static let bytes = 16 << 20
  public static let rules = 100_000
  /// Mappings and lists in one another.
  public static let depth = 32
  /// Scalars, lists and mappings altogether.
  public static let values = 3_000_000
  /// Delays of all `replay` lists together.
  public static let replayedDelays = 100_000
  /// Globs that braces stand for, in all of it together.
  public static let alternatives = 300_000
  /// Problems that are reported of one scenario; and warnings.
  public static let problems = 20
  /// After so many problems the rest of the rules is not read.
  public static let countedProblems = 1000
  /// Rules with a gate that are compared with each other for overlaps: the first ones.
  public static let comparedGates = 300
}
