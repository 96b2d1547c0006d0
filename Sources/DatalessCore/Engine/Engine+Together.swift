/// Writes to files that another process has open, too.
///
/// Whether the writer holds a lock is asked while its call is under way, and only once for each open: of a program that
/// has the file alone nothing is asked.
extension Engine {
  /// Records who writes beside whom. On the writer's request thread, without the lock.
  func look(at shared: SharedWrite, _ node: NodeID, _ handle: UInt64) {
    guard let holders else { return }
    let answer = holders.look(at: shared)
    state.withLock { state in
      // The handle may be closed by now: a request that was killed.
      guard let position = state.namespace.index(of: node), state.writers.isOpen(handle, position) else { return }
      switch answer {
      case .alone: state.writers.noteLook(handle, at: shared.latest)
      case .together(let found):
        state.writers.noteLook(handle, at: nil)
        state.tell(found, of: position, through: handle, at: timer.now)
      }
    }
  }
}

extension EngineState {
  /// A handle is about to be written through.
  ///
  /// - Parameter looks: Whether anything will be written.
  /// - Returns: Whether it may be; and what is to be asked before, nil for nothing.
  mutating func beginWrite(
    _ node: NodeID, _ request: WriteAccess, looks: Bool, at now: @autoclosure () -> MonotonicTime
  ) -> (mayWrite: Bool, shared: SharedWrite?) {
    guard let position = namespace.index(of: node), writers.isOpen(request.handle, position) else {
      return (false, nil)
    }
    return (true, looks ? sharedWrite(position, request, at: now()) : nil)
  }

  private mutating func sharedWrite(
    _ node: NodeIndex, _ request: WriteAccess, at now: @autoclosure () -> MonotonicTime
  ) -> SharedWrite? {
    // Whatever was looked at costs no more than this, however often it is written to.
    guard let latest = openers.latestIfMixed(node), let written = writers[request.handle], written.lookedAt < latest,
      !namespace[node].isOrphan
    else { return nil }
    guard let others = openers.beside(request.handle, node) else {
      writers.noteLook(request.handle, at: latest)
      return nil
    }
    guard openers.mayLook(now()) else {
      writers.notePassedOver(request.handle)
      return nil
    }
    let names = namespace.paths(of: node)
    return SharedWrite(
      threadID: request.threadID, opener: written.caller, names: names.isEmpty ? [namespace.path(of: node)] : names,
      others: others, latest: latest)
  }

  fileprivate func tell(
    _ found: SharedWrite.Together, of node: NodeIndex, through handle: UInt64, at now: MonotonicTime
  ) {
    events.record(
      .handleTogether(
        Event.HandleTogether(
          path: namespace.path(of: node), inode: namespace[node].inode, handle: OpenHandle.inLog(handle), found: found,
          time: now)))
  }

  /// A handle is closed through which something was written beside others, and nobody has looked.
  ///
  /// - Parameter isUnseen: Whether the kernel has written itself.
  func tellUnseenTogether(
    _ written: Writers.Written, of handle: UInt64, isUnseen: Bool, _ now: MonotonicTime
  ) {
    guard let latest = openers.latestIfMixed(written.node), !namespace[written.node].isOrphan else { return }
    let reason: LockSight.Reason
    if isUnseen {
      reason = .unseen
    } else if written.wasPassedOver {
      reason = .tooMany
    } else if written.mappedBytes > 0, written.lookedAt < latest {
      // What was looked at before is told, or was nobody else's.
      reason = .mapped
    } else {
      return
    }
    let found = SharedWrite.Together(
      writer: written.caller, other: .unknown, otherWrites: false, lock: .unknown(reason))
    tell(found, of: written.node, through: handle, at: now)
  }
}

extension SharedWrite.Opener {
  init(_ caller: Caller, openFlags: Int32) {
    self.init(process: caller.process, threadID: caller.threadID, writes: OpenFlags.writes(openFlags))
  }
}
