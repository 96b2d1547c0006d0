internal import Synchronization
internal import SystemPackage

extension Engine {
  /// Gives an item a content policy of its own, or, with `inherited`, takes it away. What it wants to be here is
  /// fetched.
  ///
  /// - Returns: ESTALE; nil: done.
  public func setPolicy(_ policy: ContentPolicy, of node: NodeID) -> FSError? {
    let isKnown: Bool = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return false }
      _ = state.setPolicy(policy, of: position)
      return true
    }
    guard isKnown else { return FSError(.staleNFSFileHandle, "no such item on this volume") }
    policyChanged(of: node)
    return nil
  }

  /// Ends that an item is pinned: it inherits from then on; or, where that would keep it, is fetched when it is read.
  ///
  /// - Returns: ESTALE; nil: done.
  public func unpin(_ node: NodeID) -> FSError? {
    let inherited: ContentPolicy? = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return nil }
      guard state.policy(of: position).keepsContent else { return .inherited }
      _ = state.setPolicy(.inherited, of: position)
      return state.policy(of: position)
    }
    guard let inherited else { return FSError(.staleNFSFileHandle, "no such item on this volume") }
    if inherited.keepsContent { return setPolicy(.lazy, of: node) }
    policyChanged(of: node)
    return nil
  }

  /// The policy of an item: its own, and the one that holds for it; nil for an unknown one.
  public func policy(of node: NodeID) -> (own: ContentPolicy, inForce: ContentPolicy)? {
    state.withLock { state in
      state.namespace.index(of: node).map { (state.policies.own(of: $0) ?? .inherited, state.policy(of: $0)) }
    }
  }

  /// Whether an item has to stay here.
  func keepsContent(_ node: NodeID) -> Bool {
    state.withLock { state in state.namespace.index(of: node).map { state.policy(of: $0).keepsContent } ?? false }
  }

  /// Names lead to other versions of their items: policies go with the names, and what they want is fetched.
  func adoptNewVersions() {
    let (wanted, changed) = state.withLock { ($0.takeNewVersions(), $0.namespace.news.takeRights()) }
    if !wanted.isEmpty { fetchEagerly(wanted) }
    guard !changed.isEmpty else { return }
    metadata.submit { [self] in for node in changed { keepAccessACL(of: node) } }
  }

  /// Begins what follows from an item's policy.
  func policyChanged(of node: NodeID) {
    if keepsContent(node) {
      fetchEagerly([node])
    } else if plansEvictions.load(ordering: .relaxed) {
      renewEvictions()
    }
    if limitsRoom.load(ordering: .relaxed) { settleRoom() }
  }
}
