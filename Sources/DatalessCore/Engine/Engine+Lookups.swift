/// Attributes that the kernel keeps until it is told otherwise, and answers that bring them while they change.
///
/// A LOOKUP or READDIRPLUS answer carries attributes as they were under the lock; the kernel puts them into a new inode
/// some time after the answer was written, when the caller runs again. If they change in between, the notification
/// comes before the inode: ENOENT, and the old attributes would stay for ever. So each such answer counts as a lookup
/// under the lock under which its attributes were read, and FORGET gives it back, as the protocol has it. ENOENT for a
/// node with lookups means that an answer is on its way (or a FORGET is), and the notification is repeated until the
/// kernel takes it or has given all lookups back.
///
/// An inode that is there when the notification comes is safe: the kernel drops attributes of requests that it sent
/// before.
extension Engine {
  /// How long after a notification for a node that is still to come it is repeated; each time twice as long, so that
  /// wrong attributes last no longer than their answer took.
  private static let firstRepeat = Nanoseconds.milliseconds(1)
  private static let longestRepeat = Nanoseconds.seconds(60)

  /// Makes the kernel ask for attributes again. Called after the change, without the lock.
  func forgetAttributes(of nodes: [NodeID]) {
    let unknown = nodes.filter { !kernel.invalidateAttributes(of: $0) }
    if !unknown.isEmpty { forgetOnceKnown(unknown) }
  }

  /// Repeats the notification for nodes that the kernel does not know although it was given them.
  func forgetOnceKnown(_ nodes: [NodeID], after delay: Nanoseconds = Engine.firstRepeat) {
    var given: [NodeID] = []
    var rest = nodes[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.forgetStep)
      rest = rest.dropFirst(Self.forgetStep)
      given += state.withLock { state in
        guard state.ending == nil else { return [] }
        return part.filter { node in
          state.namespace.index(of: node).map { state.namespace[$0].lookups > 0 } ?? false
        }
      }
    }
    guard !given.isEmpty else { return }
    let coming = given
    timer.schedule(at: timer.now + delay) { [self] in
      let unknown = coming.filter { !kernel.invalidateAttributes(of: $0) }
      if !unknown.isEmpty { forgetOnceKnown(unknown, after: min(delay + delay, Self.longestRepeat)) }
    }
  }

  /// Nodes looked at, or given back, under one lock.
  private static let forgetStep = 256

  /// Lookups that the kernel has given back, or that it has not taken: FORGET, and answers that came too late.
  public func forget(_ lookups: some Collection<(node: NodeID, count: UInt64)>) {
    var rest = lookups[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.forgetStep)
      rest = rest.dropFirst(Self.forgetStep)
      var unlinked: [NodeID] = []
      let hasLeftovers: Bool = state.withLock { state in
        for (node, count) in part {
          guard let position = state.namespace.index(of: node) else { continue }
          state.namespace.giveBack(count, of: position)
          if state.namespace[position].isOrphan, state.holdsUnlinked(position) { unlinked.append(node) }
        }
        return state.reclamation.isDue(state.hasReclaimable)
      }
      if !unlinked.isEmpty { dispose(unlinked) }
      if hasLeftovers { giveBackLeftovers() }
    }
  }
}
