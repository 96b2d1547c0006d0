/// How metadata looks on a volume.
public struct PresentationStatus: Codable, Sendable, Equatable {
  /// `zero`, `one` or `real`.
  public var blocks: String
  /// `stable` or `bump`.
  public var ctime: String
  /// `data` or `hole`.
  public var seek: String
  /// The name of the extended attribute that tells the state; absent for none.
  public var state: String?
  /// Whether listxattr(2) shows it.
  public var stateListed: Bool
  /// The file system type is `fuse.<subtype>`.
  public var subtype: String

  enum CodingKeys: String, CodingKey, CaseIterable {
    case blocks, ctime, seek, state, subtype
    case stateListed = "state_listed"
  }

  public init(blocks: String, ctime: String, seek: String, state: String?, stateListed: Bool, subtype: String) {
    self.blocks = blocks
    self.ctime = ctime
    self.seek = seek
    self.state = state
    self.stateListed = stateListed
    self.subtype = subtype
  }
}
