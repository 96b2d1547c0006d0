/// How far a materialize or evict request has come.
public struct TransferProgress: Codable, Sendable, Equatable {
  public var files: Int64
  public var directories: Int64
  public var bytes: Int64

  enum CodingKeys: String, CodingKey, CaseIterable {
    case files, directories, bytes
  }

  public init(files: Int64, directories: Int64, bytes: Int64) {
    self.files = files
    self.directories = directories
    self.bytes = bytes
  }
}
