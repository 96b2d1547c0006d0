/// The end of a materialize or evict request.
public struct TransferResult: Codable, Sendable, Equatable {
  /// Files materialized, or evicted. Those that were so already do not count.
  public var files: Int64
  public var directories: Int64
  /// Content fetched, or dropped.
  public var bytes: Int64
  /// What could not be materialized; the first 1,000. Always empty for evict.
  public var failures: [PathFailure]
  /// All failures, those beyond the first 1,000 included.
  public var failureCount: Int64
  /// Evict only: where it stopped. What was evicted before stays so.
  public var refused: PathFailure?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, directories, bytes, failures, refused
    case failureCount = "failure_count"
  }

  public init(
    files: Int64, directories: Int64, bytes: Int64, failures: [PathFailure] = [], failureCount: Int64 = 0,
    refused: PathFailure? = nil
  ) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.failureCount = failureCount
    self.refused = refused
  }
}
