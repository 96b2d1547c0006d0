/// What a name is for a coordinated access, without materializing anything and never through a link.
public enum CoordinatedItem: Sendable, Equatable {
  /// - Parameter isMissing: Whether its content, or its listing, has to be brought here.
  case found(NodeID, isMissing: Bool)
  /// The directory is there, and has no such name.
  case absent
  /// A directory on the way is not there.
  case noDirectory
  /// What is on the way is no directory.
  case notADirectory
  /// The name, or a directory on the way, is a symbolic link.
  case link
  /// A directory on the way is dataless, so what is below it is not known.
  case insideDataless(NodeID)
}

extension Engine {
  /// Looks at a path, relative to the root, that has no `.`, `..` or empty component.
  public func coordinatedItem(_ path: [UInt8]) -> CoordinatedItem {
    let names = path.split(separator: UInt8(ascii: "/"))
    while true {
      if let item = tryCoordinatedItem(names) { return item }
    }
  }

  /// - Returns: nil when more names of a directory on the way have to be indexed first.
  private func tryCoordinatedItem(_ names: [ArraySlice<UInt8>]) -> CoordinatedItem? {
    state.withLock { state in
      var position = NodeIndex.root
      for (index, name) in names.enumerated() {
        let record = state.namespace[position]
        guard record.kind == .directory else { return record.kind == .symlink ? .link : .notADirectory }
        guard record.state == .resident else { return .insideDataless(state.namespace.id(of: position)) }
        guard state.namespace.indexNames(of: position) else { return nil }
        let found = name.withUnsafeBufferPointer { state.namespace.find($0, in: position) }
        guard let found else { return index == names.count - 1 ? .absent : .noDirectory }
        position = state.namespace.record(of: found).node
      }
      let record = state.namespace[position]
      guard record.kind != .symlink else { return .link }
      return .found(state.namespace.id(of: position), isMissing: record.isDataless)
    }
  }
}
