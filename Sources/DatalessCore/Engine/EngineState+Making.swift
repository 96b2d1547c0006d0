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
    _ name: UnsafeBufferPointer<UInt8>, _ new: NewItem, in directory: NodeIndex, at now: MonotonicTime
  ) -> Result<NodeIndex, Errno> {
    guard namespace.find(name, in: directory) == nil else { return .failure(.fileExists) }
    let isDirectory = new.kind == .directory
    guard !isDirectory || namespace[directory].linkCount < Self.directoryLinkMax else { return .failure(.tooManyLinks) }
    guard !isDirectory || hasRoom(below: directory, for: 0) else { return .failure(.fileNameTooLong) }
    guard namespace.hasRoom(for: name.count) else { return .failure(.noSpace) }
    let node: NodeIndex
    switch makeNode(new, in: directory, nameLength: name.count) {
    case .success(let made): node = made
    case .failure(let errno): return .failure(errno)
    }
    tellMade(node)
    guard let made = giveName(name, to: node, in: directory) else { return .failure(.noSpace) }
    if isDirectory { noteHeight(0, below: directory) }
    touch(directory, links: isDirectory ? 1 : 0)
    record(.created(linkedFrom: nil), node, path: namespace.path(ofName: made), by: new.caller, at: now)
    return .success(node)
  }

  /// Makes a file whose only name is gone from the beginning: `#` and its inode number.
  mutating func makeTemporary(_ new: NewItem, in directory: NodeIndex) -> Result<NodeIndex, Errno> {
    guard namespace.hasRoom(for: Self.nameMax) else { return .failure(.noSpace) }
    let node: NodeIndex
    switch makeNode(new, in: directory, nameLength: Self.nameMax) {
    case .success(let made): node = made
    case .failure(let errno): return .failure(errno)
    }
    var text = Array("#\(namespace[node].inode)".utf8)
    while text.withUnsafeBufferPointer({ namespace.find($0, in: directory, .local) }) != nil {
      text.append(UInt8(ascii: "~"))
    }
    tellMade(node)
    guard let name = text.withUnsafeBufferPointer({ giveName($0, to: node, in: directory) }) else {
      return .failure(.noSpace)
    }
    namespace.remove(name)
    changeAttributes(of: node) { $0.linkCount = 0 }
    namespace.setUnlinked(true, of: node)
    return .success(node)
  }

  /// Makes an item with all that it is to have, or nothing. - Parameter nameLength: Of the name that it gets.
  private mutating func makeNode(
    _ new: NewItem, in directory: NodeIndex, nameLength: Int
  ) -> Result<NodeIndex, Errno> {
    let inherited: Inherited
    switch inherit(new, in: directory) {
    case .success(let found): inherited = found
    case .failure(let errno): return .failure(errno)
    }
    // Without its ACLs others had rights to it that they do not give.
    guard let attributeBytes = ItemExtras.bytes(of: inherited.attributes) else { return .failure(.noSpace) }
    let own = ChangeCosts.item + Int64(new.target.count)
    let uid = new.caller.uid
    if let errno = costs.refusal(of: own + ChangeCosts.name(nameLength), for: uid)
      ?? attributeCosts.refusal(of: Int64(attributeBytes), for: uid)
    {
      return .failure(errno)
    }
    guard let inode = madeNumbers.take(above: namespace.largestReserved) else { return .failure(.noSpace) }
    let parent = namespace[directory]
    let isDirectory = new.kind == .directory
    let now = timeOfDay()
    let attributes = ItemAttributes(
      device: ItemAttributes.madeDevice, inode: inode, mode: inherited.mode, linkCount: isDirectory ? 2 : 1,
      uid: new.caller.uid, gid: UInt32(parent.mode) & Self.setGroupID == 0 ? new.caller.gid : parent.gid,
      specialDevice: new.specialDevice, size: isDirectory ? 4096 : Int64(new.target.count), blocks: isDirectory ? 8 : 0,
      accessTime: now, modificationTime: now, changeTime: now, birth: inode)
    guard let node = namespace.node(for: ListedItem(attributes)) else { return .failure(.noSpace) }
    if isDirectory { updateContent(of: node) { $0.makeHere() } }
    if new.kind == .symlink { extras.setTarget(new.target, of: node) }
    costs.add(own, to: node, of: new.caller.uid)
    for (name, value) in inherited.attributes { _ = setExtra(name, to: value, of: node) }
    return .success(node)
  }

  /// What a new item has of its directory.
  private struct Inherited {
    var mode: UInt32
    /// ACLs.
    var attributes: [(name: [UInt8], value: [UInt8])] = []
  }

  private func inherit(_ new: NewItem, in directory: NodeIndex) -> Result<Inherited, Errno> {
    guard new.kind != .symlink else { return .success(Inherited(mode: new.mode)) }
    let isDirectory = new.kind == .directory
    let isSetGroupID = isDirectory && UInt32(namespace[directory].mode) & Self.setGroupID != 0
    let mode = isSetGroupID ? new.mode | Self.setGroupID : new.mode
    let value: [UInt8]
    switch extras.defaultACL(of: directory) {
    case .none: return .success(Inherited(mode: mode & ~(new.umask & 0o777)))
    case .unknown(let errno): return .failure(errno)
    case .value(let found): value = found
    }
    guard let acl = PosixACL(value) else { return .failure(.ioError) }
    let own = acl.inherited(mode: mode)
    var inherited = Inherited(mode: mode & ~0o777 | own.mode)
    if !own.isMode { inherited.attributes.append((PosixACL.accessName, own.bytes)) }
    if isDirectory { inherited.attributes.append((PosixACL.defaultName, value)) }
    return .success(inherited)
  }

  /// Takes over what the store says of the ACL for what is made in a directory.
  mutating func noteInheritable(_ answer: Result<[UInt8], FSError>, of directory: NodeIndex) {
    let none: [Errno] = [.noData, .notSupported, .notSupportedOnSocket, .noFunction]
    let value: ItemExtras.Inheritable
    switch answer {
    case .success(let found):
      // As root's, who may use what there is: it is the store's.
      let refusal = attributeCosts.refusal(of: Int64(found.count), for: 0)
      value = refusal.map { .unknown($0) } ?? .value(found)
    case .failure(let error): value = none.contains(error.errno) ? .none : .unknown(error.errno)
    }
    let more = extras.setInheritable(value, of: directory)
    attributeCosts.add(Int64(more), to: directory, of: namespace[directory].uid)
  }

  /// An extended attribute is what it is told to be.
  ///
  /// - Returns: nil; ENOSPC or EDQUOT if there is no room for it: then nothing has changed.
  mutating func setExtra(_ name: [UInt8], to value: [UInt8]?, of node: NodeIndex) -> Errno? {
    let (before, uid) = (extras.bytes(of: node), namespace[node].uid)
    // What is made here has nothing beneath, and needs no memory of what was removed.
    if value == nil, namespace.isMade(node) {
      extras.reset(name, of: node)
    } else {
      let growth = Int64(extras.growth(name, value, of: node))
      if let errno = attributeCosts.refusal(of: growth, for: uid) { return errno }
      guard extras.set(name, to: value, of: node) else { return .noSpace }
    }
    namespace.noteExtended(extras.isChanged(node), of: node)
    attributeCosts.add(Int64(extras.bytes(of: node) - before), to: node, of: uid)
    if journal.keepsChanges { journal.append(.attribute(of: namespace.changedItem(node), name: name, value: value)) }
    return nil
  }

  /// Gives an item another name.
  ///
  /// - Parameter isComing: Whether the content of a dataless file is on its way.
  mutating func link(
    _ node: NodeID, as name: UnsafeBufferPointer<UInt8>, in directory: NodeIndex, isComing: Bool, by caller: Caller,
    _ now: MonotonicTime
  ) -> MakeAnswer {
    guard let node = namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
    let item = namespace[node]
    guard item.kind != .directory else { return .failed(.notPermitted) }
    guard !item.isOrphan || item.isUnlinked else { return .failed(.staleNFSFileHandle) }
    guard !isRemoved(node) else { return .failed(.noSuchFileOrDirectory) }
    guard namespace.find(name, in: directory) == nil else { return .failed(.fileExists) }
    guard item.linkCount < Self.linkMax else { return .failed(.tooManyLinks) }
    guard namespace.hasRoom(for: name.count) else { return .failed(.noSpace) }
    if let errno = costs.refusal(of: ChangeCosts.name(name.count), for: item.uid) { return .failed(errno) }
    guard !item.isDataless || isComing else { return .needsMaterialization(namespace.id(of: node)) }
    let other = item.isOrphan ? nil : namespace.path(of: node)
    tellMade(node)
    guard let made = giveName(name, to: node, in: directory) else { return .failed(.noSpace) }
    namespace.setUnlinked(false, of: node)
    let time = timeOfDay()
    changeAttributes(of: node) { attributes in
      attributes.linkCount += 1
      attributes.changeTime = time
    }
    touch(directory)
    record(.created(linkedFrom: other), node, path: namespace.path(ofName: made), by: caller, at: now)
    namespace.countLookup(of: node)
    return .made(snapshot(of: node))
  }
}
