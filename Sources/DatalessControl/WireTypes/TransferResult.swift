/// The end of a materialize or evict request.
public struct TransferResult: Codable, Sendable, Equatable {
  /// Files materialized, or evicted. Those that were so already do not count.
  public var files: Int64
  public var directories: Int64
  /// Content fetched, or dropped.
  public var bytes: Int64
  /// What could not be materialized, the first 1,000; or what was refused eviction, all of it.
  public var failures: [PathFailure]
  /// All failures, those that are not named included.
  public var failureCount: Int64
  /// Evict with `stop` only: where it stopped, which is the last of `failures`. What was evicted before stays so.
  public var refused: PathFailure?
  /// Whether it was cut short, by a request to interrupt it. What was done before stays so.
  public var isInterrupted: Bool
  /// The path of the request at which it was cut short, and those it had not come to.
  public var unfinished: [WirePath]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, directories, bytes, failures, refused, unfinished
    case failureCount = "failure_count"
    case isInterrupted = "interrupted"
  }

  public init(
    files: Int64, directories: Int64, bytes: Int64, failures: [PathFailure] = [], failureCount: Int64 = 0,
    refused: PathFailure? = nil, isInterrupted: Bool = false, unfinished: [[UInt8]] = []
  ) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.failureCount = failureCount
    self.refused = refused
    self.isInterrupted = isInterrupted
    self.unfinished = unfinished.map { WirePath($0) }
  }
}
