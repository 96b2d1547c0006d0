/// Answer of `POST /v1/reset`: the volume is as freshly mounted. What was evicted for that.
public struct ResetAnswer: Codable, Sendable, Equatable {
  /// Number of the `volume.reset` record: what has a higher one happened afterwards.
  public var seq: UInt64
  /// Files that were evicted.
  public var files: Int64
  /// Directories that were evicted.
  public var directories: Int64
  /// Content of the files, in bytes.
  public var bytes: Int64

  public init(seq: UInt64, files: Int64, directories: Int64, bytes: Int64) {
    self.seq = seq
    self.files = files
    self.directories = directories
    self.bytes = bytes
  }
}
