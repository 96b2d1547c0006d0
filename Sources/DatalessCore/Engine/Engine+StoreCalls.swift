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
    callStore(node, threadID: threadID, waiter: waiter, completion) { store, item throws(FSError) in
      try store.readLink(item)
    }
  }

  /// One extended attribute's value, from the store, on the metadata lane and without latency.
  ///
  /// - Parameter completion: As `readLink`.
  public func extendedAttribute(
    _ name: [UInt8], of node: NodeID, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    callStore(node, threadID: threadID, waiter: waiter, completion) { store, item throws(FSError) in
      try store.extendedAttribute(name, of: item)
    }
  }

  /// The names of extended attributes, each ended by a zero byte as listxattr(2) wants them, without latency.
  ///
  /// - Parameter first: A name that is in the list once, whether SOURCE has it or not.
  public func extendedAttributeNames(
    of node: NodeID, first: [UInt8]? = nil, threadID: Int32, waiter: WaiterID,
    completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void
  ) {
    callStore(node, threadID: threadID, waiter: waiter, completion) { store, item throws(FSError) in
      var list = first.map { $0 + [0] } ?? []
      for name in try store.extendedAttributeNames(of: item) where name != first {
        list += name
        list.append(0)
      }
      return list
    }
  }

  /// Runs a metadata call on the metadata lane and remembers its caller, so that a SOURCE that hangs keeps nobody stuck
  /// at shutdown, and a killed caller leaves.
  private func callStore(
    _ node: NodeID, threadID: Int32, waiter: WaiterID,
    _ completion: @escaping @Sendable (Result<[UInt8], FSError>) -> Void,
    _ call: @escaping @Sendable (any BackingStore, StoreBinding) throws(FSError) -> [UInt8]
  ) {
    let (item, isInterrupted): (Result<StoreBinding, FSError>, Bool) = state.withLock { state in
      let isInterrupted = state.calls.receive(waiter)
      if let ending = state.ending { return (.failure(ending), false) }
      guard let position = state.namespace.index(of: node) else {
        return (.failure(FSError(.staleNFSFileHandle, "no such item on this volume")), false)
      }
      guard let item = state.namespace.binding(of: position) else {
        return (.failure(FSError(.noSuchFileOrDirectory, "the store has no such item")), false)
      }
      state.calls.park(waiter, PendingCalls.Call(threadID: threadID, fail: { completion(.failure($0)) }))
      return (.success(item), isInterrupted)
    }
    if isInterrupted { interrupt(waiter) }
    switch item {
    case .failure(let error): completion(.failure(error))
    case .success(let item):
      metadata.submit { [self] in
        let result: Result<[UInt8], FSError>
        do throws(FSError) {
          result = .success(try call(store, item))
        } catch {
          result = .failure(error)
        }
        if state.withLock({ $0.calls.claim(waiter) != nil }) { completion(result) }
      }
    }
  }
}
