/// How far a refresh has come.
public struct RefreshProgress: Codable, Sendable, Equatable {
  /// Directories that were listed again.
  public var directories: Int64
  /// Entries looked at.
  public var entries: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case directories, entries
  }

  public init(directories: Int64, entries: Int64) {
    self.directories = directories
    self.entries = entries
  }
}
