/// The budgets of `dataless run`, counted over the command and its descendants.
public struct BudgetStatus: Codable, Sendable, Equatable {
  /// Limit; absent when there is none.
  public var maxFiles: Int64?
  /// Limit; absent when there is none.
  public var maxBytes: Int64?
  /// Files materialized for the command so far.
  public var files: Int64
  /// Bytes materialized for the command so far.
  public var bytes: Int64
  /// The first excess of each budget; empty while all hold.
  public var exceeded: [BudgetExcess]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, bytes, exceeded
    case maxFiles = "max_files"
    case maxBytes = "max_bytes"
  }

  public init(maxFiles: Int64? = nil, maxBytes: Int64? = nil, files: Int64, bytes: Int64, exceeded: [BudgetExcess]) {
    self.maxFiles = maxFiles
    self.maxBytes = maxBytes
    self.files = files
    self.bytes = bytes
    self.exceeded = exceeded
  }
}
