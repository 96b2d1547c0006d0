/// How much a log tells, in words.
public enum CompletenessText {
  /// Why a log does not tell all; empty for one that does.
  public static func gaps(_ state: SummaryReport.Completeness) -> [String] {
    var gaps: [String] = []
    if state.lostRecords > 0 { gaps.append("\(HumanText.count(state.lostRecords, "record")) lost") }
    if state.malformedLines > 0 {
      let verb = state.malformedLines == 1 ? "is not a record" : "are not records"
      let version = state.otherVersion.map { ", being \(UnreadLines.words(version: $0))" } ?? ""
      gaps.append("\(HumanText.count(state.malformedLines, "line")) \(verb)\(version)")
    }
    if let count = state.misplacedRecords { gaps.append(misplaced(count)) }
    if state.isEndMissing { gaps.append(missingEnd) }
    return gaps
  }

  private static let missingEnd =
    "it ends without an unmount: the daemon was killed, the log's disk was full, or the file was cut"

  /// `2 records stand behind later ones, or a second time, and are not counted`.
  public static func misplaced(_ count: Int64) -> String {
    let (place, verb) = count == 1 ? ("stands behind a later one", "is") : ("stand behind later ones", "are")
    return "\(HumanText.count(count, "record")) \(place), or a second time, and \(verb) not counted"
  }

  /// All that there is to say.
  static func parts(_ state: SummaryReport.Completeness) -> [String] {
    var parts = gaps(state).map { "incomplete: \($0)" }
    if parts.isEmpty {
      parts.append(state.isMounted ? "complete so far" : "complete")
      if state.strayLines > 0 { parts.append(UnreadLines.harmless(state.strayLines)) }
    }
    if state.unfinishedAttempts > 0 {
      let end = state.isMounted ? "under way" : "without an end"
      parts.append("\(HumanText.count(state.unfinishedAttempts, "attempt")) \(end)")
    }
    if state.earlierSessions > 0 {
      parts.append("\(HumanText.count(state.earlierSessions, "earlier session")) in the file not counted")
    }
    return parts
  }
}
