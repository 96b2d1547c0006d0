/// What makes an item of a backing store the same item under another name: its device and inode number.
struct StoreIdentity: Hashable {
  let device: UInt64
  let inode: UInt64

  init(_ attributes: ItemAttributes) {
    device = attributes.device
    inode = attributes.inode
  }
}
