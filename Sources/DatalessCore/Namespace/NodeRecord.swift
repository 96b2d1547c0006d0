/// Whether the content of a file, or the listing of a directory, is local.
enum ContentState: UInt8 {
  /// Not local; the first trigger starts an attempt.
  case dataless
  /// An attempt is under way. The caller still sees a dataless item.
  case materializing
  /// Some ranges of a file's content are local; the engine knows which. Never a directory.
  case partial
  /// Local and complete. Empty files, symlinks, devices, FIFOs and sockets are always resident.
  case resident
}

/// What the namespace knows of one item: 120 bytes, no reference, no object.
struct NodeRecord: BitwiseCopyable {
  var size: Int64
  var inode: UInt64
  var modificationSeconds: Int64
  var changeSeconds: Int64
  var accessSeconds: Int64
  var blocks: Int64
  /// As `ItemAttributes.birth`.
  var birth: UInt64
  /// A resident file: its `ContentID`. A device: st_rdev. A directory: the names of its first and its last child.
  private var contentOrChildren: UInt64
  var modificationNanoseconds: UInt32
  var changeNanoseconds: UInt32
  var accessNanoseconds: UInt32
  var linkCount: UInt32
  var uid: UInt32
  var gid: UInt32
  /// The first of the names that are known; `end` for the root.
  var firstName: NameIndex
  /// A directory: `localChildCount`. A file: `lastUse`.
  private var count: UInt32
  /// What the store told of the item when it was fetched, as `StoreContent.generation`; 0 if nothing.
  var generation: UInt32
  /// Answers that brought the node to the kernel and were not given back by FORGET; saturated, it stays.
  var lookups: UInt32
  var mode: UInt16
  /// Index into the namespace's table of devices.
  var deviceIndex: UInt16
  /// Attempts so far, and calls that reached the volume, saturating: what the log calls `prior`.
  var attempts: UInt16
  var opens: UInt16
  var stats: UInt16
  var xattrCalls: UInt16
  /// How many items have had this place before.
  var uses: UInt16
  /// A directory: the number of its present listing, modulo 256, to find names that vanished: a listing that begins
  /// gives it a new number, and the names that it does not see keep their old one.
  var listingEpoch: UInt8
  private var bits: UInt8

  init(_ attributes: ItemAttributes, deviceIndex: UInt16) {
    size = attributes.size
    inode = attributes.inode
    modificationSeconds = attributes.modificationTime.seconds
    changeSeconds = attributes.changeTime.seconds
    accessSeconds = attributes.accessTime.seconds
    blocks = attributes.blocks
    birth = attributes.birth
    contentOrChildren = 0
    modificationNanoseconds = attributes.modificationTime.nanoseconds
    changeNanoseconds = attributes.changeTime.nanoseconds
    accessNanoseconds = attributes.accessTime.nanoseconds
    linkCount = attributes.linkCount
    uid = attributes.uid
    gid = attributes.gid
    firstName = .end
    count = 0
    generation = 0
    lookups = 0
    mode = UInt16(truncatingIfNeeded: attributes.mode)
    self.deviceIndex = deviceIndex
    attempts = 0
    opens = 0
    stats = 0
    xattrCalls = 0
    listingEpoch = 0
    uses = 0
    bits = 0
    state = .resident
    switch kind {
    case .file: state = size > 0 ? .dataless : .resident
    case .directory: state = .dataless
    case .characterDevice, .blockDevice: contentOrChildren = attributes.specialDevice
    case .fifo, .socket, .symlink: break
    }
  }

  var kind: ItemKind { ItemKind(rawValue: UInt8(mode >> 12)) ?? .fifo }

  /// Calls of which the log says, as `prior`, how many have reached the volume.
  enum CountedCall { case open, stat, xattr, attempt }

  /// One more; saturating.
  mutating func count(_ call: CountedCall) {
    switch call {
    case .open: if opens < .max { opens += 1 }
    case .stat: if stats < .max { stats += 1 }
    case .xattr: if xattrCalls < .max { xattrCalls += 1 }
    case .attempt: if attempts < .max { attempts += 1 }
    }
  }

  /// It has been called by nobody: what `prior` of the log and `attempt` of a rule count from.
  mutating func forgetCalls() { (attempts, opens, stats, xattrCalls) = (0, 0, 0, 0) }

  /// A directory: names in it of items that are not plainly dataless. It can become dataless itself only at 0.
  var localChildCount: UInt32 {
    get { kind == .directory ? count : 0 }
    set { if kind == .directory { count = newValue } }
  }

  /// What is no directory: when it was opened, closed or fetched last, as a number of `Room.nextUse`; 0: never.
  var lastUse: UInt32 {
    get { kind == .directory ? 0 : count }
    set { if kind != .directory { count = newValue } }
  }

  /// What the log and the rules call it.
  var materializationKind: MaterializationKind { kind == .directory ? .directory : .file }

  /// Whether content can be absent at all.
  var canBeDataless: Bool { kind == .directory || (kind == .file && size > 0) }

  /// Whether content, or a listing, is absent: wholly, partly, or until the attempt under way has ended.
  var isDataless: Bool { canBeDataless && state != .resident }

  /// Whether it keeps its directories from becoming dataless: it holds, or is about to hold, something local.
  var isLocal: Bool { (canBeDataless && state != .dataless) || isDirty }

  /// A file that is complete, and that nobody has written to here.
  var isClean: Bool { kind == .file && state == .resident && !isDirty }

  /// A file that holds nothing, and that nobody has written to since it was made or listed.
  var isUnwritten: Bool { isClean && size == 0 && content == .none }

  /// Whether the store has another version of it, or none, and it was not removed here: what is changed in it is lost.
  var isSuperseded: Bool { isOrphan && !isUnlinked }

  /// A directory whose listing is known.
  var isListed: Bool { kind == .directory && state == .resident }

  /// Where a resident or partly resident file's content lies.
  var content: ContentID { ContentID(rawValue: kind == .file ? contentOrChildren : 0) }

  /// Where the content of a file lies that is complete; nil if it is not, or there is none.
  var residentContent: ContentID? {
    kind == .file && state == .resident && (size > 0 || isDirty) ? content : nil
  }

  /// What `ItemContent` keeps here.
  var contentCell: ItemContent.Cell {
    get {
      ItemContent.Cell(
        state: state, reference: content, generation: generation, isWatched: isWatched, mayBeCached: mayBeCached,
        isDirty: isDirty)
    }
    set {
      state = newValue.state
      generation = newValue.generation
      mayBeCached = newValue.mayBeCached
      guard kind != .directory else { return }
      isWatched = newValue.isWatched
      guard kind == .file else { return }
      contentOrChildren = newValue.reference.rawValue
      set(1, newValue.isDirty)
    }
  }

  var firstChild: NameIndex {
    get { NameIndex(rawValue: UInt32(truncatingIfNeeded: contentOrChildren)) }
    set { contentOrChildren = contentOrChildren & 0xffff_ffff_0000_0000 | UInt64(newValue.rawValue) }
  }

  var lastChild: NameIndex {
    get { NameIndex(rawValue: UInt32(truncatingIfNeeded: contentOrChildren >> 32)) }
    set { contentOrChildren = contentOrChildren & 0xffff_ffff | UInt64(newValue.rawValue) << 32 }
  }

  /// The listed metadata in full, as the backing store is asked with it.
  func attributes(device: UInt64) -> ItemAttributes {
    ItemAttributes(
      device: device, inode: inode, mode: UInt32(mode), linkCount: linkCount, uid: uid, gid: gid,
      specialDevice: kind == .characterDevice || kind == .blockDevice ? contentOrChildren : 0, size: size,
      blocks: blocks,
      accessTime: Timestamp(seconds: accessSeconds, nanoseconds: accessNanoseconds),
      modificationTime: Timestamp(seconds: modificationSeconds, nanoseconds: modificationNanoseconds),
      changeTime: Timestamp(seconds: changeSeconds, nanoseconds: changeNanoseconds), birth: birth)
  }

  /// A directory: whether an earlier listing left entries.
  var isRelisted: Bool {
    get { bits & 1 != 0 }
    set { set(1, newValue) }
  }

  /// A directory: whether all its names are in the hash table. They are put there by the first lookup in it.
  var isIndexed: Bool {
    get { bits & 2 != 0 }
    set { set(2, newValue) }
  }

  /// A file: whether a program has written to it on the volume, so that it is nowhere else.
  var isDirty: Bool { kind == .file && bits & 1 != 0 }

  /// What is no directory: whether its last name was taken away on the volume. It lives on for whoever has it, as POSIX
  /// wants it.
  var isUnlinked: Bool {
    get { kind != .directory && bits & 2 != 0 }
    set { if kind != .directory { set(2, newValue) } }
  }

  /// No name leads to it any more: it is gone from the store, or another version has its name. It lives for whoever has
  /// it open, and is not counted.
  var isOrphan: Bool {
    get { bits & 4 != 0 }
    set { set(4, newValue) }
  }

  /// A file: whether reads of its content were watched, and no open since has hidden them.
  var isWatched: Bool {
    get { bits & 8 != 0 }
    set { set(8, newValue) }
  }

  /// A directory: whether an earlier run has kept something of it that is not in the namespace yet.
  var awaitsSaved: Bool {
    get { kind == .directory && bits & 8 != 0 }
    set { if kind == .directory { set(8, newValue) } }
  }

  /// A file: whether the kernel may have pages of its content in its cache, or has served its reads alone.
  var mayBeCached: Bool {
    get { bits & 16 != 0 }
    set { set(16, newValue) }
  }

  /// Nobody's: in the list of places to be used again, by `firstName`.
  var isFree: Bool {
    get { bits & 32 != 0 }
    set { set(32, newValue) }
  }

  var state: ContentState {
    get { ContentState(rawValue: bits >> 6) ?? .dataless }
    set { bits = bits & 63 | newValue.rawValue << 6 }
  }

  private mutating func set(_ bit: UInt8, _ isOn: Bool) { bits = isOn ? bits | bit : bits & ~bit }

  /// Takes over newly listed metadata of the same bytes; content, state, names and counters stay.
  mutating func update(_ attributes: ItemAttributes) {
    size = attributes.size
    modificationSeconds = attributes.modificationTime.seconds
    modificationNanoseconds = attributes.modificationTime.nanoseconds
    changeSeconds = attributes.changeTime.seconds
    changeNanoseconds = attributes.changeTime.nanoseconds
    accessSeconds = attributes.accessTime.seconds
    accessNanoseconds = attributes.accessTime.nanoseconds
    blocks = attributes.blocks
    linkCount = attributes.linkCount
    uid = attributes.uid
    gid = attributes.gid
    mode = UInt16(truncatingIfNeeded: attributes.mode)
  }
}
