import DatalessCore

/// What a log says of the stack of one wait.
enum ToldStack: Sendable, Equatable {
  /// Its id in `StackTable`.
  case taken(UInt64)
  /// Why there is none: the outcome of the record.
  case missing(String)

  var id: UInt64? { if case .taken(let id) = self { id } else { nil } }
}

/// The stacks of one session by their ids: each is written once, and later records refer to it.
struct StackTable: Sendable {
  // LIMIT: beyond, further stacks are not kept, and what refers to them has none.
  private static let stacksMax = 65_536
  private static let bytesMax = 64 << 20

  private var byID: [UInt64: [UInt8]] = [:]
  private var bytes = 0

  /// - Returns: The id of the stack that a record has or refers to; nil for none.
  mutating func add(_ record: LogRecord) -> UInt64? {
    guard let id = record.json.unsigned("stack_id") else { return nil }
    if byID[id] == nil, byID.count < Self.stacksMax, let stack = record.json.raw("stack"),
      bytes + stack.count <= Self.bytesMax
    {
      byID[id] = Array(stack)
      bytes += stack.count
    }
    return id
  }

  /// The same, or why there is none.
  mutating func told(_ record: LogRecord) -> ToldStack? {
    if let id = add(record) { return .taken(id) }
    return record.json.string("outcome").map { .missing($0) }
  }

  /// nil for one that is not known, or is none.
  func stack(_ id: UInt64) -> CallerStack? {
    byID[id].flatMap { try? WireCoding.decode(CallerStack.self, from: $0, named: "a stack") }
  }
}
