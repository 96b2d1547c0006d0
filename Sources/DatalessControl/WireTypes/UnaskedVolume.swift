/// A volume of another user in root's list of volumes: what the mount table says of it. Its daemon was not asked.
public struct UnaskedVolume: Codable, Sendable, Equatable {
  /// Absolute.
  public var mountpoint: String
  public var mountpointBase64: String?
  /// An absolute path, or a synthetic specification.
  public var source: String
  public var sourceBase64: String?
  /// Who mounted it; absent when the mount table does not say.
  public var userID: UInt32?
  /// False: what tells these from volumes whose daemon answered.
  public var isAsked = false

  enum CodingKeys: String, CodingKey, CaseIterable {
    case mountpoint, source
    case mountpointBase64 = "mountpoint_b64"
    case sourceBase64 = "source_b64"
    case userID = "user_id"
    case isAsked = "asked"
  }

  public init(mountpoint: [UInt8], source: [UInt8], userID: UInt32?) {
    (self.mountpoint, mountpointBase64) = WirePath.split(mountpoint)
    (self.source, sourceBase64) = WirePath.split(source)
    self.userID = userID
  }
}
