/// What was materialized since the volume was mounted.
public struct MaterializedCounts: Codable, Sendable, Equatable {
  /// Successful materializations of files; a file evicted and read again counts twice.
  public var files: Int64
  /// Successful materializations of directories.
  public var directories: Int64
  /// Content fetched by those of files.
  public var bytes: Int64
  /// Attempts that ended with an errno.
  public var failures: Int64
  /// Triggers that policy answered with an errno at once.
  public var refusals: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, directories, bytes, failures, refusals
  }

  public init(files: Int64, directories: Int64, bytes: Int64, failures: Int64, refusals: Int64) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
    self.failures = failures
    self.refusals = refusals
  }
}
