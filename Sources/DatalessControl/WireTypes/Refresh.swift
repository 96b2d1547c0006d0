/// One line of the answer of `POST /v1/refresh`: progress, or as the last line the result or an error.
public struct RefreshLine: AnswerLine, Equatable {
  public var progress: RefreshProgress?
  public var result: RefreshResult?
  public var error: WireError?

  public init(progress: RefreshProgress? = nil, result: RefreshResult? = nil, error: WireError? = nil) {
    self.progress = progress
    self.result = result
    self.error = error
  }
}

/// How far a refresh has come.
public struct RefreshProgress: Codable, Sendable, Equatable {
  /// Directories that were listed again.
  public var directories: Int64
  /// Entries looked at.
  public var entries: Int64
  /// Directories that were listed when it began, where all of the volume is refreshed; else nil.
  public var totalDirectories: Int64?

  enum CodingKeys: String, CodingKey {
    case directories, entries
    case totalDirectories = "total_directories"
  }

  public init(directories: Int64, entries: Int64, totalDirectories: Int64? = nil) {
    self.directories = directories
    self.entries = entries
    self.totalDirectories = totalDirectories
  }
}

/// The end of a refresh: entries, by what became of them. What is below a directory that is gone is not counted one by
/// one.
public struct RefreshResult: Codable, Sendable, Equatable {
  public var added: Int64
  /// Another version, another item under the name, or another mode or owner.
  public var changed: Int64
  public var gone: Int64
  /// The same item under another name.
  public var renamed: Int64
  /// Another version in the store, while the resident copy stays what it is.
  public var kept: Int64
  public var unchanged: Int64
  /// Directories that were listed again.
  public var directories: Int64
  /// What could not be listed, and paths that are nowhere; the first 1,000.
  public var failures: [PathFailure]
  /// All failures, those beyond the first 1,000 included.
  public var failureCount: Int64
  /// Whether it was cut short, by a request to interrupt it. What it found before stays so.
  public var isInterrupted: Bool

  enum CodingKeys: String, CodingKey {
    case added, changed, gone, renamed, kept, unchanged, directories, failures
    case failureCount = "failure_count"
    case isInterrupted = "interrupted"
  }

  public init(
    added: Int64 = 0, changed: Int64 = 0, gone: Int64 = 0, renamed: Int64 = 0, kept: Int64 = 0, unchanged: Int64 = 0,
    directories: Int64 = 0, failures: [PathFailure] = [], failureCount: Int64 = 0,
    isInterrupted: Bool = false
  ) {
    self.added = added
    self.changed = changed
    self.gone = gone
    self.renamed = renamed
    self.kept = kept
    self.unchanged = unchanged
    self.directories = directories
    self.failures = failures
    self.failureCount = failureCount
    self.isInterrupted = isInterrupted
  }
}
