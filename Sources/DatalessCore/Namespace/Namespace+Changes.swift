/// Names that are made, removed and moved on the volume. The store's names stay known while it has them: what is
/// fetched goes by them, and its next listing is merged with what was done here (`NameMerge`).
///
/// The names of each directory that is named here are indexed (`indexNames`). Rights, kinds and empty directories are
/// for the caller to check.
extension Namespace {
  /// Makes an item that the store does not have. - Returns: nil when the tables are full.
  ///
  /// - Parameter attributes: With a device and an inode number that no item of the store has.
  mutating func make(
    _ text: UnsafeBufferPointer<UInt8>, _ attributes: ItemAttributes, in directory: NodeIndex
  ) -> NodeIndex? {
    guard let node = node(for: ListedItem(attributes)) else { return nil }
    return give(text, to: node, in: directory) == nil ? nil : node
  }

  /// Gives an item another name that nobody has in a directory. - Returns: nil when the tables are full.
  @discardableResult
  mutating func give(
    _ text: UnsafeBufferPointer<UInt8>, to node: NodeIndex, in directory: NodeIndex
  ) -> NameIndex? {
    // The name that the store has for it, and that was removed here: then there is no change any more.
    if let known = find(text, in: directory, .store), record(of: known).standing == .removed,
      record(of: known).node == node
    {
      setStanding(.present, of: known)
      return known
    }
    guard let former = find(text, in: directory, .local) else {
      return link(text, to: node, in: directory, isLocal: true)
    }
    // In this order: what had the name is told to have it no more, and not once again.
    relink(former, to: node)
    setStanding(.present, of: former)
    return former
  }

  /// Takes a name away from its item. One of the store's is hidden from now on.
  mutating func remove(_ name: NameIndex) {
    setStanding(record(of: name).isLocal ? .gone : .removed, of: name)
  }

  /// Gives the item of a name another name, in place of whatever has that. - Returns: False when the tables are full:
  /// then nothing has changed but that the other item has lost the name.
  mutating func move(
    _ name: NameIndex, to text: UnsafeBufferPointer<UInt8>, in directory: NodeIndex
  ) -> Bool {
    let node = record(of: name).node
    if let target = find(text, in: directory, .visible) {
      // Two names of one file: POSIX has rename(2) do nothing.
      guard record(of: target).node != node else { return true }
      remove(target)
    }
    guard give(text, to: node, in: directory) != nil else { return false }
    remove(name)
    return true
  }

  /// Lets two names lead to each other's items. - Returns: False when the tables are full; then both are gone.
  mutating func exchange(_ first: NameIndex, _ second: NameIndex) -> Bool {
    let (one, other) = (record(of: first), record(of: second))
    remove(first)
    remove(second)
    guard give(text(of: first), to: other.node, in: one.directory) != nil else { return false }
    return give(text(of: second), to: one.node, in: other.directory) != nil
  }
}
