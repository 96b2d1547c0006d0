/// Work on all of many attempts, a piece of it under each hold of the engine's lock: thousands may be held at a gate,
/// wait for a slot or be in flight when the volume ends.
extension Engine {
  /// LIMIT: attempts, and waiters of theirs, under one hold of the lock: about 100 us.
  static let pieceSize = 128

  /// Looks at attempts that have not ended, in the order given, and does what follows after each piece.
  func inPieces(
    _ attempts: some Sequence<AttemptID>, _ body: (inout EngineState, Attempt) -> [Action]
  ) {
    var rest = attempts.makeIterator()
    var yielder = LockYielder(timer)
    var isDone = false
    while !isDone {
      let actions: [Action] = state.withLock { state in
        var actions: [Action] = []
        var size = 0
        while size < Self.pieceSize {
          guard let id = rest.next() else {
            isDone = true
            break
          }
          size += 1
          guard let attempt = state.attempts[id] else { continue }
          size += attempt.recordedWaiters
          actions += body(&state, attempt)
        }
        return actions
      }
      perform(actions)
      yielder.yieldIfDue()
    }
  }

  /// Gives free slots to attempts that wait for one, as far as a piece of them did not come.
  func fillSlots() {
    var yielder = LockYielder(timer)
    var goesOn = true
    while goesOn {
      yielder.yieldIfDue()
      var actions = state.withLock { $0.fillSlots(timer.now) }
      goesOn = if case .fillSlots = actions.last { true } else { false }
      if goesOn { actions.removeLast() }
      perform(actions)
    }
  }
}
