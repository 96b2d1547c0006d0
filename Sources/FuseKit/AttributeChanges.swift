/// What a SETATTR request asks to change: chmod, chown, truncate, utimens and their f-variants.
///
/// Only what `fields` names is to be changed; the other members are meaningless.
public struct AttributeChanges: Sendable {
  /// Which members are set. C: `FUSE_SET_ATTR_*`.
  public struct Fields: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let mode = Fields(rawValue: 1 << 0)
    public static let uid = Fields(rawValue: 1 << 1)
    public static let gid = Fields(rawValue: 1 << 2)
    public static let size = Fields(rawValue: 1 << 3)
    public static let accessTime = Fields(rawValue: 1 << 4)
    public static let modificationTime = Fields(rawValue: 1 << 5)
    /// Set the access time to the present; `accessTime` is set with it and its value is meaningless.
    public static let accessTimeNow = Fields(rawValue: 1 << 7)
    /// Set the modification time to the present.
    public static let modificationTimeNow = Fields(rawValue: 1 << 8)
    public static let changeTime = Fields(rawValue: 1 << 10)
    /// Clear the set-user-id bit, and set-group-id if the group may execute (only with HANDLE_KILLPRIV_V2).
    public static let killSetIDBits = Fields(rawValue: 1 << 11)
  }

  public var fields: Fields
  /// st_mode including the type bits.
  public var mode: UInt32
  public var uid: UInt32
  public var gid: UInt32
  /// New size in bytes, 0...Int64.max.
  public var size: Int64
  public var accessTime: FuseTime
  public var modificationTime: FuseTime
  public var changeTime: FuseTime
  /// The open through which ftruncate(2) and the like came; nil for calls by path.
  public var handle: FuseHandle?
}
