/// Lookups of one node that the kernel gives back. C: `struct fuse_forget_data`, whose layout it has.
public struct ForgottenNode: Sendable, Hashable {
  public let node: FuseNode
  /// How many earlier answers (lookup, create, mkdir, readdirplus, ...) are given back, at least 1.
  public let lookups: UInt64

  public init(node: FuseNode, lookups: UInt64) {
    self.node = node
    self.lookups = lookups
  }
}
