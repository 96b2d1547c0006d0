internal import Synchronization
internal import SystemPackage

extension Engine {
  /// A signal is pending for a waiting caller (FUSE_INTERRUPT). Ends its wait with EINTR if the interrupt mode says so;
  /// otherwise looks again every 100 ms until the reply, because the kernel does not ask a second time.
  ///
  /// Safe on any lane except a FUSE callback: it may answer the request. An interrupt may arrive before the caller is
  /// parked, so an unknown waiter is looked for once more.
  public func interrupt(_ waiter: WaiterID, isRepeat: Bool = false) {
    let (found, mode): (Int32??, Simulation.InterruptMode) = state.withLock { state in
      if let place = state.attemptOfWaiter[waiter] {
        let threadID = state.attempts[place.attempt]?.waiters[place.slot]?.request.caller.threadID
        return (.some(threadID), state.simulation.interrupt)
      }
      return (state.storeCalls[waiter].map { $0.threadID }, state.simulation.interrupt)
    }
    guard let threadID = found.flatMap({ $0 }) else {
      if !isRepeat { interruptLater(waiter) }
      return
    }
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
    timer.schedule(at: timer.now + max(100_000_000, waiting * 100_000)) { [self] in
      looksWaiting.subtract(1, ordering: .relaxed)
      interrupt(waiter, isRepeat: true)
    }
  }

  /// Ends one wait with an error. The attempt goes on while another waiter remains, else it is cancelled.
  public func leave(_ waiter: WaiterID, _ error: FSError) {
    let actions: [Action] = state.withLock { state in
      if let call = state.storeCalls.removeValue(forKey: waiter) { return [.call({ call.fail(error) })] }
      return state.leave(waiter, error, timer.now)
    }
    perform(actions)
  }

  /// Refuses everything from now on with `error`, and ends every wait with it. Calling it again ends what came between.
  public func end(_ error: FSError) {
    let actions: [Action] = state.withLock { state in
      let now = timer.now
      state.ending = error
      var actions: [Action] = []
      let calls = state.storeCalls.values.map { $0 }
      state.storeCalls = [:]
      actions += calls.map { call in .call({ call.fail(error) }) }
      for attempt in state.attempts.values.sorted(by: { $0.id < $1.id }) {
        if let job = attempt.job { actions.append(.cancel(job)) }
        actions += state.finish(attempt, AttemptEnd(outcome: .failed(error.errno), message: error.message), now)
      }
      actions += state.takeGateWatchers()
      actions += state.refreshes.map { refresh in .call({ refresh.abort(error) }) }
      return actions
    }
    perform(actions)
  }
}
