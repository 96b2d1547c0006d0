internal import SystemPackage

/// Extended attributes that are changed on a writable volume. They are kept beside the store's, which stay as they are.
extension Engine {
  /// setxattr(2). Whether the attribute has to be there, or not to be, may be a question to the store.
  ///
  /// An access ACL changes the mode of the item, and is none if the mode says all of it.
  ///
  /// - Parameters:
  ///   - waiter: A number never used before while mounted.
  ///   - completion: Called once, perhaps before this returns. EROFS, ESTALE, EOPNOTSUPP (a name of no kind that there
  ///     is), EPERM (the state's own), EINVAL (an ACL that is none; a kind alone, as `user.`), EEXIST, ENODATA,
  ///     ENOSPC, EDQUOT; what the store says.
  public func setExtendedAttribute(
    _ name: [UInt8], to value: [UInt8], how: AttributeExistence, of node: NodeID, by caller: Caller, waiter: WaiterID,
    completion: @escaping @Sendable (FSError?) -> Void
  ) {
    ifThere(name, how, of: node, by: caller, waiter: waiter, completion: completion) { [self] in
      change(name, to: value, of: node, by: caller)
    }
  }

  /// removexattr(2). - Parameter completion: As `setExtendedAttribute`; ENODATA if there is none, but for an ACL, as on
  /// ext4.
  public func removeExtendedAttribute(
    _ name: [UInt8], of node: NodeID, by caller: Caller, waiter: WaiterID,
    completion: @escaping @Sendable (FSError?) -> Void
  ) {
    let isACL = name == PosixACL.accessName || name == PosixACL.defaultName
    let answer: @Sendable (FSError?) -> Void = { completion(isACL && $0?.errno == .noData ? nil : $0) }
    ifThere(name, .replace, of: node, by: caller, waiter: waiter, completion: answer) { [self] in
      change(name, to: nil, of: node, by: caller)
    }
  }

  /// Goes on if the attribute is there, or is not, as it has to be.
  private func ifThere(
    _ name: [UInt8], _ how: AttributeExistence, of node: NodeID, by caller: Caller, waiter: WaiterID,
    completion: @escaping @Sendable (FSError?) -> Void, _ goOn: @escaping @Sendable () -> FSError?
  ) {
    let answer: @Sendable (Bool) -> Void = { isThere in
      switch (how, isThere) {
      case (.create, true): completion(FSError(.fileExists, "the attribute is there"))
      case (.replace, false): completion(FSError(.noData, "there is no such attribute"))
      default: completion(goOn())
      }
    }
    let existence = state.withLock { state in
      let existence = state.existence(of: name, node, how)
      // An interrupt of what is answered at once comes too late.
      if case .success(.none) = existence {} else { _ = state.calls.receive(waiter) }
      return existence
    }
    switch existence {
    case .failure(let error): completion(error)
    case .success(.some(let isThere)): answer(isThere)
    case .success(.none):
      extendedAttribute(name, of: node, threadID: caller.threadID, waiter: waiter) { result in
        switch result {
        case .success: answer(true)
        case .failure(let error) where error.errno == .noData: answer(false)
        case .failure(let error): completion(error)
        }
      }
    }
  }

  private func change(_ name: [UInt8], to value: [UInt8]?, of node: NodeID, by caller: Caller) -> FSError? {
    defer { if PolicyAttribute.isOne(name) { policyChanged(of: node) } }
    var search = RoomSearch()
    while true {
      let (error, isRefused) = changeOnce(name, to: value, of: node, by: caller)
      guard isRefused, makeRoomForChanges(&search) else { return error }
    }
  }

  /// - Returns: Also whether it is refused because there is no room for what is kept of it.
  private func changeOnce(
    _ name: [UInt8], to value: [UInt8]?, of node: NodeID, by caller: Caller
  ) -> (error: FSError?, isRefused: Bool) {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else {
        return (FSError(.staleNFSFileHandle, "no such item on this volume"), false)
      }
      state.journal.beginOperation()
      defer { state.journal.endOperation() }
      if let error = state.setAttribute(name, to: value, of: position, by: caller) {
        return (error, state.journal.hasRefused)
      }
      let text = String(decoding: name, as: UTF8.self)
      state.record(
        .attributes(what: [text]), position, path: state.namespace.path(of: position), by: caller, at: timer.now)
      return (nil, false)
    }
  }
}

extension EngineState {
  /// Whether an attribute is there; nil: the store has to be asked, as far as that matters.
  fileprivate func existence(
    of name: [UInt8], _ node: NodeID, _ how: AttributeExistence
  ) -> Result<Bool?, FSError> {
    guard writing != .readOnly else { return .failure(FSError(.readOnlyFileSystem, "the volume is read-only")) }
    guard let position = namespace.index(of: node) else {
      return .failure(FSError(.staleNFSFileHandle, "no such item on this volume"))
    }
    if name == StateAttribute.dataless.name || name == simulation.presentation.state?.name {
      return .failure(FSError(.notPermitted, "the volume itself says the state"))
    }
    if name == CapacityAttribute.bytes {
      return .failure(FSError(.notPermitted, "the volume itself says its capacity"))
    }
    if ItemExtras.isKindAlone(name) {
      return .failure(FSError(.invalidArgument, "the name of an attribute has something behind its kind"))
    }
    guard ItemExtras.canBeSet(name) else {
      return .failure(FSError(.notSupported, "no such attribute on this volume"))
    }
    if PolicyAttribute.isOne(name) {
      return .success(PolicyAttribute.value(of: name, policies.own(of: position) ?? .inherited) != nil)
    }
    switch knownAttribute(name, of: position) {
    case .value: return .success(true)
    case .removed: return .success(false)
    case .unchanged: return .success(how == .any ? true : nil)
    }
  }

  /// What is known of an attribute without a question to the store.
  func knownAttribute(_ name: [UInt8], of node: NodeIndex) -> ItemExtras.Known {
    let known = extras.attribute(name, of: node)
    guard known == .unchanged else { return known }
    // Whoever writes to a program takes its capabilities away. The kernel asks for them before each first write: nobody
    // is to wait for the store with content that is here.
    let isWritten = namespace[node].isDirty || writers.nodes.contains(node)
    guard isOwn(node) else { return isWritten && name == ItemExtras.capability ? .removed : .unchanged }
    return leftACL(name, of: node).map { .value($0) } ?? .removed
  }

  /// An ACL that an item has of the store, which has that no more.
  func leftACL(_ name: [UInt8], of node: NodeIndex) -> [UInt8]? {
    if name == PosixACL.accessName { return extras.accessACL(of: node) }
    guard name == PosixACL.defaultName, case .value(let value) = extras.defaultACL(of: node) else { return nil }
    return value
  }

  /// The names of extended attributes of what nothing lies beneath, as listxattr(2) shows them.
  func ownAttributeNames(of node: NodeIndex) -> [UInt8] {
    let left = [PosixACL.accessName, PosixACL.defaultName].filter { leftACL($0, of: node) != nil }
    return extras.names(of: node, besides: left.flatMap { $0 + [0] })
  }

  /// Whether nothing lies beneath an item: it was made here, or the store has it no more.
  func isOwn(_ node: NodeIndex) -> Bool { namespace.isMade(node) || !namespace.hasBinding(node) }

  fileprivate mutating func setAttribute(
    _ name: [UInt8], to value: [UInt8]?, of node: NodeIndex, by caller: Caller
  ) -> FSError? {
    let growth = StateChange.growthOfItem + Int64(name.count + (value?.count ?? 0))
    guard journal.hasRoom(for: growth, removing: value == nil) else {
      return FSError(.noSpace, "there is no room in the state directory for more extended attributes")
    }
    if PolicyAttribute.isOne(name) {
      guard let policy = PolicyAttribute.policy(name, value) else {
        return FSError(.invalidArgument, "it is no content policy")
      }
      _ = setPolicy(policy, of: node)
      return nil
    }
    var (value, mode): ([UInt8]?, UInt32?) = (value, nil)
    if let bytes = value, name == PosixACL.accessName || name == PosixACL.defaultName {
      guard let acl = PosixACL(bytes) else { return FSError(.invalidArgument, "it is no access control list") }
      if name == PosixACL.accessName {
        mode = acl.mode
        if acl.isMode { value = nil }
      }
    }
    if let errno = setExtra(name, to: value, of: node) {
      return FSError(errno, "there is no room for more extended attributes")
    }
    if name == PosixACL.accessName { keepAccessACL(nil, of: node) }
    if name == PosixACL.defaultName, isOwn(node) { extras.setInheritable(.none, of: node) }
    let now = timeOfDay()
    // Who is not in the group gives nobody its rights. Of a caller's groups the first alone is known here: who is in it
    // by another one loses the bit, too.
    let keepsSetGroupID = caller.uid == 0 || caller.gid == namespace[node].gid
    changeAttributes(of: node) { attributes in
      if let mode {
        attributes.mode = attributes.mode & ~0o777 | mode
        if !keepsSetGroupID { attributes.mode &= ~0o2000 }
      }
      attributes.changeTime = now
    }
    return nil
  }

  /// The value of an attribute as callers see it: an access ACL says what the mode says.
  func shown(_ value: [UInt8], _ name: [UInt8], of node: NodeIndex) -> [UInt8] {
    guard writing != .readOnly, name == PosixACL.accessName, let acl = PosixACL(value) else { return value }
    return acl.adjusted(to: UInt32(namespace[node].mode)).bytes
  }
}
