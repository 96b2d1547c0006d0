internal import SystemPackage

/// The namespace the kernel knows, in flat tables: about 150 bytes for each file, and no object.
///
/// A node id is an index into the inode table and is never reused while mounted. Names that vanish stay as gone entries.
/// Not thread-safe: used only under the engine's lock, each call in time proportional to what it returns.
struct Catalog: ~Copyable {
  var inodes = SegmentedTable<InodeRecord>()
  var dentries = SegmentedTable<DentryRecord>()
  private var names = NameArena()
  private var index = DentryIndex()
  /// Directories whose names are being indexed, with the next dentry.
  private var indexing: [Int: UInt32] = [:]
  private var devices: [UInt64] = []
  /// Files with several names, by what makes them the same file: whichever name is seen first, it is one node.
  private var hardLinks: [HardLinkKey: UInt32] = [:]
  var counts = CatalogCounts()
  /// st_blocks of files without their content.
  var datalessBlocks = Presentation.Blocks.zero
  /// Whether st_ctime moves when content comes.
  var bumpsChangeTime = false
  /// The moved times, by node; empty unless they move.
  var movedChangeTimes: [Int: Timestamp] = [:]
  /// The time of day, for moved times alone.
  private let timeOfDay: @Sendable () -> Timestamp
  /// Nodes whose metadata a renewed listing has changed, for the kernel to be told before anybody is answered.
  private var changed: [UInt32] = []
  /// What st_blocks shows of files that are partly there.
  private(set) var partialBlocks: [Int: Int64] = [:]

  private struct HardLinkKey: Hashable {
    let device: UInt64
    let inode: UInt64

    init(_ attributes: ItemAttributes) {
      device = attributes.device
      inode = attributes.inode
    }
  }

  /// - Parameter timeOfDay: CLOCK_REALTIME, or a test's own time; called under the engine's lock.
  init(
    root: ItemAttributes,
    timeOfDay: @escaping @Sendable () -> Timestamp = { Timestamp(seconds: 0, nanoseconds: 0) }
  ) {
    self.timeOfDay = timeOfDay
    // Index 0 of either table means "none".
    let unused = ItemAttributes(
      device: 0, inode: 0, mode: 0, linkCount: 0, uid: 0, gid: 0, specialDevice: 0, size: 0, blocks: 0,
      accessTime: Timestamp(seconds: 0, nanoseconds: 0), modificationTime: Timestamp(seconds: 0, nanoseconds: 0),
      changeTime: Timestamp(seconds: 0, nanoseconds: 0))
    devices = [root.device]
    _ = inodes.append(InodeRecord(unused, deviceIndex: 0))
    _ = dentries.append(
      DentryRecord(
        parent: 0, node: 0, nameOffset: 0, nextSibling: 0, nextInBucket: 0, hash: 0, nextOfInode: 0, nameLength: 0,
        epoch: 0,
        isGone: true))
    let rootIndex = inodes.append(InodeRecord(root, deviceIndex: 0))
    precondition(rootIndex == Int(NodeID.root.rawValue), "the root is node 1")
    counts.add(inodes[rootIndex])
  }

  /// The record index of a node the kernel names; nil for one this catalog never handed out.
  func position(of node: NodeID) -> Int? {
    guard node.rawValue > 0, node.rawValue < UInt64(inodes.count) else { return nil }
    return Int(node.rawValue)
  }

  /// The listed metadata of a node.
  func attributes(at position: Int) -> ItemAttributes {
    inodes[position].attributes(device: devices[Int(inodes[position].deviceIndex)])
  }

  /// FUSE_NAME_MAX of the kernel. Most file systems stop at 255 bytes, but not all.
  static let nameLengthMax = 1024

  /// Names put into the hash table under one lock: about 50 us.
  private static let indexStep = 512

  /// Puts names of a directory into the hash table, a bounded number at a time. Most directories are walked and never
  /// searched: the kernel gets their names by READDIRPLUS, and a name that is not searched needs no place in the table.
  ///
  /// - Returns: Whether all are there; otherwise call again.
  mutating func indexNames(of directory: Int) -> Bool {
    // Nothing to enter yet: what a first listing brings stays out.
    if inodes[directory].isIndexed || inodes[directory].firstChild == 0 { return true }
    var dentry = indexing[directory] ?? inodes[directory].firstChild
    var left = Self.indexStep
    while dentry != 0 {
      if left == 0 {
        indexing[directory] = dentry
        return false
      }
      left -= 1
      let next = dentries[Int(dentry)].nextSibling
      enter(dentry)
      dentry = next
    }
    indexing[directory] = nil
    inodes[directory].isIndexed = true
    return true
  }

  private mutating func enter(_ dentry: UInt32) {
    dentries[Int(dentry)].hash = DentryIndex.hash(
      parent: dentries[Int(dentry)].parent, name: name(of: Int(dentry)))
    index.insert(dentry, into: &dentries)
  }

  /// Finds a present name in an indexed directory; 0 when it has none.
  func dentry(in parent: Int, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let found = anyDentry(in: parent, name: name)
    return found != 0 && !dentries[Int(found)].isGone ? found : 0
  }

  private func anyDentry(in parent: Int, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let parent = UInt32(parent)
    let hash = DentryIndex.hash(parent: parent, name: name)
    var candidate = index.head(hash)
    while candidate != 0 {
      let record = dentries[Int(candidate)]
      if record.hash == hash, record.parent == parent, Int(record.nameLength) == name.count,
        names.name(at: record.nameOffset, length: record.nameLength).elementsEqual(name)
      {
        return candidate
      }
      candidate = record.nextInBucket
    }
    return 0
  }

  /// The bytes of a name, valid as long as the catalog.
  func name(of dentry: Int) -> UnsafeBufferPointer<UInt8> {
    names.name(at: dentries[dentry].nameOffset, length: dentries[dentry].nameLength)
  }

  /// The path of a node from the root, without a leading slash; for a hard link, by its first known name.
  func path(of position: Int) -> [UInt8] {
    var chain: [Int] = []
    var length = 0
    var current = position
    while current != Int(NodeID.root.rawValue) {
      let dentry = presentDentry(of: current)
      guard dentry != 0 else { break }
      chain.append(dentry)
      length += Int(dentries[dentry].nameLength) + 1
      current = Int(dentries[dentry].parent)
    }
    var path: [UInt8] = []
    path.reserveCapacity(length)
    for dentry in chain.reversed() {
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      path.append(contentsOf: name(of: dentry))
    }
    return path
  }

  /// A name of the node that is still there; otherwise its last name, so that a record can say what it was.
  private func presentDentry(of position: Int) -> Int {
    let first = inodes[position].firstDentry
    var dentry = first
    while dentry != 0 {
      if !dentries[Int(dentry)].isGone { return Int(dentry) }
      dentry = dentries[Int(dentry)].nextOfInode
    }
    return Int(first)
  }

  // MARK: - Listings

  /// Starts a listing: names that it does not report count as gone when it finishes. Names of an earlier one are indexed.
  mutating func beginListing(of directory: Int) {
    precondition(inodes[directory].isIndexed || inodes[directory].firstChild == 0, "a renewed listing looks for names")
    inodes[directory].listingEpoch &+= 1
    inodes[directory].isRelisted = inodes[directory].firstChild != 0
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
    let epoch = inodes[directory].listingEpoch
    // Nothing is known of a directory that is listed for the first time. If a race in SOURCE makes its listing name an entry
    // twice, the volume does too, as SOURCE did.
    let existing = inodes[directory].isRelisted ? anyDentry(in: directory, name: name) : 0
    if existing != 0 {
      refresh(Int(existing), attributes, isOpen)
      dentries[Int(existing)].epoch = epoch
      setGone(false, Int(existing))
      return true
    }
    guard let nameOffset = names.append(name), dentries.count < Int(UInt32.max), let node = node(for: attributes) else {
      return false
    }
    let dentry = UInt32(
      dentries.append(
        DentryRecord(
          parent: UInt32(directory), node: UInt32(node), nameOffset: nameOffset, nextSibling: 0, nextInBucket: 0,
          hash: 0, nextOfInode: inodes[node].firstDentry,
          nameLength: UInt16(name.count), epoch: epoch, isGone: false)))
    inodes[node].firstDentry = dentry
    if isBusy(inodes[node]) { inodes[directory].busyChildren += 1 }
    let last = inodes[directory].lastChild
    if last == 0 { inodes[directory].firstChild = dentry } else { dentries[Int(last)].nextSibling = dentry }
    inodes[directory].lastChild = dentry
    if inodes[directory].isIndexed { enter(dentry) }
    return true
  }

  /// Marks the names that the listing did not see, a bounded number at a time.
  ///
  /// - Parameter cursor: 0 to start; the return value to go on.
  /// - Returns: Where to go on; nil at the end.
  mutating func dropVanishedNames(of directory: Int, from cursor: UInt32, limit: Int) -> UInt32? {
    guard inodes[directory].isRelisted else { return nil }
    var dentry = cursor == 0 ? inodes[directory].firstChild : cursor
    var left = limit
    let epoch = inodes[directory].listingEpoch
    while dentry != 0 {
      if left == 0 { return dentry }
      left -= 1
      if dentries[Int(dentry)].epoch != epoch { setGone(true, Int(dentry)) }
      dentry = dentries[Int(dentry)].nextSibling
    }
    return nil
  }

  /// A name that is gone does not keep its directory busy.
  private mutating func setGone(_ isGone: Bool, _ dentry: Int) {
    guard dentries[dentry].isGone != isGone else { return }
    dentries[dentry].isGone = isGone
    guard isBusy(inodes[Int(dentries[dentry].node)]) else { return }
    let parent = Int(dentries[dentry].parent)
    if isGone { inodes[parent].busyChildren -= 1 } else { inodes[parent].busyChildren += 1 }
  }

  /// An existing name listed again: the same item takes over the new metadata, another item takes over the name.
  ///
  /// A node with other names, with open handles or with local content keeps the version it has; if SOURCE has another one by
  /// now, the name gets a node of its own, and what is open reads the old version or ESTALE.
  private mutating func refresh(_ dentry: Int, _ attributes: ItemAttributes, _ isOpen: (Int) -> Bool) {
    let position = Int(dentries[dentry].node)
    let known = self.attributes(at: position)
    guard known != attributes else { return }
    let isSameItem =
      known.inode == attributes.inode && known.device == attributes.device && known.kind == attributes.kind
    let isOnlyName = inodes[position].firstDentry == UInt32(dentry) && dentries[dentry].nextOfInode == 0
    let isTaken = isBusy(inodes[position]) || (known.kind == .file && isOpen(position))
    let twin = sharedNode(for: attributes).flatMap { $0 == position ? nil : $0 }
    if isSameItem, twin == nil, isOnlyName || known.isSameVersion(as: attributes),
      !isTaken || known.kind != .file || known.isSameVersion(as: attributes)
    {
      if !isBusy(inodes[position]) {
        update(position, attributes)
        changed.append(UInt32(position))
      }
    } else if let node = node(for: attributes) {
      let parent = Int(dentries[dentry].parent)
      unlink(dentry, from: position)
      dentries[dentry].node = UInt32(node)
      dentries[dentry].nextOfInode = inodes[node].firstDentry
      inodes[node].firstDentry = UInt32(dentry)
      if !dentries[dentry].isGone {
        if isBusy(inodes[position]) { inodes[parent].busyChildren -= 1 }
        if isBusy(inodes[node]) { inodes[parent].busyChildren += 1 }
      }
    }
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

  /// The node for listed metadata: the one that another name of the same file has, or a new one; nil when full.
  private mutating func node(for attributes: ItemAttributes) -> Int? {
    if let known = sharedNode(for: attributes) { return known }
    guard inodes.count < Int(UInt32.max), let deviceIndex = deviceIndex(attributes.device) else { return nil }
    let node = inodes.append(InodeRecord(attributes, deviceIndex: deviceIndex))
    counts.add(inodes[node])
    if Self.isShared(attributes) { hardLinks[HardLinkKey(attributes)] = UInt32(node) }
    return node
  }

  private static func isShared(_ attributes: ItemAttributes) -> Bool {
    attributes.linkCount > 1 && attributes.kind != .directory
  }

  /// The node of a file with several names, if one of them is known.
  ///
  /// Only the same version is the same file for certain: SOURCE gives the inode number of a removed file to the next one. If
  /// it is the same file and was changed meanwhile, its two names are two nodes, of which the older is stale.
  private func sharedNode(for attributes: ItemAttributes) -> Int? {
    guard Self.isShared(attributes), let known = hardLinks[HardLinkKey(attributes)],
      self.attributes(at: Int(known)).isSameVersion(as: attributes)
    else { return nil }
    return Int(known)
  }

  private mutating func update(_ position: Int, _ attributes: ItemAttributes) {
    counts.remove(inodes[position])
    inodes[position].update(attributes)
    movedChangeTimes[position] = nil
    counts.add(inodes[position])
  }

  private mutating func deviceIndex(_ device: UInt64) -> UInt16? {
    if let known = devices.firstIndex(of: device) { return UInt16(known) }
    guard devices.count < Int(UInt16.max) else { return nil }
    devices.append(device)
    return UInt16(devices.count - 1)
  }

  /// The nodes whose metadata changed since this was asked last.
  mutating func takeChangedNodes() -> [NodeID] {
    defer { changed.removeAll() }
    return changed.map { NodeID(rawValue: UInt64($0)) }
  }

  // MARK: - States

  /// What st_blocks shows of a file that is partly there; nil: nothing of it.
  mutating func setPartialBlocks(_ blocks: Int64?, of position: Int) { partialBlocks[position] = blocks }

  /// Whether a node keeps its directory from becoming dataless: it holds, or is about to hold, something local.
  private func isBusy(_ record: InodeRecord) -> Bool { record.canBeDataless && record.state != .dataless }

  /// Changes the content state of a node, keeping the counts of its directories and of the volume.
  mutating func setState(_ state: ContentState, of position: Int) {
    let wasBusy = isBusy(inodes[position])
    counts.remove(inodes[position])
    inodes[position].state = state
    counts.add(inodes[position])
    if bumpsChangeTime, state == .resident, inodes[position].kind == .file { movedChangeTimes[position] = timeOfDay() }
    let isBusy = isBusy(inodes[position])
    guard wasBusy != isBusy else { return }
    var dentry = inodes[position].firstDentry
    while dentry != 0 {
      defer { dentry = dentries[Int(dentry)].nextOfInode }
      guard !dentries[Int(dentry)].isGone else { continue }
      let parent = Int(dentries[Int(dentry)].parent)
      if isBusy { inodes[parent].busyChildren += 1 } else { inodes[parent].busyChildren -= 1 }
    }
  }
}
