internal import Synchronization
internal import SystemPackage

/// Goes through a tree and fetches what its policies want to be here, a few files and listings at a time.
///
/// Steps run on the metadata lane. What fails is left: it is fetched when somebody reads it, or by the next walk. Where
/// there is no room, or no store, the rest of a tree is left, too.
final class EagerWalk: Sendable {
  private struct Level {
    let directory: NodeID
    let hold: DirectoryHold
    var position = DirectoryPosition.start
    var children: ArraySlice<ItemDescription> = []
  }

  private struct State {
    var levels: [Level] = []
    var underWay = 0
    var isStepping = false
    var isWanted = false
  }

  private let engine: Engine
  private let state = Mutex(State())

  init(_ engine: Engine) { self.engine = engine }

  /// Begins as many fetches as may be under way; ends when there is nothing left.
  func step() {
    guard
      state.withLock({ state in
        state.isWanted = true
        defer { state.isStepping = true }
        return !state.isStepping
      })
    else { return }
    while state.withLock({ state in
      defer { state.isWanted = false }
      if !state.isWanted { state.isStepping = false }
      return state.isWanted
    }) {
      while state.withLock({ $0.underWay < EagerFetches.atOnce }), beginNext() {}
    }
  }

  private enum Target: Sendable {
    case item(ItemDescription)
    case look(DirectoryPosition, in: NodeID)
    case tree
    case wait
  }

  /// - Returns: False if there is nothing to begin now.
  private func beginNext() -> Bool {
    let target: Target = state.withLock { state in
      guard let last = state.levels.indices.last else { return state.underWay == 0 ? .tree : .wait }
      guard let child = state.levels[last].children.popFirst() else {
        return .look(state.levels[last].position, in: state.levels[last].directory)
      }
      return .item(child)
    }
    switch target {
    case .item(let item): begin(item, isRoot: false)
    case .look(let position, let directory): look(position, in: directory)
    case .tree:
      guard let root = engine.nextEagerTree() else { return false }
      if let item = engine.describe(root) { begin(item, isRoot: true) }
    case .wait: return false
    }
    return true
  }

  private func look(_ position: DirectoryPosition, in directory: NodeID) {
    var found: [(position: DirectoryPosition, item: ItemDescription)] = []
    if !engine.isUnreachable,
      case .children(let children) = engine.children(of: directory, after: position, limit: 256)
    {
      found = children
    }
    // Its hold is given back after unlocking.
    let left: Level? = state.withLock { state in
      // Others may have been put on top of it.
      guard let place = state.levels.lastIndex(where: { $0.directory == directory }) else { return nil }
      guard let end = found.last else { return state.levels.remove(at: place) }
      state.levels[place].position = end.position
      state.levels[place].children = found.map(\.item)[...]
      return nil
    }
    withExtendedLifetime(left) {}
  }

  /// - Parameter isRoot: A file that was asked for by itself is fetched whatever its policy is.
  private func begin(_ item: ItemDescription, isRoot: Bool) {
    let isDirectory = item.attributes.kind == .directory
    guard isDirectory || item.attributes.kind == .file, (isRoot && !isDirectory) || item.policy.keepsContent else {
      return
    }
    if isDirectory, item.state == "listed" { return enter(item.node) }
    guard !isDirectory || item.state != "other", item.state != "resident", item.attributes.size > 0 || isDirectory
    else {
      return
    }
    state.withLock { $0.underWay += 1 }
    let request = TriggerRequest(trigger: .eager, caller: .nobody)
    let admission = engine.materialize(item.node, request, waiter: engine.makeEagerWaiter()) { [self] result in
      switch result {
      case .ready: if isDirectory { enter(item.node) }
      case .failed(let error): if error.errno == .noSpace || engine.isUnreachable { giveUp() }
      }
      end()
    }
    switch admission {
    case .parked: return
    case .ready: if isDirectory { enter(item.node) }
    case .failed: break
    }
    state.withLock { $0.underWay -= 1 }
  }

  private func enter(_ directory: NodeID) {
    let hold = engine.hold(directory)
    state.withLock { $0.levels.append(Level(directory: directory, hold: hold)) }
  }

  /// Leaves what is left of the tree.
  private func giveUp() {
    let left = state.withLock { state in
      defer { state.levels = [] }
      return state.levels
    }
    withExtendedLifetime(left) {}
  }

  private func end() {
    state.withLock { $0.underWay -= 1 }
    engine.metadata.submit { [self] in step() }
  }
}

extension Engine {
  /// Fetches what the policies want of these items, and of what is below them, in the background.
  func fetchEagerly(_ nodes: [NodeID]) {
    guard !nodes.isEmpty else { return }
    let begins = state.withLock { state in
      var begins = false
      for node in nodes where state.ending == nil { if state.eager.add(node) { begins = true } }
      return begins
    }
    guard begins else { return }
    let walk = EagerWalk(self)
    metadata.submit { walk.step() }
  }

  /// Looks again at everything that is pinned: the store has changed.
  func fetchPinned() {
    fetchEagerly(
      state.withLock { state in
        guard !state.policies.isEmpty else { return [] }
        return state.policies.pinned.filter { !state.namespace[$0].isOrphan }.map { state.namespace.id(of: $0) }
      })
  }

  /// Whether nothing can be fetched now: the store is offline, or the volume ends.
  var isUnreachable: Bool { state.withLock { $0.simulation.isOffline || $0.ending != nil } }

  /// The tree to be gone through next; nil: none any more.
  func nextEagerTree() -> NodeID? {
    state.withLock { state in
      while let node = state.eager.next() { if state.ending == nil { return node } }
      return nil
    }
  }

  /// A waiter of nobody's: never one of the kernel's requests.
  func makeEagerWaiter() -> WaiterID {
    WaiterID(rawValue: 1 << 63 | state.withLock { UInt64($0.contents.makeNumber()) })
  }
}

extension Caller {
  /// The volume itself.
  static let nobody = Caller(process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0)
}
