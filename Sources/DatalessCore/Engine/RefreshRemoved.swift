internal import SystemPackage

/// Directories that callers do not find any more, because they were removed here, or that nobody has looked into since
/// the mount: a refresh lists them for the sake of what was moved out of them.
extension Refresh {
  /// Whether a directory is to be listed. Of one that was removed here only what was moved out of it matters; those in
  /// it that may hold more are noted.
  func isWanted(_ directory: NodeIndex, recurses: Bool, _ work: inout RefreshWork) -> Bool {
    guard let inside = engine.insideRemoved(directory) else { return true }
    if recurses { work.findings.subdirectories += inside.directories }
    return inside.hasMoved
  }
}

extension Engine {
  /// What is in a directory that was removed here; nil for any other.
  func insideRemoved(_ directory: NodeIndex) -> RemovedInside? {
    var inside = RemovedInside()
    var cursor: NameCursor? = .start
    var yielder = LockYielder(timer)
    while let position = cursor {
      yielder.yieldIfDue()
      let next: NameCursor?? = state.withLock { state in
        guard state.namespace[directory].isOrphan else { return nil }
        return .some(state.namespace.look(into: directory, from: position, limit: 1024, &inside))
      }
      guard let next else { return nil }
      cursor = next
    }
    return inside
  }

  /// Listed directories that are known by a name that was made here alone: the store's place of them was not looked
  /// into since the mount, and so no listing leads to them.
  var placesUnseen: [NodeIndex] {
    state.withLock { state in
      state.namespace.restored.nodesWithKeys.filter {
        state.namespace[$0].isListed && !state.namespace[$0].isOrphan
      }
    }
  }

  /// The store has nothing where such a directory was: it is decided about with all that it has no more.
  func loseUnseen(_ directory: NodeIndex) {
    state.withLock { state in
      guard state.namespace.restored.key(of: directory) != nil else { return }
      state.namespace.restored.setKey(nil, of: directory)
      state.namespace.noteUnbound(directory)
    }
  }
}

/// What was found in a directory that was removed here.
struct RemovedInside {
  /// Whether something that was in it has a name elsewhere.
  var hasMoved = false
  /// Listed directories in it that were removed, too.
  var directories: [NodeIndex] = []
}

extension Namespace {
  /// Looks at some names of a directory that was removed here.
  fileprivate mutating func look(
    into directory: NodeIndex, from cursor: NameCursor, limit: Int, _ inside: inout RemovedInside
  ) -> NameCursor? {
    visitStoreNames(of: directory, from: cursor, limit: limit) { namespace, name in
      let node = namespace.record(of: name).node
      if !namespace[node].isOrphan {
        inside.hasMoved = true
      } else if namespace[node].isListed {
        inside.directories.append(node)
      }
    }
  }
}

extension EngineState {
  /// What the store lists in a directory that was removed here. What was moved out of it is merged as anywhere else;
  /// what was removed with it is not looked at, and what is new there nobody will see: it may be what was moved, under
  /// another name.
  func standing(
    _ text: UnsafeBufferPointer<UInt8>, _ listed: ListedItem, in place: RefreshFindings.Place
  ) -> MovedStanding {
    guard let name = namespace.find(text, in: place.directory, .store), namespace.record(of: name).isInStore,
      namespace.listed(of: namespace.record(of: name).node).relation(to: listed) != .other
    else { return .other }
    return namespace[namespace.record(of: name).node].isOrphan ? .removed(name) : .moved
  }

  /// What an entry in a directory that was removed here is.
  enum MovedStanding {
    /// Moved out of it.
    case moved
    /// Removed with it.
    case removed(NameIndex)
    /// Not what was known under the name.
    case other
  }
}
