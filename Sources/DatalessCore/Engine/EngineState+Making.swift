internal import SystemPackage

/// An item that is to be made on the volume.
struct NewItem {
  /// Type and permissions, as the caller asked for them.
  var mode: UInt32
  /// The caller's, which counts unless the directory has an ACL that is inherited.
  var umask: UInt32
  var specialDevice: UInt64 = 0
  /// Of a symbolic link.
  var target: [UInt8] = []
  var caller: Caller

  var kind: ItemKind { ItemKind(rawValue: UInt8(mode >> 12 & 0xf)) ?? .fifo }
}

extension EngineState {
  /// The set-group-id bit.
  private static let setGroupID: UInt32 = 0o2000

  /// Makes an item with a name.
  mutating func make(
    _ name: UnsafeBufferPointer<UInt8>, _ new: NewItem, in directory: NodeIndex, _ now: MonotonicTime
  ) -> Result<NodeIndex, Errno> {
    guard namespace.find(name, in: directory) == nil else { return .failure(.fileExists) }
    let isDirectory = new.kind == .directory
    guard !isDirectory || namespace[directory].linkCount < Self.directoryLinkMax else { return .failure(.tooManyLinks) }
    guard namespace.hasRoom(for: name.count), let node = makeNode(new, in: directory) else { return .failure(.noSpace) }
    tellMade(node)
    guard let made = namespace.give(name, to: node, in: directory) else { return .failure(.noSpace) }
    touch(directory, links: isDirectory ? 1 : 0)
    record(.created(linkedFrom: nil), node, path: namespace.path(ofName: made), by: new.caller, now)
    return .success(node)
  }

  /// Makes a file whose only name is gone from the beginning: `#` and its inode number.
  mutating func makeTemporary(_ new: NewItem, in directory: NodeIndex) -> NodeIndex? {
    guard namespace.hasRoom(for: Self.nameMax), let node = makeNode(new, in: directory) else { return nil }
    var text = Array("#\(namespace[node].inode)".utf8)
    while text.withUnsafeBufferPointer({ namespace.find($0, in: directory, .local) }) != nil {
      text.append(UInt8(ascii: "~"))
    }
    tellMade(node)
    guard let name = text.withUnsafeBufferPointer({ namespace.give($0, to: node, in: directory) }) else { return nil }
    namespace.remove(name)
    changeAttributes(of: node) { $0.linkCount = 0 }
    namespace.setUnlinked(true, of: node)
    return node
  }

  private mutating func makeNode(_ new: NewItem, in directory: NodeIndex) -> NodeIndex? {
    guard let inode = madeNumbers.take(above: namespace.largestReserved) else { return nil }
    let (mode, access, inheritable) = inherit(new, in: directory)
    let parent = namespace[directory]
    let isDirectory = new.kind == .directory
    let now = timeOfDay()
    let attributes = ItemAttributes(
      device: ItemAttributes.madeDevice, inode: inode, mode: mode, linkCount: isDirectory ? 2 : 1,
      uid: new.caller.uid, gid: UInt32(parent.mode) & Self.setGroupID == 0 ? new.caller.gid : parent.gid,
      specialDevice: new.specialDevice, size: isDirectory ? 4096 : Int64(new.target.count), blocks: isDirectory ? 8 : 0,
      accessTime: now, modificationTime: now, changeTime: now, birth: inode)
    guard let node = namespace.node(for: ListedItem(attributes)) else { return nil }
    if isDirectory { updateContent(of: node) { $0.makeHere() } }
    if new.kind == .symlink { extras.setTarget(new.target, of: node) }
    if let access { setExtra(PosixACL.accessName, to: access, of: node) }
    if let inheritable { setExtra(PosixACL.defaultName, to: inheritable, of: node) }
    return node
  }

  /// The mode of a new item, and the ACLs that it gets.
  private func inherit(
    _ new: NewItem, in directory: NodeIndex
  ) -> (mode: UInt32, access: [UInt8]?, inheritable: [UInt8]?) {
    guard new.kind != .symlink else { return (new.mode, nil, nil) }
    let isDirectory = new.kind == .directory
    let isSetGroupID = isDirectory && UInt32(namespace[directory].mode) & Self.setGroupID != 0
    let mode = isSetGroupID ? new.mode | Self.setGroupID : new.mode
    guard let value = extras.defaultACL(of: directory), let acl = PosixACL(value) else {
      return (mode & ~(new.umask & 0o777), nil, nil)
    }
    let own = acl.inherited(mode: mode)
    return (mode & ~0o777 | own.mode, own.isMode ? nil : own.bytes, isDirectory ? value : nil)
  }

  /// An extended attribute is what it is told to be. - Returns: False if there is no room for it.
  @discardableResult
  mutating func setExtra(_ name: [UInt8], to value: [UInt8]?, of node: NodeIndex) -> Bool {
    // What is made here has nothing beneath, and needs no memory of what was removed.
    if value == nil, namespace.isMade(node) {
      extras.reset(name, of: node)
    } else {
      guard extras.set(name, to: value, of: node) else { return false }
    }
    if journal.keepsChanges { journal.append(.attribute(of: namespace.changedItem(node), name: name, value: value)) }
    return true
  }

  /// Gives an item another name.
  mutating func link(
    _ node: NodeID, as name: UnsafeBufferPointer<UInt8>, in directory: NodeIndex, by caller: Caller,
    _ now: MonotonicTime
  ) -> MakeAnswer {
    guard let node = namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
    let item = namespace[node]
    guard item.kind != .directory else { return .failed(.notPermitted) }
    guard !item.isOrphan || item.isUnlinked else { return .failed(.staleNFSFileHandle) }
    guard namespace.find(name, in: directory) == nil else { return .failed(.fileExists) }
    guard item.linkCount < Self.linkMax else { return .failed(.tooManyLinks) }
    guard !item.isDataless else { return .needsMaterialization(namespace.id(of: node)) }
    guard namespace.hasRoom(for: name.count) else { return .failed(.noSpace) }
    let other = item.isOrphan ? nil : namespace.path(of: node)
    tellMade(node)
    guard let made = namespace.give(name, to: node, in: directory) else { return .failed(.noSpace) }
    namespace.setUnlinked(false, of: node)
    let time = timeOfDay()
    changeAttributes(of: node) { attributes in
      attributes.linkCount += 1
      attributes.changeTime = time
    }
    touch(directory)
    record(.created(linkedFrom: other), node, path: namespace.path(ofName: made), by: caller, now)
    namespace.countLookup(of: node)
    return .made(namespace.snapshot(of: node))
  }
}
