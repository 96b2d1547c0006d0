/// How an item as it is listed now stands to the item that the namespace knows under the name.
enum SourceRelation {
  /// The same, access time and the like aside. A directory always is: what changes in it is told by its own listing.
  case same
  /// The same bytes; owner, mode, number of names, or the name itself are others.
  case metadata
  /// The same item with other bytes, as far as can be told without reading them.
  case version
  /// Another item, or one of another kind.
  case other
}

extension ListedItem {
  /// How the item as it is listed now stands to this one; a store's tokens outweigh times and size.
  func relation(to listed: ListedItem, isRenamed: Bool = false, isProven: Bool = false) -> SourceRelation {
    guard token.isNone, listed.token.isNone else {
      let (old, new) = (attributes, listed.attributes)
      guard StoreIdentity(old) == StoreIdentity(new), old.kind == new.kind else { return .other }
      guard token == listed.token else { return .version }
      var untouched = new
      untouched.accessTime = old.accessTime
      untouched.blocks = old.blocks
      return old == untouched ? .same : .metadata
    }
    return attributes.relation(to: listed.attributes, isRenamed: isRenamed, isProven: isProven)
  }
}

extension ItemAttributes {
  /// - Parameters:
  ///   - isRenamed: Whether the item is listed under another name than before: that moves its ctime and no byte.
  ///   - isProven: Whether it is known from elsewhere (a generation) that the inode number was not reused.
  func relation(to listed: ItemAttributes, isRenamed: Bool = false, isProven: Bool = false) -> SourceRelation {
    guard StoreIdentity(self) == StoreIdentity(listed), kind == listed.kind else { return .other }
    // A reused number comes with a new ctime, too. Without a birth time nothing tells it from the same item with a
    // moved ctime.
    let isCertain = isProven || birth != 0
    let isSameOwner = mode == listed.mode && uid == listed.uid && gid == listed.gid
    if kind == .directory {
      if isRenamed, !isCertain, changeTime != listed.changeTime { return .version }
      return isSameOwner ? .same : .metadata
    }
    guard isBare || specialDevice == listed.specialDevice else { return .version }
    if isSameVersion(as: listed) { return isSameOwner ? .same : .metadata }
    // What else moves ctime alone than a change of bytes whose size and mtime were put back. Of a file with several
    // names any may have been renamed, out of our sight.
    let isExplained =
      isRenamed || !isSameOwner || linkCount != listed.linkCount || (kind == .file && listed.linkCount > 1)
    guard isCertain, isExplained, size == listed.size, modificationTime == listed.modificationTime else {
      return .version
    }
    return .metadata
  }
}
