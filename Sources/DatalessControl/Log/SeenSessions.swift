import DatalessCore

/// Which sessions a log has told of so far. A record of one that it has not told of is of a later session, whether or
/// not that one's first record can be read.
struct SeenSessions: Sendable {
  /// LIMIT: sessions that are remembered; a record of a forgotten one behind others counts as of a later one.
  private static let namesMax = 10_000

  private var names: Set<String> = []

  /// Whether a session begins with a record, behind another one.
  ///
  /// - Parameter current: The one that was told of last; nil or empty for none.
  mutating func begins(_ record: LogRecord, after current: String?) -> Bool {
    guard let session = record.session, session != current else { return false }
    if names.count >= Self.namesMax { names = current.map { [$0] } ?? [] }
    let isFirst = names.isEmpty
    let isNew = names.insert(session).inserted
    return !isFirst && (isNew || record.type == .volumeMounted)
  }
}
