/// The number by which the kernel names an inode of a volume in every request; chosen by the file system.
///
/// Not st_ino: a node id lives from the reply that introduces it until its lookups are forgotten. C: `fuse_ino_t`.
public struct FuseNode: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
  public let rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// The root directory, which the kernel knows without a lookup and never forgets. C: `FUSE_ROOT_ID`.
  public static let root = FuseNode(rawValue: 1)

  public var description: String { "node \(rawValue)" }
}
