/// One name: the edge from a directory to an item. 32 bytes.
struct NameRecord: BitwiseCopyable {
  var directory: NodeIndex
  var node: NodeIndex
  var textOffset: UInt32
  /// Next name in the same directory, in listing order; `end` ends the list.
  var nextSibling: NameIndex
  /// Next name of the same hash bucket; `end` ends the chain.
  var nextInBucket: NameIndex
  /// The low half of the hash of (directory, name), once it is indexed: splitting a bucket and passing over others in it needs
  /// no text.
  var hash: UInt32
  /// Next name of the same item (hard links); `end` ends the list.
  var nextOfNode: NameIndex
  /// 1...1024.
  var textLength: UInt16
  /// The epoch of the listing that saw the name last.
  var epoch: UInt8
  var standing: Standing

  enum Standing: UInt8 {
    case present
    /// A later listing no longer had it. It stays in the sibling list, so that readdir cookies stay valid.
    case gone
    /// The last name that an item without one had: in no list but the item's.
    case former
    /// The same, and still found: if the item comes back under it, it is the item that it was.
    case swept
    /// In nobody's use.
    case free
  }

  var isPresent: Bool { standing == .present }
}
