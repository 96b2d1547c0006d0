public import DatalessCore

/// A checked question about what would be decided.
public struct ExplainQuery: Sendable {
  /// Relative to the volume's root.
  public var path: [UInt8]
  /// nil: `read` for a file, `readdir` for a directory.
  public var trigger: Trigger?
  /// nil: a process of which nothing is known.
  public var pid: Int32?
}
