internal import Synchronization
internal import SystemPackage

/// The limit on local content (`quota`): who adds something waits until there is room, what was used least recently
/// goes for it.
extension Engine {
  /// What local content there is and may be.
  public var roomStatus: RoomStatus {
    state.withLock { state in
      RoomStatus(
        quota: state.room.quota, used: state.localBytes(), pending: state.room.pending.bytes,
        waiting: state.room.pending.waiting, removing: state.room.removing.bytes)
    }
  }

  /// Grants what there is room for, and sees to it that there will be more.
  func settleRoom() {
    var goesOn = true
    while goesOn {
      let (actions, settlement): ([Action], Room.Settlement) = state.withLock { state in
        let settlement = state.room.settle(used: state.localBytes(), timer.now)
        return (state.goOn(settlement, timer.now), settlement)
      }
      perform(actions)
      if settlement.sweeps { sweep(.quota) }
      callForRoom(at: settlement.callAt)
      goesOn = settlement.hasMore
    }
  }

  private func callForRoom(at moment: MonotonicTime?) {
    guard let moment else { return }
    timer.schedule(at: moment) { [self] in
      state.withLock { $0.room.called(at: moment) }
      settleRoom()
    }
  }

  /// Has a caller wait until there is room for so many bytes; none is kept for him.
  ///
  /// - Parameter completion: Called exactly once, on the metadata lane or here. nil: try again. ENOSPC; EINTR: the
  ///   caller has been killed; ETIMEDOUT: the volume ends.
  public func waitForRoom(
    _ bytes: Int64, threadID: Int32, waiter: WaiterID, completion: @escaping @Sendable (FSError?) -> Void
  ) {
    let goOn: @Sendable (FSError?) -> Void = { [self] error in
      metadata.submit { [self] in
        if state.withLock({ $0.calls.claim(waiter) != nil }) { completion(error) }
      }
    }
    let (ending, isInterrupted): (FSError?, Bool) = state.withLock { state in
      let isInterrupted = state.calls.receive(waiter)
      if let ending = state.ending { return (ending, false) }
      state.calls.park(
        waiter,
        PendingCalls.Call(
          threadID: threadID,
          fail: { [self] error in
            self.state.withLock { $0.room.release(.caller(waiter)) }
            completion(error)
          }))
      state.room.wait(waiter, for: bytes, timer.now, goOn: goOn)
      return (nil, isInterrupted)
    }
    if let ending { return completion(ending) }
    if isInterrupted { interrupt(waiter) }
    settleRoom()
  }

  // MARK: - Writes

  /// Keeps room for what a write may add.
  ///
  /// - Returns: How much was kept, for `letGoRoom`; nil: the caller has to wait for `needed`.
  func holdRoom(for node: NodeID, _ range: Range<Int64>) -> (held: Int64?, needed: Int64) {
    guard limitsRoom.load(ordering: .relaxed) else { return (0, 0) }
    return state.withLock { state in
      guard state.room.isLimited, let position = state.namespace.index(of: node) else { return (0, 0) }
      let needed = state.growth(of: position, range, hasOwnFile: content.hasOwnFile)
      guard needed > 0 else { return (0, 0) }
      return (state.room.hold(needed, used: state.localBytes()) ? needed : nil, needed)
    }
  }

  /// A write is done: what it has added is in the content store.
  func letGoRoom(_ bytes: Int64) {
    guard bytes > 0 else { return }
    let isShort = state.withLock { state in
      state.room.letGo(bytes)
      return state.room.isShort(used: state.localBytes())
    }
    if isShort { settleRoom() }
  }

  // MARK: - Content that goes

  /// Content of an earlier run is looked for that no item has, or not any more. Who finds no room waits for it
  /// meanwhile, as for what is on its way out; what is found goes by `removeLeftovers`.
  public func setSeeksLeftovers(_ seeks: Bool) {
    state.withLock { $0.room.setSeeksLeftovers(seeks) }
    if !seeks, limitsRoom.load(ordering: .relaxed) { settleRoom() }
  }

  /// Contents were removed. - Parameter bytes: As `Room.beginRemoval` was told.
  func endRemoval(_ bytes: Int64, count: Int) {
    let isShort = state.withLock { state in
      state.room.endRemoval(bytes, count: count)
      return state.room.isShort(used: state.localBytes())
    }
    if isShort { settleRoom() }
  }
}

/// What local content there is and may be, in bytes.
public struct RoomStatus: Sendable, Equatable {
  /// nil: as much as the disk has.
  public var quota: Int64?
  /// Trash and dirty content included.
  public var used: Int64
  /// Granted, and not there yet.
  public var pending: Int64
  /// Who waits for room.
  public var waiting: Int
  /// Being removed.
  public var removing: Int64
}
