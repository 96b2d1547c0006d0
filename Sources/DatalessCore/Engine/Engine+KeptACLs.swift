internal import SystemPackage

/// The store's access ACLs of what is here: read when content comes, when a directory is listed, and when a listing
/// brings other metadata. Of what the store has no more nobody can read them.
extension Engine {
  /// Something of an attempt's item has come. On the thread that fetches. Waits for a store whose calls block; else the
  /// answer comes later.
  func keepAccessACL(of attempt: AttemptID, _ item: StoreBinding) {
    guard writing != .readOnly else { return }
    let node = state.withLock { state in state.attempts[attempt].map { state.namespace.id(of: $0.node) } }
    if let node { keepAccessACL(of: node, item) }
  }

  /// The store has other metadata of an item. As the other one.
  func keepAccessACL(of node: NodeID) {
    let item = state.withLock { state in
      state.ending == nil ? state.namespace.index(of: node).flatMap { state.namespace.binding(of: $0) } : nil
    }
    if let item { keepAccessACL(of: node, item) }
  }

  private func keepAccessACL(of node: NodeID, _ item: StoreBinding) {
    let question = StoreQuestion.attribute(PosixACL.accessName)
    switch store {
    case .blocking(let store): noteAccessACL(question.ask(store, item), of: node)
    case .async(let store):
      StoreQuestionTask().begin(on: metadataTasks) { [self] in
        noteAccessACL(await question.ask(store, item), of: node)
      }
    }
  }

  private func noteAccessACL(_ answer: Result<[UInt8], FSError>, of node: NodeID) {
    let none: [Errno] = [.noData, .notSupported, .notSupportedOnSocket, .noFunction]
    let gone: [Errno] = [.staleNFSFileHandle, .noSuchFileOrDirectory, .notDirectory]
    state.withLock { state in
      guard let node = state.namespace.index(of: node) else { return }
      switch answer {
      case .success(let value): state.keepAccessACL(value, of: node)
      case .failure(let error) where none.contains(error.errno): state.keepAccessACL(nil, of: node)
      // What was known of it counts.
      case .failure(let error) where gone.contains(error.errno): break
      case .failure: state.keepAccessACL(PosixACL.closed.bytes, of: node)
      }
    }
  }
}

extension EngineState {
  /// - Parameter value: nil: there is none.
  mutating func keepAccessACL(_ value: [UInt8]?, of node: NodeIndex) {
    let before = extras.accessACL(of: node)
    guard value != before else { return }
    // As root's, who may use what there is: it is the store's.
    let isRefused = value.map { attributeCosts.refusal(of: Int64($0.count), for: 0) != nil } ?? false
    let kept = isRefused ? PosixACL.closed.bytes : value
    let more = extras.setAccessACL(kept, of: node)
    attributeCosts.add(Int64(more), to: node, of: namespace[node].uid)
    guard journal.keepsChanges, namespace[node].kind == .file else { return }
    tellAttribute(KeptAttribute.accessACL, kept, of: node)
  }
}
