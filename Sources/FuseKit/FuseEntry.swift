/// A name's answer: the node it leads to, with attributes, and how long the kernel may rely on both.
///
/// C: `struct fuse_entry_param`.
public struct FuseEntry: Sendable, Hashable {
  public var node: FuseNode
  /// Distinguishes two lives of a reused node id; (node, generation) must be unique while mounted. 0 if never reused.
  public var generation: UInt64
  public var attributes: FuseAttributes
  /// How long the name may be resolved without a lookup.
  public var entryTimeout: CacheTimeout
  /// How long the attributes may be shown without a getattr.
  public var attributeTimeout: CacheTimeout

  public init(
    node: FuseNode, generation: UInt64 = 0, attributes: FuseAttributes, entryTimeout: CacheTimeout,
    attributeTimeout: CacheTimeout
  ) {
    self.node = node
    self.generation = generation
    self.attributes = attributes
    self.entryTimeout = entryTimeout
    self.attributeTimeout = attributeTimeout
  }
}
