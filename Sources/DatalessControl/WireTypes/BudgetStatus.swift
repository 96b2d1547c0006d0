/// The budgets of `dataless run`, counted over the command and its descendants.
public struct BudgetStatus: Codable, Sendable, Equatable {
  /// Limit; absent when there is none.
  public var maxFiles: Int64?
  /// Limit; absent when there is none.
  public var maxBytes: Int64?
  /// Files of which content became local for the command so far.
  public var files: Int64
  /// Bytes that became local for the command so far.
  public var bytes: Int64
  /// Attempts for the command that are under way: what they bring will count, too, though nobody may wait for it any more.
  public var inFlight: Int64
  /// The first excess of each budget; empty while all hold.
  public var exceeded: [BudgetExcess]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, bytes, exceeded
    case maxFiles = "max_files"
    case maxBytes = "max_bytes"
    case inFlight = "in_flight"
  }

  public init(
    maxFiles: Int64? = nil, maxBytes: Int64? = nil, files: Int64, bytes: Int64, inFlight: Int64 = 0,
    exceeded: [BudgetExcess]
  ) {
    self.maxFiles = maxFiles
    self.maxBytes = maxBytes
    self.files = files
    self.bytes = bytes
    self.inFlight = inFlight
    self.exceeded = exceeded
  }
}
