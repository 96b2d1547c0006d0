import DatalessCore

/// What a log lacks of one session: records that are missing, and lines that are none.
struct RecordContinuity: Sendable {
  private(set) var lostRecords: Int64 = 0
  private(set) var malformedLines: Int64 = 0
  private var nextSequence: UInt64 = 1
  /// Lines since the session's last record that are no records.
  private(set) var linesBehind = 0

  /// Takes note of lines that are no records: those behind the last record that was noted.
  mutating func addMalformed(lines: Int) { linesBehind += lines }

  /// Takes the next record of the session.
  mutating func note(_ record: LogRecord) {
    defer { linesBehind = 0 }
    guard let sequence = record.sequence else {
      malformedLines += Int64(linesBehind)
      return
    }
    // `log.dropped` has the number of the last lost record and counts itself among them.
    let gap = sequence > nextSequence ? Int64(clamping: sequence - nextSequence) : 0
    // Where no number is missing, they are of another session: of an earlier one, or of one that writes beside this
    // one.
    malformedLines += min(Int64(linesBehind), gap)
    let said = record.type == .logDropped ? record.json.integer("count") ?? 1 : 0
    lostRecords = lostRecords.plus(max(record.type == .logDropped ? gap.plus(1) : gap, said))
    nextSequence = sequence &+ 1
  }
}
