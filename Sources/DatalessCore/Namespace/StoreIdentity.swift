/// What makes an item of a backing store the same item under another name: device, inode number, and time of birth,
/// because the number of a removed file is given to the next one.
struct StoreIdentity: Hashable {
  let device: UInt64
  let inode: UInt64
  /// 0 where the store does not know it: then the number alone is no proof.
  let birth: UInt64

  init(_ attributes: ItemAttributes) {
    device = attributes.device
    inode = attributes.inode
    birth = attributes.birth
  }

  init(_ version: StoreVersion) {
    device = version.device
    inode = version.inode
    birth = version.birth
  }
}
