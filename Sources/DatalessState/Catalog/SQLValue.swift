/// What a column holds, or is searched for.
enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case bytes([UInt8])
  case text(String)

  init(_ value: Int64?) { self = value.map { .integer($0) } ?? .null }
  init(_ value: [UInt8]?) { self = value.map { .bytes($0) } ?? .null }
  /// All 64 bits, whatever they are called.
  init(bits: UInt64) { self = .integer(Int64(bitPattern: bits)) }
}
