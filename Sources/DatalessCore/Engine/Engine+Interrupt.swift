internal import Synchronization
internal import SystemPackage

extension Engine {
  /// A request is about to be put to the engine under this waiter. From now on an interrupt of it is remembered until
  /// the request is parked or answered: FUSE_INTERRUPT comes once, and may be faster than its request, which has its
  /// caller looked at and its rules asked first.
  ///
  /// Called before the interrupt can come, and followed by the one call that takes the waiter: `materialize`,
  /// `readLink`, `extendedAttribute`, `extendedAttributeNames`, `waitForEviction` or `delay`.
  public func expect(_ waiter: WaiterID) { state.withLock { $0.calls.announce(waiter) } }

  /// A signal is pending for a waiting caller (FUSE_INTERRUPT). Ends its wait with EINTR if the interrupt mode says so;
  /// otherwise looks again every 100 ms until the reply, because the kernel does not ask a second time.
  ///
  /// Safe on any lane except a FUSE callback: it may answer the request. Of a waiter that is neither expected nor
  /// parked the request has been answered.
  public func interrupt(_ waiter: WaiterID) {
    let found: (threadID: Int32, mode: Simulation.InterruptMode)? = state.withLock { state in
      let threadID: Int32?
      if let waiting = state.attempts.waiter(waiter) {
        threadID = waiting.request.caller.threadID
      } else if let caller = state.calls.threadID(of: waiter) {
        threadID = caller
      } else {
        threadID = nil
        state.calls.interruptAnnounced(waiter)
      }
      return threadID.map { ($0, state.simulation.interrupt) }
    }
    guard let (threadID, mode) = found else { return }
    switch mode {
    case .any: leave(waiter, FSError(.interrupted, "interrupted by a signal"))
    case .fatal:
      if signals.hasPendingFatalSignal(threadID: threadID) ?? true {
        leave(waiter, FSError(.interrupted, "interrupted by a fatal signal"))
      } else {
        interruptLater(waiter)
      }
    }
  }

  /// LIMIT: all looks together take at most a fifth of the timer's time: 20 us each, so 100 us apart on average.
  private func interruptLater(_ waiter: WaiterID) {
    let waiting = Int64(looksWaiting.add(1, ordering: .relaxed).newValue)
    timer.schedule(at: timer.now + max(.milliseconds(100), waiting * .microseconds(100))) { [self] in
      looksWaiting.subtract(1, ordering: .relaxed)
      interrupt(waiter)
    }
  }

  /// Ends one wait with an error. The attempt goes on while another waiter remains, else it is cancelled.
  public func leave(_ waiter: WaiterID, _ error: FSError) {
    let actions: [Action] = state.withLock { state in
      if let call = state.calls.claim(waiter) { return [.call({ call.fail(error) })] }
      return state.leave(waiter, error, now: timer.now)
    }
    perform(actions)
  }

  /// Refuses everything from now on with `error`, and ends every wait with it. Calling it again ends what came between.
  public func end(_ error: FSError) {
    // From here on no attempt begins.
    let (calls, attempts, actions) = state.withLock { state in
      state.ending = error
      let refreshes = state.refreshes.all.map { refresh in Action.call({ refresh.abort(error) }) }
      return (state.calls.claimAll(), state.attempts.ids, state.gates.dismissWatchers() + refreshes)
    }
    for call in calls { call.fail(error) }
    inPieces(attempts.sorted()) { state, attempt in
      let end = AttemptEnd(outcome: .failed(error.errno), message: error.message)
      return state.abort(attempt, end, now: timer.now)
    }
    perform(actions)
  }
}
