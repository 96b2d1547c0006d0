/// The moment a budget was exceeded for the first time.
public struct BudgetExcess: Codable, Sendable, Equatable {
  /// `files` or `bytes`.
  public var budget: String
  public var limit: Int64
  public var used: Int64
  /// What was materialized, relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// For whom.
  public var process: WireProcess?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case budget, limit, used, path, process
    case pathBase64 = "path_b64"
  }

  public init(budget: String, limit: Int64, used: Int64, path: [UInt8], process: WireProcess? = nil) {
    self.budget = budget
    self.limit = limit
    self.used = used
    (self.path, pathBase64) = WirePath.split(path)
    self.process = process
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
