public import SystemPackage

/// One item as a caller sees it.
public struct ItemSnapshot: Sendable {
  public var node: NodeID
  /// SOURCE's metadata; `blocks` and `changeTime` are what the volume presents.
  public var attributes: ItemAttributes
  /// Whether content (or a listing) is absent, a fetch under way included.
  public var isDataless: Bool
  /// Whether it may be written to past the volume: then the attributes are those of a moment, to be asked for again.
  public var changesUnseen = false

  public init(node: NodeID, attributes: ItemAttributes, isDataless: Bool) {
    self.node = node
    self.attributes = attributes
    self.isDataless = isDataless
  }
}

/// What a lookup or a directory read found.
public enum NameLookup: Sendable {
  case found(ItemSnapshot)
  case absent
  /// The directory is dataless: materialize it, then look again.
  case needsListing
  case failed(Errno)
}

/// What a directory read did.
public enum DirectoryRead: Sendable {
  case filled
  case needsListing
  case failed(Errno)
}

/// One entry on its way into a directory buffer. `name` is valid only during the call that receives it.
public struct DirectoryEntryView {
  public var name: UnsafeBufferPointer<UInt8>
  /// Where a later read goes on after this entry. It leads there as long as the directory stays open, or is held.
  public var nextCookie: UInt64
  /// nil for `.` and `..`, of which only `attributes.inode` and `.mode` count.
  public var node: NodeID?
  var index: NodeIndex?
  public var attributes: ItemAttributes
  /// As `ItemSnapshot`.
  public var changesUnseen = false
}

extension Engine {
  /// stat(2) of a node; nil for a node that was never handed out (ESTALE).
  public func attributes(of node: NodeID) -> ItemSnapshot? {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return nil }
      state.namespace.count(.stat, of: position)
      return state.snapshot(of: position)
    }
  }

  /// Looks up one name in a directory. What is found counts as a lookup by the kernel, see `forget`.
  public func lookup(_ name: UnsafeBufferPointer<UInt8>, in parent: NodeID) -> NameLookup {
    while true {
      if let answer = tryLookup(name, in: parent) { return answer }
    }
  }

  /// - Returns: nil when more of the directory's names have to be indexed first: a bounded number under one lock.
  private func tryLookup(_ name: UnsafeBufferPointer<UInt8>, in parent: NodeID) -> NameLookup? {
    state.withLock { state in
      guard let position = state.namespace.index(of: parent) else { return .failed(.staleNFSFileHandle) }
      guard state.namespace[position].kind == .directory else { return .failed(.notDirectory) }
      guard name.count <= Namespace.nameLengthMax else { return .failed(.fileNameTooLong) }
      guard !state.isDetached(position) else { return .absent }
      guard state.namespace[position].state == .resident else { return .needsListing }
      guard state.namespace.indexNames(of: position) else { return nil }
      guard let found = state.namespace.find(name, in: position) else {
        // What cannot be made is not merely absent.
        let isTooLong = state.writing != .readOnly && name.count > EngineState.nameMax
        return isTooLong ? .failed(.fileNameTooLong) : .absent
      }
      let child = state.namespace.record(of: found).node
      state.namespace.count(.stat, of: child)
      state.namespace.countLookup(of: child)
      return .found(state.snapshot(of: child))
    }
  }

  /// Entries that count as lookups, in one answer.
  private static let countedMax = 1024

  /// Hands out the entries of a listed directory from a cookie on (0 = start), until `body` returns false, which means
  /// that it has not taken the entry.
  ///
  /// `body` runs under the engine's lock: it may only copy bytes, and must stop after at most some hundred entries.
  ///
  /// - Parameter countsLookups: Whether each entry that is taken counts as a lookup by the kernel (READDIRPLUS), see
  ///   `forget`.
  public func readDirectory(
    _ node: NodeID, from cookie: UInt64, countsLookups: Bool = false, _ body: (DirectoryEntryView) -> Bool
  ) -> DirectoryRead {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      guard state.namespace[position].kind == .directory else { return .failed(.notDirectory) }
      guard !state.isDetached(position) else { return .failed(.noSuchFileOrDirectory) }
      guard state.namespace[position].state == .resident else { return .needsListing }
      let passed = state.passed
      func offer(_ entry: DirectoryEntryView) -> Bool {
        guard !passed.isEmpty, let file = entry.index.flatMap({ passed[$0] }) else { return body(entry) }
        var entry = entry
        entry.attributes = file.current(entry.attributes)
        entry.changesUnseen = true
        return body(entry)
      }
      guard countsLookups else { return state.namespace.readDirectory(position, from: cookie, offer) }
      // As many as an answer holds.
      return withUnsafeTemporaryAllocation(of: NodeIndex.self, capacity: Self.countedMax) { taken in
        var count = 0
        let read = state.namespace.readDirectory(position, from: cookie) { entry in
          guard count < taken.count, offer(entry) else { return false }
          if let node = entry.index {
            taken[count] = node
            count += 1
          }
          return true
        }
        for node in taken[..<count] { state.namespace.countLookup(of: node) }
        return read
      }
    }
  }

}
