/// What a refresh found, entry by entry. What is below a directory that is gone or new is not counted one by one.
public struct RefreshCounts: Sendable, Equatable {
  public var added: Int64 = 0
  /// Another version, another item under the name, or another mode or owner.
  public var changed: Int64 = 0
  public var gone: Int64 = 0
  public var renamed: Int64 = 0
  /// Another version in the store, while the resident copy stays what it is.
  public var kept: Int64 = 0
  public var unchanged: Int64 = 0
  /// Directories that were listed again.
  public var directories: Int64 = 0
  /// Changes beyond the first 10,000, which have no record of their own.
  public var omittedRecords: Int64 = 0

  public init() {}

  /// Whether anything is not as it was.
  var hasChanges: Bool { added + changed + gone + renamed + kept > 0 }
}

/// The end of a refresh.
public struct RefreshOutcome: Sendable {
  public var counts: RefreshCounts
  /// The first 1,000 directories that could not be listed, and paths that are nowhere.
  public var failures: [(path: [UInt8], error: FSError)]
  public var failureCount: Int64
  /// Why it ended early: EINTR when it was given up, ETIMEDOUT when the store is offline or the volume ends.
  public var error: FSError?

  /// Nothing was to be listed.
  public static var nothing: RefreshOutcome {
    RefreshOutcome(counts: RefreshCounts(), failures: [], failureCount: 0)
  }
}
