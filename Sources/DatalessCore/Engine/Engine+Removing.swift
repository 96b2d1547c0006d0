internal import SystemPackage

/// Names that are removed or moved on a writable volume. Nothing is fetched for it; a directory is listed before names
/// of it are changed, and before it goes.
extension Engine {
  /// unlink(2). - Returns: ENOENT, EISDIR.
  public func unlink(_ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, by caller: Caller) -> ChangeAnswer {
    remove(name, in: parent, by: caller) { state, node in
      state.namespace[node].kind == .directory ? .failed(.isDirectory) : .ready(node)
    }
  }

  /// rmdir(2). - Returns: ENOENT, ENOTDIR, ENOTEMPTY.
  public func removeDirectory(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, by caller: Caller
  ) -> ChangeAnswer {
    remove(name, in: parent, by: caller) { state, node in
      state.namespace[node].kind == .directory ? state.emptiness(of: node) : .failed(.notDirectory)
    }
  }

  /// - Parameter check: Whether what the name leads to may go.
  private func remove(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, by caller: Caller,
    _ check: (inout EngineState, NodeIndex) -> EngineState.NamePlace
  ) -> ChangeAnswer {
    changeNames { [timer] state in
      switch state.place(of: name, in: parent) {
      case .again: return nil
      case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
      case .failed(let errno): return .failed(errno)
      case .ready(let directory):
        guard let found = state.namespace.find(name, in: directory) else { return .failed(.noSuchFileOrDirectory) }
        let node = state.namespace.record(of: found).node
        switch check(&state, node) {
        case .again: return nil
        case .needsListing(let child), .needsEmptiness(let child): return .needsEmptiness(child)
        case .failed(let errno): return .failed(errno)
        case .ready: break
        }
        // That a name of the store's is hidden has to be kept.
        if !state.namespace.record(of: found).isLocal {
          let growth = StateChange.growth(ofName: name.count)
          guard state.journal.hasRoom(for: growth, removing: true) else { return .failed(.noSpace) }
        }
        let path = state.namespace.path(ofName: found)
        let isDirectory = state.namespace[node].kind == .directory
        let removed = state.takeAway(found)
        state.touch(directory, links: isDirectory ? -1 : 0)
        state.record(.removed(removed), node, path: path, by: caller, at: timer.now)
        return .done
      }
    }
  }

  /// renameat2(2).
  ///
  /// - Returns: ENOENT; EEXIST (`noReplace`); EINVAL (a directory into itself; options that exclude each other, or that
  ///   nobody knows); EISDIR, ENOTDIR, ENOTEMPTY (what is replaced).
  public func rename(
    _ name: UnsafeBufferPointer<UInt8>, in parent: NodeID, to newName: UnsafeBufferPointer<UInt8>,
    in newParent: NodeID, options: RenameOptions, by caller: Caller
  ) -> ChangeAnswer {
    guard [[], .noReplace, .exchange].contains(options) else { return .failed(.invalidArgument) }
    return changeNames { [timer] state in
      var directories: [NodeIndex] = []
      for place in [state.place(of: name, in: parent), state.place(of: newName, in: newParent)] {
        switch place {
        case .again: return nil
        case .needsListing(let directory), .needsEmptiness(let directory): return .needsListing(directory)
        case .failed(let errno): return .failed(errno)
        case .ready(let directory): directories.append(directory)
        }
      }
      let rename = Rename(from: directories[0], to: directories[1], options: options, caller: caller, now: timer.now)
      return state.rename(name, to: newName, rename)
    }
  }
}
