import DatalessControl

/// What reports say of a log that does not tell all.
enum IncompleteLog {
  /// Escaped for a terminal; nil for a log that tells all.
  static func sentence(_ known: SummaryReport.Completeness) -> String? {
    guard !known.isComplete else { return nil }
    var words: [String] = []
    if known.lostRecords > 0 { words.append("\(HumanText.count(known.lostRecords, "record")) lost") }
    if known.malformedLines > 0 {
      words.append(
        "\(HumanText.count(known.malformedLines, "line")) that "
          + (known.malformedLines == 1 ? "is no record" : "are no records")
          + (known.otherVersion.map { ", being \(UnreadLines.words(version: $0))" } ?? "")
      )
    }
    if let count = known.misplacedRecords { words.append(CompletenessText.misplaced(count)) }
    if known.isEndMissing { words.append("its end is missing") }
    return "The log does not tell all (\(words.joined(separator: ", "))): numbers are the least there was."
  }
}
