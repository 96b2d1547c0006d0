internal import Synchronization
internal import SystemPackage

/// What is brought in for calls during which the kernel holds directories: others wait for these, so such a call does
/// not wait for a store, or not for long (docs/WRITING.md, "What holds directories").
extension Engine {
  /// Begins to materialize an item for a caller who does not wait for it.
  ///
  /// - Parameters:
  ///   - waiter: Of nobody: it is not interrupted.
  ///   - mayFetch: As `materialize`.
  /// - Returns: nil: it is here, or on its way. Else why it is not, if that is known at once: the caller may not
  ///   materialize, a fault that comes at once, a prompt store that fails.
  public func beginMaterialization(
    _ node: NodeID, _ request: TriggerRequest, waiter: WaiterID, mayFetch: Bool = false
  ) -> FSError? {
    var request = request
    request.isAwaited = false
    request.caller.isMainThread = false
    let early = EarlyFailure()
    let admission = materialize(node, request, waiter: waiter, mayFetch: mayFetch) { early.note($0) }
    if case .failed(let error) = admission { return error }
    return early.error
  }

  /// LIMIT: how long a call that does not wait for a store waits for a prompt one that is listing, because no request
  /// thread was free to do that itself.
  private static let promptListing = Nanoseconds.milliseconds(100)

  /// Lists a directory for a call that can wait for a short time alone, during which the kernel holds the one that it
  /// lies in. The listing goes on when that is over: EBUSY says so, and who calls again finds it listed.
  ///
  /// - Parameters:
  ///   - waiter: As `materialize`; `background` is nobody's.
  ///   - limit: How long the call waits; 0: only for what is done on this thread, and up to 100 ms for a prompt store
  ///     that is asked already. A delay that is simulated is none of that.
  ///   - completion: As `materialize`.
  public func listBriefly(
    _ directory: NodeID, _ request: TriggerRequest, waiter: WaiterID, background: WaiterID, limit: Nanoseconds,
    mayFetch: Bool = false, completion: @escaping @Sendable (WaitResult) -> Void
  ) -> Admission {
    if let error = beginMaterialization(directory, request, waiter: background, mayFetch: mayFetch) {
      state.withLock { _ = $0.calls.receive(waiter) }
      return .failed(error)
    }
    let admission = materialize(directory, request, waiter: waiter, completion: completion)
    guard case .parked = admission else { return admission }
    let limit = max(limit, isBeingListedPromptly(directory) ? Self.promptListing : 0)
    let end: @Sendable () -> Void = { [self] in
      leave(waiter, FSError(.resourceBusy, "whether the directory is empty is being found out"))
    }
    if limit > 0 { timer.schedule(at: timer.now + limit, end) } else { end() }
    return .parked
  }

  /// Whether nothing but a prompt store stands between a directory and its listing.
  private func isBeingListedPromptly(_ directory: NodeID) -> Bool {
    guard isFastLocal else { return false }
    return state.withLock { state in
      guard let position = state.namespace.index(of: directory) else { return false }
      return state.content(of: position).attempts.contains { state.attempts[$0]?.stage == .fetching }
    }
  }
}

/// The failure of what ends at once.
private final class EarlyFailure: Sendable {
  private let failure = Mutex<FSError?>(nil)
  var error: FSError? { failure.withLock { $0 } }
  func note(_ result: WaitResult) { if case .failed(let error) = result { failure.withLock { $0 = error } } }
}
