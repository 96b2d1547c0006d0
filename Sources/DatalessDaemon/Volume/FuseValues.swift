import DatalessCore
import FuseKit

/// The engine's values in the kernel's words.

extension NodeID {
  init(_ node: FuseNode) { self.init(rawValue: node.rawValue) }
}

extension FuseNode {
  init(_ node: NodeID) { self.init(rawValue: node.rawValue) }
}

extension FuseTime {
  init(_ time: Timestamp) { self.init(seconds: time.seconds, nanoseconds: time.nanoseconds) }
}

extension FuseAttributes {
  init(_ attributes: ItemAttributes) {
    self.init(
      inode: attributes.inode, size: UInt64(max(0, attributes.size)), blocks: UInt64(max(0, attributes.blocks)),
      accessTime: FuseTime(attributes.accessTime), modificationTime: FuseTime(attributes.modificationTime),
      changeTime: FuseTime(attributes.changeTime), mode: attributes.mode, linkCount: attributes.linkCount,
      uid: attributes.uid, gid: attributes.gid, specialDevice: attributes.specialDevice)
  }
}

extension FuseEntry {
  /// Cached until invalidated: nothing changes without the daemon's doing, and then it says so.
  init(_ item: ItemSnapshot) {
    self.init(
      node: FuseNode(item.node), attributes: FuseAttributes(item.attributes), entryTimeout: .forever,
      attributeTimeout: .forever)
  }
}
