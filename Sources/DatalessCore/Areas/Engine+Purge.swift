internal import Synchronization
internal import SystemPackage

/// What went with a name.
struct PurgedContent: Sendable {
  /// As size.
  let bytes: Int64
  /// What it took on the disk.
  let room: Int64
  /// Of these, what a program had written, and nobody else has.
  let lostBytes: Int64
}

/// Purging: names in areas go when room is short.
extension Engine {
  /// LIMIT: records looked at under one lock.
  private static let useStep = 1024

  /// Finds out which apps run, and when each was used last; for the choice of what goes. Reads /proc: on the metadata
  /// lane.
  func lookAtApps() {
    guard !simulation.areas.isEmpty else { return }
    let running = RunningApps(processes.running())
    var next: NodeIndex? = .root
    var yielder = LockYielder(timer)
    while let start = next {
      yielder.yieldIfDue()
      next = state.withLock { $0.ending == nil ? $0.noteUses(from: start, limit: Self.useStep) : nil }
    }
    state.withLock { state in state.purges.end(running, in: state.simulation.areas) }
  }

  /// Takes the name of a file away, with its content, because room is short.
  ///
  /// - Parameter completion: Called once, when the kernel knows: with what went; nil: it is used.
  func purge(
    _ node: NodeID, by cause: String, cleared: UInt64? = nil, completion: @escaping @Sendable (PurgedContent?) -> Void
  ) {
    switch changeNames({ [timer] in $0.purge(node, by: cause, cleared: cleared, timer.now) }) {
    case .refused: completion(nil)
    case .look(let reference, let lastOpen):
      blocking.submit { [self] in
        if content.isUsedElsewhere(reference) { return completion(nil) }
        purge(node, by: cause, cleared: lastOpen, completion: completion)
      }
    case .purged(let directory, let name, let content, let purged):
      if let content { removeContent(content) }
      forgetAttributes(of: [directory])
      kernel.invalidateDirectory(directory, names: { [name] }) { completion(purged) }
      giveBackLeftovers()
    }
  }
}
