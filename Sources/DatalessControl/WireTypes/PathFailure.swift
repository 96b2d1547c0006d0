/// An item that could not be materialized or listed, or must not be evicted.
public struct PathFailure: Codable, Sendable, Equatable {
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// Name, such as `EBUSY`.
  public var errno: String
  /// What is wrong; lower case, no full stop.
  public var message: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case path, errno, message
    case pathBase64 = "path_b64"
  }

  public init(path: [UInt8], errno: String, message: String) {
    (self.path, pathBase64) = WirePath.split(path)
    self.errno = errno
    self.message = message
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
