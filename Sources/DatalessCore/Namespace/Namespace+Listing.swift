internal import SystemPackage

/// Names and metadata as a listing brings them, and as readdir hands them out.
extension Namespace {
  /// Visits the nodes in the order of their indices, orphans included and what is forgotten not.
  ///
  /// - Parameter limit: How many at most.
  /// - Returns: Where to go on; nil at the end.
  func visitNodes(
    from start: NodeIndex, limit: Int, _ body: (NodeIndex, borrowing NodeRecord) -> Void
  ) -> NodeIndex? {
    let end = min(Int(start.rawValue) + limit, Int(nodeEnd))
    for number in Int(start.rawValue)..<max(Int(start.rawValue), end) {
      let node = NodeIndex(rawValue: UInt32(number))
      if !self[node].isFree { body(node, self[node]) }
    }
    return end < Int(nodeEnd) ? NodeIndex(rawValue: UInt32(end)) : nil
  }

  /// Visits the names of a directory, those that are gone included, in listing order.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  /// - Returns: Where to go on; nil at the end.
  private mutating func visitNames(
    of directory: NodeIndex, from cursor: NameCursor, limit: Int,
    _ body: (inout Namespace, NameIndex, NameRecord) -> Void
  ) -> NameCursor? {
    var name = self[directory].firstChild
    if case .at(let next) = cursor { name = next }
    var left = limit
    while name != .end {
      if left == 0 { return .at(name) }
      left -= 1
      let record = record(of: name)
      body(&self, name, record)
      name = record.nextSibling
    }
    return nil
  }

  /// Calls `body` for the store's names that the last listing did not see; as `visitNames`.
  mutating func visitVanishedNames(
    of directory: NodeIndex, from cursor: NameCursor, limit: Int, _ body: (inout Namespace, NameIndex) -> Void
  ) -> NameCursor? {
    let epoch = self[directory].listingEpoch
    return visitNames(of: directory, from: cursor, limit: limit) { namespace, name, record in
      if record.epoch != epoch, record.isInStore { body(&namespace, name) }
    }
  }

  /// Calls `body` for the store's names, those that are not shown included; as `visitNames`.
  mutating func visitStoreNames(
    of directory: NodeIndex, from cursor: NameCursor, limit: Int, _ body: (inout Namespace, NameIndex) -> Void
  ) -> NameCursor? {
    visitNames(of: directory, from: cursor, limit: limit) { namespace, name, record in
      if record.isInStore { body(&namespace, name) }
    }
  }

  /// Takes away the names that the last listing did not see; as `visitNames`.
  mutating func dropVanishedNames(
    of directory: NodeIndex, from cursor: NameCursor, limit: Int, use: ItemUse
  ) -> NameCursor? {
    visitVanishedNames(of: directory, from: cursor, limit: limit) { namespace, name in
      _ = namespace.mergeVanished(name, use: use)
    }
  }

  /// Takes away all names of a directory, which is gone itself; as `visitNames`.
  mutating func dropAllNames(of directory: NodeIndex, from cursor: NameCursor, limit: Int) -> NameCursor? {
    visitNames(of: directory, from: cursor, limit: limit) { namespace, name, record in
      guard !record.isLocal else { return }
      namespace.setStanding(.gone, of: name)
      // It was moved out of the directory, or has another name elsewhere; or was removed here before.
      guard !namespace.isBound(record.node) else { return }
      if !namespace[record.node].isOrphan {
        namespace.noteUnbound(record.node)
      } else if record.standing == .removed, namespace[record.node].kind == .directory {
        namespace.addOrphan(record.node)
      }
    }
  }

  /// Copies the names of a directory, those that are gone included; as `visitNames`.
  mutating func copyNames(
    of directory: NodeIndex, from cursor: NameCursor, limit: Int, into texts: inout [[UInt8]]
  ) -> NameCursor? {
    visitNames(of: directory, from: cursor, limit: limit) { namespace, name, _ in
      texts.append(Array(namespace.text(of: name)))
    }
  }

  /// Hands out the entries of a listed directory.
  ///
  /// Cookies: 1 after `.`, 2 after `..`, then the entry's name index + 2. Gone entries keep their place in the list
  /// while the directory is open or held, so a cookie stays valid as long as that.
  func readDirectory(
    _ directory: NodeIndex, from cookie: UInt64, _ body: (DirectoryEntryView) -> Bool
  ) -> DirectoryRead {
    let dot: StaticString = "."
    let dotDot: StaticString = ".."
    let own = attributes(of: directory)
    if cookie < 1 {
      let name = UnsafeBufferPointer(start: dot.utf8Start, count: 1)
      guard body(DirectoryEntryView(name: name, nextCookie: 1, node: nil, attributes: own)) else { return .filled }
    }
    if cookie < 2 {
      let name = UnsafeBufferPointer(start: dotDot.utf8Start, count: 2)
      var parent = own
      parent.inode = parentInode(of: directory)
      guard body(DirectoryEntryView(name: name, nextCookie: 2, node: nil, attributes: parent)) else { return .filled }
    }
    var name: NameIndex
    if cookie <= 2 {
      name = self[directory].firstChild
    } else {
      guard let last = self.name(at: cookie - 2, in: directory) else { return .failed(.invalidArgument) }
      name = record(of: last).nextSibling
    }
    while name != .end {
      let record = record(of: name)
      if record.isPresent {
        let snapshot = snapshot(of: record.node)
        let view = DirectoryEntryView(
          name: text(of: name), nextCookie: UInt64(name.rawValue) + 2, node: snapshot.node,
          index: record.node, attributes: snapshot.attributes)
        guard body(view) else { return .filled }
      }
      name = record.nextSibling
    }
    return .filled
  }
}
