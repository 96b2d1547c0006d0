public import SystemPackage

/// One item as a caller sees it.
public struct ItemSnapshot: Sendable {
  public var node: NodeID
  /// SOURCE's metadata; `blocks` and `changeTime` are what the volume presents.
  public var attributes: ItemAttributes
  /// Whether content (or a listing) is absent, a fetch under way included.
  public var isDataless: Bool

  public init(node: NodeID, attributes: ItemAttributes, isDataless: Bool) {
    self.node = node
    self.attributes = attributes
    self.isDataless = isDataless
  }
}

/// What a lookup or a directory read found.
public enum NameLookup: Sendable {
  case found(ItemSnapshot)
  case absent
  /// The directory is dataless: materialize it, then look again.
  case needsListing
  case failed(Errno)
}

/// What a directory read did.
public enum DirectoryRead: Sendable {
  case filled
  case needsListing
  case failed(Errno)
}

/// One entry on its way into a directory buffer. `name` is valid only during the call that receives it.
public struct DirectoryEntryView {
  public var name: UnsafeBufferPointer<UInt8>
  /// Where a later read goes on after this entry. Stable while mounted.
  public var nextCookie: UInt64
  /// nil for `.` and `..`, of which only `attributes.inode` and `.mode` count.
  public var node: NodeID?
  public var attributes: ItemAttributes
}

extension Catalog {
  /// What the volume presents of a node.
  func snapshot(at position: Int) -> ItemSnapshot {
    var attributes = self.attributes(at: position)
    let record = inodes[position]
    let isDataless = record.canBeDataless && record.state != .resident
    if record.kind == .file, record.size > 0 {
      attributes.blocks = isDataless ? blocksWithoutContent(position, record) : presentedBlocks(record)
      if !movedChangeTimes.isEmpty, let moved = movedChangeTimes[position] { attributes.changeTime = moved }
    }
    return ItemSnapshot(
      node: NodeID(rawValue: UInt64(position)), attributes: attributes, isDataless: isDataless)
  }

  /// The blocks of a file that is not resident: of what is there, or as is presented for a dataless one.
  private func blocksWithoutContent(_ position: Int, _ record: InodeRecord) -> Int64 {
    if !partialBlocks.isEmpty, let blocks = partialBlocks[position] { return blocks }
    switch datalessBlocks {
    case .zero: return 0
    case .one: return 1
    case .real: return presentedBlocks(record)
    }
  }

  /// A resident file's blocks: SOURCE's own, unless SOURCE says 0 for a file with content (data kept in the inode),
  /// which would make a resident file look dataless.
  private func presentedBlocks(_ record: InodeRecord) -> Int64 {
    record.blocks > 0 ? record.blocks : (record.size >> 12 + (record.size & 4095 == 0 ? 0 : 1)) * 8
  }

  /// The inode number a directory reports for `..`.
  func parentInode(of position: Int) -> UInt64 {
    let dentry = inodes[position].firstDentry
    guard dentry != 0 else { return inodes[position].inode }
    return inodes[Int(dentries[Int(dentry)].parent)].inode
  }
}

extension Engine {
  /// stat(2) of a node; nil for a node that was never handed out (ESTALE).
  public func attributes(of node: NodeID) -> ItemSnapshot? {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return nil }
      if state.catalog.inodes[position].stats < .max { state.catalog.inodes[position].stats += 1 }
      return state.catalog.snapshot(at: position)
    }
  }

  /// Looks up one name in a directory. What is found counts as a lookup by the kernel, see `forget`.
  public func lookup(_ name: UnsafeBufferPointer<UInt8>, in parent: NodeID) -> NameLookup {
    while true {
      if let answer = tryLookup(name, in: parent) { return answer }
    }
  }

  /// - Returns: nil when more of the directory's names have to be indexed first: a bounded number under one lock.
  private func tryLookup(_ name: UnsafeBufferPointer<UInt8>, in parent: NodeID) -> NameLookup? {
    state.withLock { state in
      guard let position = state.catalog.position(of: parent) else { return .failed(.staleNFSFileHandle) }
      guard state.catalog.inodes[position].kind == .directory else { return .failed(.notDirectory) }
      guard name.count <= Catalog.nameLengthMax else { return .failed(.fileNameTooLong) }
      guard state.catalog.inodes[position].state == .resident else { return .needsListing }
      guard state.catalog.indexNames(of: position) else { return nil }
      let dentry = state.catalog.dentry(in: position, name: name)
      guard dentry != 0 else { return .absent }
      let child = Int(state.catalog.dentries[Int(dentry)].node)
      if state.catalog.inodes[child].stats < .max { state.catalog.inodes[child].stats += 1 }
      state.catalog.countLookup(of: child)
      return .found(state.catalog.snapshot(at: child))
    }
  }

  /// Entries that count as lookups, in one answer.
  private static let countedMax = 1024

  /// Hands out the entries of a listed directory from a cookie on (0 = start), until `body` returns false, which means that it
  /// has not taken the entry.
  ///
  /// `body` runs under the engine's lock: it may only copy bytes, and must stop after at most some hundred entries.
  ///
  /// - Parameter countsLookups: Whether each entry that is taken counts as a lookup by the kernel (READDIRPLUS), see `forget`.
  public func readDirectory(
    _ node: NodeID, from cookie: UInt64, countsLookups: Bool = false, _ body: (DirectoryEntryView) -> Bool
  ) -> DirectoryRead {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return .failed(.staleNFSFileHandle) }
      guard state.catalog.inodes[position].kind == .directory else { return .failed(.notDirectory) }
      guard state.catalog.inodes[position].state == .resident else { return .needsListing }
      guard countsLookups else { return state.catalog.readDirectory(position, from: cookie, body) }
      // As many as an answer holds.
      return withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.countedMax) { taken in
        var count = 0
        let read = state.catalog.readDirectory(position, from: cookie) { entry in
          guard count < taken.count, body(entry) else { return false }
          if let node = entry.node {
            taken[count] = UInt32(truncatingIfNeeded: node.rawValue)
            count += 1
          }
          return true
        }
        for node in taken[..<count] { state.catalog.countLookup(of: Int(node)) }
        return read
      }
    }
  }

}

extension Catalog {
  /// Cookies: 1 after `.`, 2 after `..`, then the entry's dentry + 2. Gone entries keep their place in the list, so a
  /// cookie stays valid for as long as the volume is mounted.
  func readDirectory(_ position: Int, from cookie: UInt64, _ body: (DirectoryEntryView) -> Bool) -> DirectoryRead {
    let dot: StaticString = "."
    let dotDot: StaticString = ".."
    let own = attributes(at: position)
    if cookie < 1 {
      let name = UnsafeBufferPointer(start: dot.utf8Start, count: 1)
      guard body(DirectoryEntryView(name: name, nextCookie: 1, node: nil, attributes: own)) else { return .filled }
    }
    if cookie < 2 {
      let name = UnsafeBufferPointer(start: dotDot.utf8Start, count: 2)
      var parent = own
      parent.inode = parentInode(of: position)
      guard body(DirectoryEntryView(name: name, nextCookie: 2, node: nil, attributes: parent)) else { return .filled }
    }
    var dentry: UInt32
    if cookie <= 2 {
      dentry = inodes[position].firstChild
    } else {
      let resumed = cookie - 2
      guard resumed < UInt64(dentries.count), dentries[Int(resumed)].parent == UInt32(position) else {
        return .failed(.invalidArgument)
      }
      dentry = dentries[Int(resumed)].nextSibling
    }
    while dentry != 0 {
      let record = dentries[Int(dentry)]
      if !record.isGone {
        let snapshot = snapshot(at: Int(record.node))
        let view = DirectoryEntryView(
          name: name(of: Int(dentry)), nextCookie: UInt64(dentry) + 2, node: snapshot.node,
          attributes: snapshot.attributes)
        guard body(view) else { return .filled }
      }
      dentry = record.nextSibling
    }
    return .filled
  }
}
