internal import SystemPackage

/// One item as an inventory sees it.
public struct StoredItem: Sendable {
  public var node: NodeID
  public var path: [UInt8]
  public var kind: ItemKind
  /// st_size of a file; 0 of all others.
  public var size: Int64
  /// What its content takes here, in whole pages.
  public var localBytes: Int64
  /// Whether its content is here, whole.
  public var isResident: Bool
  public var isDirty: Bool
  /// Why its name would go if room were short; nil: it would not.
  public var purge: PurgeReason?
  /// Its content could go, and come again.
  public var isEvictable: Bool
  /// nil: in no area.
  public var place: Areas.Place?
  /// It came into its area by a rename, from this one: `.some(nil)`: from none.
  public var formerArea: Areas.Place??
  /// Whether a program has opened it since.
  public var isTouched: Bool
  /// Whether it has other names, by which it is met again.
  public var hasOtherNames: Bool
  /// A directory that was never listed: nobody knows what is in it.
  public var isUnlisted: Bool
}

extension Engine {
  /// The number of the last use of a file so far: what is used later has a later one.
  public var lastUse: UInt32 { state.withLock { $0.room.lastUse } }

  /// What an inventory has to know of some items. - Parameter since: As `lastUse`.
  ///
  /// - Parameter nodes: At most 256, so that the lock is held briefly.
  public func storedItems(_ nodes: [NodeID], since use: UInt32) -> [StoredItem] {
    state.withLock { state in
      nodes.compactMap { id in state.namespace.index(of: id).map { state.storedItem($0, since: use) } }
    }
  }

  /// Finds out which apps run, so that `storedItems` knows what would be purged. On the metadata lane.
  ///
  /// - Parameter completion: Called once, there.
  public func prepareInventory(completion: @escaping @Sendable () -> Void) {
    metadata.submit { [self] in
      lookAtApps()
      completion()
    }
  }

  /// A digest of content that is here, keyed anew in each process: files of one size with the same one are equal. All
  /// of it is read, on the blocking lane; nobody has the file open for it.
  ///
  /// - Parameter completion: Called once, there. nil: it is not here, or was replaced meanwhile.
  public func digest(of node: NodeID, completion: @escaping @Sendable (ContentDigest?) -> Void) {
    blocking.submit { [self] in completion(digest(of: node)) }
  }

  func digest(of node: NodeID) -> ContentDigest? {
    guard let id = residentContent(of: node), id != .none else { return nil }
    var (first, second) = (Hasher(), Hasher())
    first.combine(UInt8(1))
    second.combine(UInt8(2))
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    do throws(FSError) {
      while case let count = try content.read(id, into: buffer, at: offset), count > 0 {
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        first.combine(bytes: bytes)
        second.combine(bytes: bytes)
        offset += Int64(count)
      }
    } catch {
      return nil
    }
    // Its place may have been given to other content meanwhile.
    guard residentContent(of: node) == id else { return nil }
    return ContentDigest(first: first.finalize(), second: second.finalize())
  }

  private func residentContent(of node: NodeID) -> ContentID? {
    state.withLock { state in
      guard let position = state.namespace.index(of: node), state.namespace[position].kind == .file else { return nil }
      return state.namespace[position].residentContent
    }
  }
}

/// As `Engine.digest`.
public struct ContentDigest: Sendable, Hashable {
  let first: Int
  let second: Int
}

extension EngineState {
  fileprivate mutating func storedItem(_ node: NodeIndex, since use: UInt32) -> StoredItem {
    // What the kernel wrote to itself.
    catchUp(node)
    let record = namespace[node]
    let isFile = record.kind == .file
    let standing: PurgeOrder.Stage = isFile && record.isLocal ? self.standing(of: node) : .keep
    var (purge, isEvictable): (PurgeReason?, Bool) = (nil, false)
    switch standing {
    case .purge(let reason, _): purge = reason
    case .evict: isEvictable = true
    case .keep: break
    }
    return StoredItem(
      node: namespace.id(of: node), path: namespace.path(of: node), kind: record.kind,
      size: isFile ? record.size : 0, localBytes: isFile && record.isLocal ? localBytes(of: node) : 0,
      isResident: isFile && record.state == .resident, isDirty: record.isDirty, purge: purge,
      isEvictable: isEvictable, place: place(of: node), formerArea: moves.former(of: node),
      isTouched: record.lastUse != 0 && Int32(bitPattern: record.lastUse &- use) > 0,
      hasOtherNames: isFile && record.linkCount > 1,
      isUnlisted: record.kind == .directory && record.state != .resident)
  }
}
