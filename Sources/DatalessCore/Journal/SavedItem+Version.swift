extension SavedItem {
  /// What the store had when it was seen last; of what was made on the volume, that. nil if nothing is known.
  var base: ListedItem? {
    guard let version else {
      guard var own = attributes else { return nil }
      own.device = ItemAttributes.madeDevice
      return ListedItem(own)
    }
    return ListedItem((listed ?? attributes).map(version.completed) ?? version.bare, token: version.token)
  }

  /// What the store had when a file was written to; nil if not enough of that is known.
  ///
  /// - Parameter newer: What it has by now.
  func baseOfWriting(insteadOf newer: ListedItem) -> ListedItem? {
    guard isDirty, content != nil, (listed ?? attributes) != nil, let base,
      StoreIdentity(base.attributes) == StoreIdentity(newer.attributes)
    else { return nil }
    // Without a time of birth other names of the newer version are known to be its own by the version alone.
    return newer.attributes.birth != 0 || !newer.attributes.mayHaveSeveralNames ? base : nil
  }

  /// Whether the store had it under several names, as far as that is known.
  var hasSeveralNames: Bool { (listed ?? attributes).map { $0.linkCount > 1 } ?? false }

  /// Whether the store may have it under other names; also if that is not known.
  var mayHaveSeveralNames: Bool { hasSeveralNames || (listed ?? attributes) == nil }

  /// Whether a listed item has the bytes that were kept.
  func isOfVersion(_ item: ListedItem) -> Bool {
    // A directory is the one at its place: what is in it is compared by itself.
    guard let version, version.kind != .directory else { return true }
    if version.isSame(as: item.version) { return true }
    guard let listed else { return false }
    switch ListedItem(version.completed(listed), token: version.token).relation(to: item) {
    case .same, .metadata: return true
    case .version, .other: return false
    }
  }
}

extension StoreVersion {
  /// Metadata of which nothing is known but the version.
  fileprivate var bare: ItemAttributes {
    completed(
      ItemAttributes(
        device: 0, inode: 0, mode: 0, linkCount: 1, uid: ItemAttributes.unknownOwner,
        gid: ItemAttributes.unknownOwner, specialDevice: 0, size: 0, blocks: 0,
        accessTime: modificationTime, modificationTime: modificationTime, changeTime: changeTime))
  }

  /// Metadata, as they were of this version.
  fileprivate func completed(_ attributes: ItemAttributes) -> ItemAttributes {
    var attributes = attributes
    attributes.device = device
    attributes.inode = inode
    attributes.birth = birth
    attributes.mode = attributes.mode & 0o7777 | UInt32(kind.rawValue) << 12
    attributes.size = size
    attributes.modificationTime = modificationTime
    attributes.changeTime = changeTime
    return attributes
  }
}
