internal import DequeModule

/// Files that are due by a rule and that somebody presents, while presenters are asked.
///
/// One question at a time, and what becomes due meanwhile is asked about together: of many files that are due at once,
/// a program that answers one question after the other would have no time left for the last ones. Used under the
/// engine's lock.
struct AskedEvictions {
  /// LIMIT: files in one question.
  static let filesMax = 4096

  private var waiting = Deque<NodeID>()
  /// Whether an answer is waited for.
  private var isAsking = false

  mutating func add(_ files: [NodeID]) { waiting.append(contentsOf: files) }

  /// What to ask about now, until `answered`; nothing while an answer is waited for.
  mutating func next() -> [NodeID] {
    guard !isAsking, !waiting.isEmpty else { return [] }
    isAsking = true
    let files = Array(waiting.prefix(Self.filesMax))
    waiting.removeFirst(files.count)
    return files
  }

  mutating func answered() { isAsking = false }
}
