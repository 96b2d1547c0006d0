import DatalessCore

/// What a log lacks of one session: records that are missing, and lines that are none.
public struct RecordContinuity: Sendable {
  public private(set) var lostRecords: Int64 = 0
  /// Lines that are no records, and in whose place one may be missing.
  public private(set) var malformedLines: Int64 = 0
  /// Lines that are no records, either, where the numbers of those before and behind say that none is missing.
  private(set) var strayLines: Int64 = 0
  /// Records that stand behind a later one, or a second time: the file is put together of several, or out of order.
  private(set) var misplacedRecords: Int64 = 0
  /// The version of the format of the last line among `malformedLines` that is of another one; nil where none is.
  private(set) var otherVersion: Int64?
  /// Whether records of another version stand behind the last one: they may be of a later session.
  var isFollowedByAnotherVersion: Bool { behind.ofOtherVersions > 0 }
  private var nextSequence: UInt64 = 1
  /// Lines since the session's last record that are no records.
  private var behind = UnreadLines()

  public init() {}

  /// For a session that begins behind another one: what was found to be no record until then is none of its records.
  init(after earlier: RecordContinuity) {
    strayLines = earlier.malformedLines.plus(earlier.strayLines)
    behind = earlier.behind
  }

  /// Takes note of lines that are no records: those behind the last record that was noted.
  public mutating func addUnread(_ lines: UnreadLines) { behind.add(lines) }

  /// Whether a record of the session is not to be counted, since a later one, or itself, was there before. Takes note
  /// of one that is not.
  mutating func skips(_ record: LogRecord) -> Bool {
    guard let sequence = record.sequence, sequence < nextSequence else { return false }
    misplacedRecords += 1
    return true
  }

  /// Takes the next record of the session that is to be counted.
  ///
  /// - Returns: Whether it has its keys: else its number is told, and what it was to tell is not.
  @discardableResult
  public mutating func note(_ record: LogRecord) -> Bool {
    defer { behind = UnreadLines() }
    let isWhole = record.hasItsKeys
    if !isWhole { malformedLines += 1 }
    guard let sequence = record.sequence else {
      settle(missing: Int64(behind.count))
      return isWhole
    }
    // `log.dropped` has the number of the last lost record and counts itself among them.
    let gap = sequence > nextSequence ? Int64(clamping: sequence - nextSequence) : 0
    // Where no number is missing, they are of another session: of an earlier one, or of one that writes beside this
    // one.
    settle(missing: min(Int64(behind.count), gap))
    let said = record.type == .logDropped ? record.json.integer("count") ?? 1 : 0
    lostRecords = lostRecords.plus(max(record.type == .logDropped ? gap.plus(1) : gap, said))
    nextSequence = sequence &+ 1
    return isWhole
  }

  /// What the log lacks when no more of it comes.
  ///
  /// - Parameters:
  ///   - hasEnd: Whether the session's last record is its end. Behind that is nothing of it.
  ///   - isSessionGiven: Whether no other session can be meant. Else records of another version behind the end may well
  ///     be a session that was mounted later, and is the one that is asked about.
  public func finished(hasEnd: Bool, isSessionGiven: Bool) -> RecordContinuity {
    var result = self
    let missing = hasEnd ? (isSessionGiven ? 0 : behind.ofOtherVersions) : behind.count
    result.settle(missing: Int64(missing))
    return result
  }

  /// - Parameter missing: In the place of how many of the lines behind the last record there may have been one.
  private mutating func settle(missing: Int64) {
    guard behind.count > 0 else { return }
    if missing > 0 { otherVersion = behind.version ?? otherVersion }
    malformedLines += missing
    strayLines += Int64(behind.count) - missing
  }
}
