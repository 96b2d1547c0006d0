/// The namespace the kernel knows, in flat tables: about 170 bytes for each file, and no object.
///
/// A node id is an index into the inode table and is never reused while mounted. Names that vanish stay as gone entries.
/// Not thread-safe: used only under the engine's lock, each call in time proportional to what it returns.
struct Catalog: ~Copyable {
  var inodes = SegmentedTable<InodeRecord>()
  var dentries = SegmentedTable<DentryRecord>()
  var names = NameArena()
  private var index: DentryIndex
  /// Directories whose names are being indexed, with the next dentry.
  private var indexing: [Int: UInt32] = [:]
  var devices: [UInt64] = []
  /// Files with several names, by what makes them the same file: whichever name is seen first, it is one node.
  var hardLinks: [StoreIdentity: UInt32] = [:]
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
  var changed: [UInt32] = []
  /// What st_blocks shows of files that are partly there.
  private(set) var partialBlocks: [Int: Int64] = [:]
  /// Nodes that have lost their last name since this was asked last.
  var orphaned: [Int] = []
  /// Files that keep an older version than the store has, with the newer one: what they become when they are evicted.
  var kept: [Int: ItemAttributes] = [:]

  /// - Parameter timeOfDay: CLOCK_REALTIME, or a test's own time; called under the engine's lock.
  init(
    root: ItemAttributes, nameKey: NameHashKey = NameHashKey(low: 0, high: 0),
    timeOfDay: @escaping @Sendable () -> Timestamp = { Timestamp(seconds: 0, nanoseconds: 0) }
  ) {
    self.timeOfDay = timeOfDay
    index = DentryIndex(key: nameKey)
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

  mutating func enter(_ dentry: UInt32) {
    dentries[Int(dentry)].hash = index.hash(
      parent: dentries[Int(dentry)].parent, name: name(of: Int(dentry)))
    index.insert(dentry, into: &dentries)
  }

  /// Finds a present name in an indexed directory; 0 when it has none.
  func dentry(in parent: Int, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let found = anyDentry(in: parent, name: name)
    return found != 0 && !dentries[Int(found)].isGone ? found : 0
  }

  func anyDentry(in parent: Int, name: UnsafeBufferPointer<UInt8>) -> UInt32 {
    let parent = UInt32(parent)
    let hash = index.hash(parent: parent, name: name)
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
  func path(of position: Int) -> [UInt8] { path(ofName: presentDentry(of: position)) }

  /// LIMIT: names of one file that are told, and that rules are asked about: each is put together under the lock.
  private static let namesMax = 256

  /// All known names of a file that has several, as paths, the one of `path(of:)` first; else none.
  func names(of position: Int) -> [[UInt8]] {
    let first = presentDentry(of: position)
    guard first != 0, inodes[position].kind != .directory else { return [] }
    var names: [[UInt8]] = []
    var dentry = inodes[position].firstDentry
    while dentry != 0, names.count < Self.namesMax {
      if !dentries[Int(dentry)].isGone, Int(dentry) != first { names.append(path(ofName: Int(dentry))) }
      dentry = dentries[Int(dentry)].nextOfInode
    }
    return names.isEmpty ? [] : [path(ofName: first)] + names
  }

  /// The path of one name, present or gone; empty for 0.
  func path(ofName dentry: Int) -> [UInt8] {
    var chain: [Int] = []
    var length = 0
    var dentry = dentry
    while dentry != 0, chain.count < Self.depthMax {
      chain.append(dentry)
      length += Int(dentries[dentry].nameLength) + 1
      dentry = presentDentry(of: Int(dentries[dentry].parent))
    }
    var path: [UInt8] = []
    path.reserveCapacity(length)
    for dentry in chain.reversed() {
      if !path.isEmpty { path.append(UInt8(ascii: "/")) }
      path.append(contentsOf: name(of: dentry))
    }
    return path
  }

  /// LIMIT: levels of a path. A store that names one directory in several places could make a ring of them.
  static let depthMax = 1 << 16

  /// Whether a directory is, or lies in, another one.
  func holds(_ directory: Int, _ position: Int) -> Bool {
    var position = position
    for _ in 0..<Self.depthMax {
      if position == directory { return true }
      let dentry = presentDentry(of: position)
      if dentry == 0 { return false }
      position = Int(dentries[dentry].parent)
    }
    return true
  }

  /// A name of the node that is still there; otherwise its last name, so that a record can say what it was.
  func presentDentry(of position: Int) -> Int {
    let first = inodes[position].firstDentry
    var dentry = first
    while dentry != 0 {
      if !dentries[Int(dentry)].isGone { return Int(dentry) }
      dentry = dentries[Int(dentry)].nextOfInode
    }
    return Int(first)
  }

  /// The nodes whose metadata changed since this was asked last. There may be very many: they are handed over as they are.
  mutating func takeChangedNodes() -> [UInt32] {
    var taken: [UInt32] = []
    swap(&taken, &changed)
    return taken
  }

  // MARK: - States

  /// What st_blocks shows of a file that is partly there; nil: nothing of it.
  mutating func setPartialBlocks(_ blocks: Int64?, of position: Int) { partialBlocks[position] = blocks }

  /// Changes a record that may be counted otherwise then.
  mutating func recount(_ position: Int, _ change: (inout InodeRecord) -> Void) {
    let isCounted = !inodes[position].isOrphan
    if isCounted { counts.remove(inodes[position]) }
    change(&inodes[position])
    if isCounted { counts.add(inodes[position]) }
  }

  /// Whether a node keeps its directory from becoming dataless: it holds, or is about to hold, something local.
  func isBusy(_ record: InodeRecord) -> Bool { record.canBeDataless && record.state != .dataless }

  /// Changes the content state of a node, keeping the counts of its directories and of the volume.
  mutating func setState(_ state: ContentState, of position: Int) {
    let wasBusy = isBusy(inodes[position])
    recount(position) { $0.state = state }
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
