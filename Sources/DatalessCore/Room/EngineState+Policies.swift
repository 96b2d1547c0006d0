internal import SystemPackage

/// Content policies, inherited down the tree.
extension EngineState {
  /// The policy that holds for an item: its own, or that of the nearest directory above that has one.
  func policy(of node: NodeIndex) -> ContentPolicy {
    guard !policies.isEmpty else { return .standard }
    var node = node
    for _ in 0..<Namespace.depthMax {
      if let own = policies.own(of: node) { return own }
      guard node != .root, let name = namespace.presentName(of: node) else { break }
      node = namespace.record(of: name).directory
    }
    return .standard
  }

  /// - Returns: Whether it is another one than before.
  mutating func setPolicy(_ policy: ContentPolicy, of node: NodeIndex) -> Bool {
    guard policies.set(policy, of: node) else { return false }
    if !policies.isEmpty { namespace.news.tellVersions() }
    room.noteEvictable()
    tellAttribute(PolicyAttribute.policy, policy == .inherited ? nil : Array(policy.rawValue.utf8), of: node)
    return true
  }

  /// An extended attribute that was kept from an earlier run: one of them says the policy, and one that it is in
  /// conflict with the store.
  mutating func restoreAttribute(_ name: [UInt8], _ value: [UInt8]?, of node: NodeIndex) {
    switch name {
    case PolicyAttribute.policy: if let value { restorePolicy(value, of: node) }
    case KeptAttribute.conflict:
      guard let value, let kind = ConflictKind(rawValue: String(decoding: value, as: UTF8.self)) else { return }
      namespace.conflicts.restore(kind, of: node)
    case KeptAttribute.accessACL: extras.setAccessACL(value, of: node)
    default:
      guard !KeptAttribute.isOne(name), extras.set(name, to: value, of: node) else { return }
      namespace.noteExtended(true, of: node)
    }
  }

  /// A policy that was kept from an earlier run. - Parameter value: Of `user.dataless.policy`; others are left out.
  private mutating func restorePolicy(_ value: [UInt8], of node: NodeIndex) {
    guard let policy = ContentPolicy(rawValue: String(decoding: value, as: UTF8.self)) else { return }
    _ = policies.set(policy, of: node)
    if !policies.isEmpty { namespace.news.tellVersions() }
  }

  /// How a policy attribute is answered; nil if the store is to be asked, which may have one of that name.
  func policyAttribute(_ name: UnsafeBufferPointer<UInt8>, of node: NodeIndex) -> [UInt8]? {
    guard let own = policies.own(of: node), PolicyAttribute.isOne(name) else { return nil }
    return PolicyAttribute.value(of: name, own)
  }

  /// Names lead to other versions of their items: these are other nodes, and have the policies of the old ones.
  ///
  /// - Returns: What is to be fetched, because what was there before was local.
  mutating func takeNewVersions() -> [NodeID] {
    guard namespace.news.tellsVersions else { return [] }
    var wanted: [NodeID] = []
    for version in namespace.news.takeVersions() {
      guard let new = namespace.index(of: version.new) else { continue }
      if let old = namespace.index(of: version.old) { move(from: old, to: new) }
      let inForce = policy(of: new)
      let isWanted = inForce.keepsContent || (inForce.followsStore && version.wasLocal)
      if isWanted, namespace[new].isDataless { wanted.append(version.new) }
    }
    return wanted
  }

  /// What was set here goes with the name. Told as if it had been set on the new one: that may be another item. The old
  /// one may live on by another name.
  private mutating func move(from old: NodeIndex, to new: NodeIndex) {
    journal.beginOperation()
    defer { journal.endOperation() }
    if policies.move(from: old, to: new), let policy = policies.own(of: new) {
      if !namespace[old].isOrphan { tellAttribute(PolicyAttribute.policy, nil, of: old) }
      tellAttribute(PolicyAttribute.policy, Array(policy.rawValue.utf8), of: new)
    }
    let bytes = Int64(extras.bytes(of: old))
    guard extras.isChanged(old), namespace[old].isOrphan, namespace[old].kind == namespace[new].kind,
      extras.move(from: old, to: new)
    else { return }
    namespace.noteExtended(false, of: old)
    namespace.noteExtended(true, of: new)
    attributeCosts.add(-bytes, to: old, of: namespace[old].uid)
    attributeCosts.add(bytes, to: new, of: namespace[new].uid)
    for (name, value) in extras.changed(of: new) { tellAttribute(name, value, of: new) }
  }

  func tellAttribute(_ name: [UInt8], _ value: [UInt8]?, of node: NodeIndex) {
    if journal.keepsChanges {
      journal.append(.attribute(of: namespace.changedItem(node), name: name, value: value))
    }
  }

  /// An item was moved: what it inherits may be another policy. - Parameter before: The one that held for it.
  mutating func noteMoved(_ node: NodeIndex, from before: ContentPolicy) {
    guard !policies.isEmpty, !before.keepsContent, policy(of: node).keepsContent else { return }
    eager.note(namespace.id(of: node))
  }
}
