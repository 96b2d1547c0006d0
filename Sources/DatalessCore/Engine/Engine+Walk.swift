/// Where a walk through a directory stands: behind one of its entries.
public struct DirectoryPosition: Sendable, Equatable {
  /// Of the entry; 0 before the first.
  public var cookie: UInt64
  /// `Namespace.sweeps` when the entry was read: after another sweep, the cookie leads nowhere, or to another name.
  public var sweeps: UInt64

  public static let start = DirectoryPosition(cookie: 0, sweeps: 0)

  public init(cookie: UInt64, sweeps: UInt64) {
    self.cookie = cookie
    self.sweeps = sweeps
  }
}

/// Some entries of a directory.
public enum DirectoryPage: Sendable {
  case children([(position: DirectoryPosition, item: ItemDescription)])
  /// The directory is dataless, so that nobody knows what is in it; or it is none, or forgotten.
  case notListed
  /// The entry of the position has been given back since: what came after it cannot be told any more. Never while the
  /// directory is held.
  case lost
}

extension Engine {
  /// The next children of a listed directory in listing order; none at the end.
  ///
  /// - Parameters:
  ///   - position: `start`, then that of the last child.
  ///   - limit: At most 256 are returned whatever it says, so that the lock is held briefly.
  public func children(of node: NodeID, after position: DirectoryPosition, limit: Int) -> DirectoryPage {
    state.withLock { state in
      guard let directory = state.namespace.index(of: node), state.namespace[directory].kind == .directory,
        state.namespace[directory].state == .resident, !state.isDetached(directory)
      else { return .notListed }
      let sweeps = state.namespace.sweeps(of: directory)
      guard position == .start || position.sweeps == sweeps else { return .lost }
      var found: [(cookie: UInt64, node: NodeIndex, name: [UInt8])] = []
      let read = state.namespace.readDirectory(directory, from: max(position.cookie, 2)) { entry in
        guard let child = entry.index else { return true }
        found.append((entry.nextCookie, child, Array(entry.name)))
        return found.count < min(limit, 256)
      }
      guard case .filled = read else { return .lost }
      let prefix = state.namespace.path(of: directory)
      return .children(
        found.map { entry in
          let path = prefix.isEmpty ? entry.name : prefix + [UInt8(ascii: "/")] + entry.name
          let position = DirectoryPosition(cookie: entry.cookie, sweeps: sweeps)
          return (position, state.describe(entry.node, path: path))
        })
    }
  }

  /// Keeps the names of a directory where they are, those that vanish included, until the hold is released: a walk
  /// finds its place again. It is no open: the directory can be evicted meanwhile.
  public func hold(_ directory: NodeID) -> DirectoryHold {
    state.withLock { state in
      if let index = state.namespace.index(of: directory) { state.openFiles.hold(index) }
    }
    return DirectoryHold(engine: self, directory: directory)
  }

  fileprivate func letGo(_ directory: NodeID) {
    // It cannot have been forgotten, so it has the same place; unless it was when the hold began.
    state.withLock { state in
      guard let index = state.namespace.index(of: directory) else { return }
      state.openFiles.letGo(index)
      state.namespace.noteSweepable(index)
      state.namespace.noteForgettable(index)
    }
    giveBackLeftovers()
  }
}

/// A directory that a walk goes through; released with the last reference.
public final class DirectoryHold: Sendable {
  private let engine: Engine
  private let directory: NodeID

  fileprivate init(engine: Engine, directory: NodeID) {
    self.engine = engine
    self.directory = directory
  }

  deinit { engine.letGo(directory) }
}
