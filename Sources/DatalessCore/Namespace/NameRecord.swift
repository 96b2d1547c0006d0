/// One name: the edge from a directory to an item. 32 bytes.
struct NameRecord: BitwiseCopyable {
  var directory: NodeIndex
  var node: NodeIndex
  var textOffset: UInt32
  /// Next name in the same directory, in listing order; `end` ends the list.
  var nextSibling: NameIndex
  /// Next name of the same hash bucket; `end` ends the chain.
  var nextInBucket: NameIndex
  /// The low half of the hash of (directory, name), once it is indexed: splitting a bucket and passing over others in
  /// it needs no text.
  var hash: UInt32
  /// Next name of the same item (hard links); `end` ends the list.
  var nextOfNode: NameIndex
  /// 1...1024.
  var textLength: UInt16
  /// The epoch of the listing that saw the name last.
  var epoch: UInt8
  private var bits: UInt8

  init(
    directory: NodeIndex, node: NodeIndex, textOffset: UInt32, textLength: UInt16, epoch: UInt8, isLocal: Bool,
    standing: Standing
  ) {
    self.directory = directory
    self.node = node
    self.textOffset = textOffset
    self.textLength = textLength
    self.epoch = epoch
    nextSibling = .end
    nextInBucket = .end
    nextOfNode = .end
    hash = 0
    bits = standing.rawValue | (isLocal ? 128 : 0)
  }

  /// Whether it was made on the volume. The others are the store's: listings bring them and take them away.
  var isLocal: Bool {
    get { bits & 128 != 0 }
    set { bits = newValue ? bits | 128 : bits & 127 }
  }

  var standing: Standing {
    get { Standing(rawValue: bits & 127) ?? .free }
    set { bits = bits & 128 | newValue.rawValue }
  }

  enum Standing: UInt8 {
    case present
    /// Taken away on the volume, while the store has it: nobody finds it but a listing, and the store's key goes by it.
    case removed
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

  /// Whether the store has it, as far as was listed.
  var isInStore: Bool { !isLocal && (standing == .present || standing == .removed) }
}

/// Which names a search sees.
enum NameLayer {
  /// Those that are there, whoever made them.
  case visible
  /// The store's, gone and removed ones included.
  case store
  /// Those that were made on the volume, gone ones included.
  case local

  func contains(_ name: NameRecord) -> Bool {
    switch self {
    case .visible: name.isPresent
    case .store: !name.isLocal
    case .local: name.isLocal
    }
  }
}
