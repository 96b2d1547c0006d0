internal import Synchronization

/// Opens that are to be passthrough, once their backing is, or is not, there.
extension Engine {
  /// The backing of a passthrough open is there.
  ///
  /// - Returns: Whether to answer it as such. False: meanwhile another open of the file had to become a cached one,
  ///   beside which the kernel refuses passthrough with EIO; so this one is cached too, with the handle
  ///   `OpenHandle.asCached`.
  public func confirmPassthrough(_ handle: UInt64) -> Bool {
    let (passes, first, left): (Bool, NodeID?, [any ContentWatch]) = state.withLock { state in
      let file = state.openFiles[handle]
      let passes = state.openFiles.confirm(handle)
      guard let file, OpenFlags.writes(file.openFlags) else { return (passes, nil, []) }
      guard passes else {
        state.noteCached(handle, file)
        return (false, nil, state.passed.takeLeft())
      }
      return (true, state.passed.confirm(file.node) ? state.namespace.id(of: file.node) : nil, [])
    }
    _ = consume left
    // What the kernel knows of it may be wrong from now on, and it would not ask again.
    if let first { _ = kernel.invalidateAttributes(of: first) }
    return passes
  }

  /// The backing of a passthrough open could not be registered.
  public func refusePassthrough(_ handle: UInt64) -> PassthroughRefusal {
    let (refusal, left): (PassthroughRefusal, [any ContentWatch]) = state.withLock { state in
      guard let file = state.openFiles[handle] else { return (.cached, []) }
      guard state.openFiles.mustPassThrough(file.node) || !state.passed.mustPassThrough(file.node) else {
        if OpenFlags.writes(file.openFlags) { state.passed.refuse(file.node) }
        return (.failed, [])
      }
      guard state.openFiles.demote(handle) else { return (.shared, []) }
      state.noteCached(handle, file)
      return (.cached, state.passed.takeLeft())
    }
    _ = consume left
    return refusal
  }

  /// The kernel does not grant passthrough, or will never take a backing file: no open is offered it from now on.
  public func withdrawPassthrough() { passthrough.store(false, ordering: .relaxed) }
}
