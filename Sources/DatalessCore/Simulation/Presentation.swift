/// How the metadata of items looks to callers. Data, not code; what is left out looks as macOS's dataless files do.
public struct Presentation: Sendable, Equatable {
  public var blocks: Blocks = .zero
  public var changeTime: ChangeTime = .stable
  public var seek: Seek = .data
  /// The extended attribute that tells the state of an item; nil: none does.
  public var state: StateAttribute? = .dataless
  /// The file system type is `fuse.<subtype>`; nil: `dataless`, or what the volume was mounted with. Fixed at the
  /// mount.
  public var subtype: String?

  public init() {}

  /// st_blocks of a file without its content, in units of 512 bytes. A resident file has its own.
  public enum Blocks: String, Sendable, CaseIterable {
    case zero
    /// 1.
    case one
    /// What SOURCE has, as if the content were there.
    case real
  }

  public enum ChangeTime: String, Sendable, CaseIterable {
    /// SOURCE's, whatever becomes of the content.
    case stable
    /// The time at which a file's content came; SOURCE's before the first time.
    case bump
  }

  /// What SEEK_DATA and SEEK_HOLE find in a file without its content.
  public enum Seek: String, Sendable, CaseIterable {
    /// All of it is data.
    case data
    /// All of it is a hole, which copying tools then do not read: known data loss.
    case hole
  }

  /// Whether a change from one to the other changes what the kernel may have kept of attributes.
  public func changesAttributes(from other: Presentation) -> Bool {
    blocks != other.blocks || changeTime != other.changeTime
  }
}
