/// Flags of renameat2(2).
public struct RenameFlags: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Fail with EEXIST instead of replacing. C: `RENAME_NOREPLACE`.
  public static let noReplace = RenameFlags(rawValue: 1 << 0)
  /// Exchange both names atomically. C: `RENAME_EXCHANGE`.
  public static let exchange = RenameFlags(rawValue: 1 << 1)
  /// Leave a whiteout behind. C: `RENAME_WHITEOUT`.
  public static let whiteout = RenameFlags(rawValue: 1 << 2)
}
