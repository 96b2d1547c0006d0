/// Renames that have happened together, though they are told one after the other: the two of an exchange, and those
/// that one refresh finds in SOURCE.
///
/// What has come to a name by one of them is not what had that name before: the next one, which says where that is now,
/// does not take it along.
public struct JoinedRenames: Sendable {
  /// What an intent had at a name before it followed something there: whether it wrote; nil: nothing.
  struct Former: Sendable {
    let isWrite: Bool?
  }

  /// Of each intent, the names to which it has followed something.
  private var intents: [UInt64: [[UInt8]: Former]] = [:]
  /// Of each presenter, the names to which what it presents, or a directory around that, has come.
  private var presenters: [UInt64: Set<[UInt8]>] = [:]

  public init() {}

  // MARK: - Intents

  func former(of intent: UInt64, at name: [UInt8]) -> Former? { intents[intent]?[name] }

  mutating func note(_ intent: UInt64, at name: [UInt8], _ former: Former) {
    if intents[intent]?[name] == nil { intents[intent, default: [:]][name] = former }
  }

  // MARK: - Presenters

  func hasCome(_ presenter: UInt64, to name: [UInt8]) -> Bool { presenters[presenter]?.contains(name) ?? false }

  /// What a presenter has come to lies in what has another name now.
  mutating func note(_ presenter: UInt64, from: [UInt8], to: [UInt8]) {
    let moved = (presenters[presenter] ?? []).map { name in
      name.starts(with: from + [UInt8(ascii: "/")]) ? to + name.dropFirst(from.count) : name
    }
    presenters[presenter] = Set(moved).union([to])
  }
}
