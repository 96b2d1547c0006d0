/// Names and metadata as a listing brings them.
extension Catalog {
  /// Starts a listing: names that it does not report count as gone when it finishes.
  ///
  /// It looks for each name that an earlier one left, so these are indexed first, a bounded number under each lock. Asked in
  /// the same step as it starts: a directory that was empty when it was looked at may have been listed anew since.
  ///
  /// - Returns: False when more have to be indexed, and nothing has begun: call again.
  mutating func beginListing(of directory: Int) -> Bool {
    guard indexNames(of: directory) else { return false }
    inodes[directory].listingEpoch &+= 1
    inodes[directory].isRelisted = inodes[directory].firstChild != 0
    return true
  }

  /// Adds one listed name, or refreshes it.
  ///
  /// - Parameter isOpen: Whether a node has open handles.
  /// - Returns: False when the tables are full (2^32 names, or 4 GiB of names).
  mutating func insert(
    _ name: UnsafeBufferPointer<UInt8>, _ attributes: ItemAttributes, into directory: Int, isOpen: (Int) -> Bool
  ) -> Bool {
    // A name that the kernel's protocol cannot carry (FUSE_NAME_MAX) is left out.
    guard 1...Self.nameLengthMax ~= name.count else { return true }
    // Nothing is known of a directory that is listed for the first time. If a race in SOURCE makes its listing name an entry
    // twice, the volume does too, as SOURCE did.
    let existing = inodes[directory].isRelisted ? Int(anyDentry(in: directory, name: name)) : 0
    guard existing != 0 else {
      guard let node = node(for: attributes) else { return false }
      return addName(name, of: node, in: directory) != 0
    }
    // Seen first: what is about to get its name back has one.
    setGone(false, existing)
    dentries[existing].epoch = inodes[directory].listingEpoch
    if relist(existing, attributes, keeps: false, isOpen) == .other {
      guard let node = node(for: attributes) else { return false }
      relink(existing, to: node)
    }
    return true
  }

  /// Adds a name to a directory, behind the others. - Returns: Its place; 0 when the tables are full.
  mutating func addName(_ name: UnsafeBufferPointer<UInt8>, of node: Int, in directory: Int) -> Int {
    guard dentries.count < Int(UInt32.max), let nameOffset = names.append(name) else { return 0 }
    let dentry = UInt32(
      dentries.append(
        DentryRecord(
          parent: UInt32(directory), node: UInt32(node), nameOffset: nameOffset, nextSibling: 0, nextInBucket: 0,
          hash: 0, nextOfInode: inodes[node].firstDentry, nameLength: UInt16(name.count),
          epoch: inodes[directory].listingEpoch, isGone: false)))
    inodes[node].firstDentry = dentry
    if isBusy(inodes[node]) { inodes[directory].busyChildren += 1 }
    let last = inodes[directory].lastChild
    if last == 0 { inodes[directory].firstChild = dentry } else { dentries[Int(last)].nextSibling = dentry }
    inodes[directory].lastChild = dentry
    if inodes[directory].isIndexed { enter(dentry) }
    if inodes[node].isOrphan { noteNames(of: node) }
    return Int(dentry)
  }

  /// Marks the names that the listing did not see, a bounded number at a time.
  ///
  /// - Parameter cursor: 0 to start; the return value to go on.
  /// - Returns: Where to go on; nil at the end.
  mutating func dropVanishedNames(of directory: Int, from cursor: UInt32, limit: Int) -> UInt32? {
    visitVanishedNames(of: directory, from: cursor, limit: limit) { catalog, dentry in catalog.setGone(true, dentry) }
  }

  /// Calls `body` for the names that are there and that the last listing did not see; as `dropVanishedNames`.
  mutating func visitVanishedNames(
    of directory: Int, from cursor: UInt32, limit: Int, _ body: (inout Catalog, Int) -> Void
  ) -> UInt32? {
    var dentry = cursor == 0 ? inodes[directory].firstChild : cursor
    var left = limit
    let epoch = inodes[directory].listingEpoch
    while dentry != 0 {
      if left == 0 { return dentry }
      left -= 1
      let record = dentries[Int(dentry)]
      if record.epoch != epoch, !record.isGone { body(&self, Int(dentry)) }
      dentry = record.nextSibling
    }
    return nil
  }

  /// Copies the names of a directory, those that are gone included, a bounded number at a time; as `dropVanishedNames`.
  func copyNames(of directory: Int, from cursor: UInt32, limit: Int, into names: inout [[UInt8]]) -> UInt32? {
    var dentry = cursor == 0 ? inodes[directory].firstChild : cursor
    var left = limit
    while dentry != 0 {
      if left == 0 { return dentry }
      left -= 1
      names.append(Array(name(of: Int(dentry))))
      dentry = dentries[Int(dentry)].nextSibling
    }
    return nil
  }

  /// Marks the names of a directory that is gone itself, a bounded number at a time; as `dropVanishedNames`.
  mutating func dropAllNames(of directory: Int, from cursor: UInt32, limit: Int) -> UInt32? {
    var dentry = cursor == 0 ? inodes[directory].firstChild : cursor
    var left = limit
    while dentry != 0 {
      if left == 0 { return dentry }
      left -= 1
      let next = dentries[Int(dentry)].nextSibling
      setGone(true, Int(dentry))
      dentry = next
    }
    return nil
  }

  /// A name that is gone does not keep its directory busy.
  mutating func setGone(_ isGone: Bool, _ dentry: Int) {
    guard dentries[dentry].isGone != isGone else { return }
    dentries[dentry].isGone = isGone
    let node = Int(dentries[dentry].node)
    if isBusy(inodes[node]) {
      let parent = Int(dentries[dentry].parent)
      if isGone { inodes[parent].busyChildren -= 1 } else { inodes[parent].busyChildren += 1 }
    }
    noteNames(of: node)
  }

  /// Gives a name to another node. The one that had it may be left without any.
  mutating func relink(_ dentry: Int, to node: Int) {
    let old = Int(dentries[dentry].node)
    guard old != node else { return }
    let parent = Int(dentries[dentry].parent)
    let isPresent = !dentries[dentry].isGone
    unlink(dentry, from: old)
    dentries[dentry].node = UInt32(node)
    dentries[dentry].nextOfInode = inodes[node].firstDentry
    inodes[node].firstDentry = UInt32(dentry)
    if isPresent {
      if isBusy(inodes[old]) { inodes[parent].busyChildren -= 1 }
      if isBusy(inodes[node]) { inodes[parent].busyChildren += 1 }
    }
    if inodes[old].firstDentry == 0, dentries.count < Int(UInt32.max) {
      // A name that no listing shows, so that records can still say what the old one was.
      var former = dentries[dentry]
      former.node = UInt32(old)
      former.isGone = true
      former.nextOfInode = 0
      former.nextSibling = 0
      former.nextInBucket = 0
      inodes[old].firstDentry = UInt32(dentries.append(former))
    }
    noteNames(of: old)
    noteNames(of: node)
  }

  /// Takes one name out of the list of an inode's names.
  private mutating func unlink(_ dentry: Int, from position: Int) {
    let next = dentries[dentry].nextOfInode
    if inodes[position].firstDentry == UInt32(dentry) {
      inodes[position].firstDentry = next
      return
    }
    var current = Int(inodes[position].firstDentry)
    while current != 0 {
      if dentries[current].nextOfInode == UInt32(dentry) {
        dentries[current].nextOfInode = next
        return
      }
      current = Int(dentries[current].nextOfInode)
    }
  }

  /// Notes whether a node has a name, after its names have changed.
  private mutating func noteNames(of position: Int) {
    guard position != Int(NodeID.root.rawValue) else { return }
    let dentry = presentDentry(of: position)
    let isOrphan = dentry == 0 || dentries[dentry].isGone
    guard inodes[position].isOrphan != isOrphan else { return }
    if isOrphan {
      counts.remove(inodes[position])
      orphaned.append(position)
    } else {
      counts.add(inodes[position])
    }
    inodes[position].isOrphan = isOrphan
  }

  /// The nodes that have lost their last name since this was asked last; they may have another one by now. There may be very
  /// many: they are handed over as they are.
  mutating func takeOrphans() -> [Int] {
    var taken: [Int] = []
    swap(&taken, &orphaned)
    return taken
  }

  /// The node for listed metadata: the one that another name of the same file has, or a new one; nil when full.
  mutating func node(for attributes: ItemAttributes) -> Int? {
    if let known = sharedNode(for: attributes) { return known }
    guard inodes.count < Int(UInt32.max), let deviceIndex = deviceIndex(attributes.device) else { return nil }
    let node = inodes.append(InodeRecord(attributes, deviceIndex: deviceIndex))
    counts.add(inodes[node])
    noteShared(node, attributes)
    return node
  }

  /// Whichever name of a file with several is seen next is to be this node.
  func isShared(_ attributes: ItemAttributes) -> Bool { attributes.linkCount > 1 && attributes.kind != .directory }

  mutating func noteShared(_ position: Int, _ attributes: ItemAttributes) {
    if isShared(attributes) { hardLinks[StoreIdentity(attributes)] = UInt32(position) }
  }

  /// The node of a file with several names, if one of them is known.
  ///
  /// Only the same version is the same file for certain: SOURCE gives the inode number of a removed file to the next one. If
  /// it is the same file and was changed meanwhile, its two names are two nodes, of which the older is stale.
  func sharedNode(for attributes: ItemAttributes) -> Int? {
    guard isShared(attributes), let known = hardLinks[StoreIdentity(attributes)],
      // Another kind is another item, whatever its times say: a node's counts and its state go by its kind.
      inodes[Int(known)].kind == attributes.kind, self.attributes(at: Int(known)).isSameVersion(as: attributes)
    else { return nil }
    return Int(known)
  }

  func deviceIndex(known device: UInt64) -> UInt16? { devices.firstIndex(of: device).map { UInt16($0) } }

  mutating func deviceIndex(_ device: UInt64) -> UInt16? {
    if let known = deviceIndex(known: device) { return known }
    guard devices.count < Int(UInt16.max) else { return nil }
    devices.append(device)
    return UInt16(devices.count - 1)
  }
}
