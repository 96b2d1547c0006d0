/// One name: the edge from a directory to an inode. 32 bytes.
struct DentryRecord: BitwiseCopyable {
  var parent: UInt32
  var node: UInt32
  var nameOffset: UInt32
  /// Next entry of the same directory, in listing order; 0 ends the list.
  var nextSibling: UInt32
  /// Next entry of the same hash bucket; 0 ends the chain.
  var nextInBucket: UInt32
  /// The low half of the hash of (parent, name), once it is indexed: splitting a bucket and passing over others in it needs no name.
  var hash: UInt32
  /// Next name of the same inode (hard links); 0 ends the list.
  var nextOfInode: UInt32
  /// 1...1024.
  var nameLength: UInt16
  /// The epoch of the listing that saw the name last.
  var epoch: UInt8
  /// A name that a later listing no longer had. It stays in the sibling list, so that readdir cookies stay valid.
  var isGone: Bool
}
