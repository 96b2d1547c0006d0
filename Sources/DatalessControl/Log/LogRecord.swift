/// One line of an event log. Unknown types and fields are kept; a field that is missing or odd reads as nil.
public struct LogRecord: Sendable {
  public let json: JSONObject
  /// Such as `materialization.started`; empty when the line has none.
  public let type: String

  /// - Parameter line: Without its newline. nil when it is not a JSON object.
  public init?(line: [UInt8]) {
    guard let json = JSONObject(line) else { return nil }
    self.json = json
    type = json.string("type") ?? ""
  }

  /// The line as it is in the file.
  public var line: [UInt8] { json.bytes }
  public var session: String? { json.string("session") }
  public var sequence: UInt64? { json.unsigned("seq") }
  /// RFC 3339, UTC.
  public var time: String? { json.string("time") }
  public var monotonicNanoseconds: Int64? { json.integer("monotonic_ns") }
  public var attempt: UInt64? { json.unsigned("attempt") }
  /// The id of the process in this session; nil when unknown.
  public var process: UInt32? { json.unsigned("process").flatMap { UInt32(exactly: $0) } }
  public var outcome: String? { json.string("outcome") }

  /// Whether `type` is `name`, or begins with it and a dot.
  public func isOfType(_ name: String) -> Bool {
    type.utf8.starts(with: name.utf8)
      && (type.utf8.count == name.utf8.count
        || type.utf8[type.utf8.index(type.utf8.startIndex, offsetBy: name.utf8.count)] == UInt8(ascii: "."))
  }
}
