internal import SystemPackage

extension Engine {
  /// Reads a symbolic link's target from the store, on the metadata lane.
  ///
  /// - Parameter completion: Called exactly once, with the bytes, or the store's errno, EINTR, or ETIMEDOUT at
  ///   shutdown.
  public func readLink(
    _ node: NodeID, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    if let target = madeTarget(of: node, waiter) { return completion(.success(target)) }
    call(.linkTarget, of: node, threadID: threadID, waiter: waiter, completion: completion)
  }

  /// The target of a link that was made on the volume: the waiter waits for nothing then.
  private func madeTarget(of node: NodeID, _ waiter: WaiterID) -> [UInt8]? {
    guard writing != .readOnly else { return nil }
    return state.withLock { state in
      let target = state.namespace.index(of: node).flatMap { state.extras.target(of: $0) }
      if target != nil { _ = state.calls.receive(waiter) }
      return target
    }
  }

  /// As callers see what the store has answered, on a writable volume.
  private func shown(
    _ result: Result<[UInt8], FSError>, of node: NodeID, _ show: (borrowing EngineState, NodeIndex, [UInt8]) -> [UInt8]
  ) -> Result<[UInt8], FSError> {
    guard writing != .readOnly, case .success(let bytes) = result else { return result }
    return state.withLock { state in
      .success(state.namespace.index(of: node).map { show(state, $0, bytes) } ?? bytes)
    }
  }

  /// One extended attribute's value, from the store, on the metadata lane and without latency.
  ///
  /// - Parameter completion: As `readLink`.
  public func extendedAttribute(
    _ name: [UInt8], of node: NodeID, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    call(.attribute(name), of: node, threadID: threadID, waiter: waiter) { [self] result in
      let known = isWithoutStore(result, node) ? leftACL(name, of: node) : result
      completion(shown(known, of: node) { $0.shown($2, name, of: $1) })
    }
  }

  /// The names of extended attributes, each ended by a zero byte as listxattr(2) wants them, without latency.
  ///
  /// - Parameter first: A name that is in the list once, whether SOURCE has it or not.
  public func extendedAttributeNames(
    of node: NodeID, first: [UInt8]? = nil, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    call(.attributeNames(first: first), of: node, threadID: threadID, waiter: waiter) { [self] result in
      let known = isWithoutStore(result, node) ? .success(first.map { $0 + [0] } ?? []) : result
      completion(shown(known, of: node) { $0.extras.names(of: $1, besides: $2) })
    }
  }

  /// The store has it no more, and what it had of ACLs is all that there is.
  private func leftACL(_ name: [UInt8], of node: NodeID) -> Result<[UInt8], FSError> {
    let left = state.withLock { state in state.namespace.index(of: node).flatMap { state.leftACL(name, of: $0) } }
    return left.map { .success($0) } ?? .failure(FSError(.noData, "no such attribute"))
  }

  /// Whether the store has no more what it was asked about, and the volume shows it all the same: because it keeps it,
  /// or because it was moved here from a place that is not looked into. Then it has no attributes but those that were
  /// set here.
  private func isWithoutStore(_ result: Result<[UInt8], FSError>, _ node: NodeID) -> Bool {
    guard writing != .readOnly, case .failure(let error) = result,
      [.staleNFSFileHandle, .noSuchFileOrDirectory, .notDirectory].contains(error.errno)
    else { return false }
    return state.withLock { state in
      guard let index = state.namespace.index(of: node) else { return false }
      return state.namespace.isChanged(index) || state.namespace.isNamedHere(index)
        || state.contents.retained(of: index) != nil
    }
  }

  /// Asks the store on the metadata lane and remembers the caller, so that a SOURCE that hangs keeps nobody stuck at
  /// shutdown, and a killed caller leaves.
  private func call(
    _ question: StoreQuestion, of node: NodeID, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    let task: StoreQuestionTask? = if case .async = store { StoreQuestionTask() } else { nil }
    let (item, isInterrupted): (Result<StoreBinding, FSError>, Bool) = state.withLock { state in
      let isInterrupted = state.calls.receive(waiter)
      if let ending = state.ending { return (.failure(ending), false) }
      guard let position = state.namespace.index(of: node) else {
        return (.failure(FSError(.staleNFSFileHandle, "no such item on this volume")), false)
      }
      guard let item = state.namespace.binding(of: position) else {
        return (.failure(FSError(.noSuchFileOrDirectory, "the store has no such item")), false)
      }
      let fail: @Sendable (FSError) -> Void = { error in
        completion(.failure(error))
        task?.cancel()
      }
      state.calls.park(waiter, PendingCalls.Call(threadID: threadID, fail: fail))
      return (.success(item), isInterrupted)
    }
    if isInterrupted { interrupt(waiter) }
    switch item {
    case .failure(let error): completion(.failure(error))
    case .success(let item):
      switch store {
      case .blocking(let store):
        metadata.submit { [self] in
          let result = question.ask(store, item)
          if claim(waiter) { completion(result) }
        }
      case .async(let store):
        task?.begin(on: metadataTasks) { [self] in
          let result = await question.ask(store, item)
          if claim(waiter) { completion(result) }
        }
      }
    }
  }

  /// - Returns: False if somebody else has answered the call.
  private func claim(_ waiter: WaiterID) -> Bool { state.withLock { $0.calls.claim(waiter) != nil } }
}
