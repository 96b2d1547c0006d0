internal import SystemPackage

/// chmod(2), chown(2), utimensat(2) and truncate(2) on a writable volume.
extension Engine {
  /// Changes attributes of an item: all of them, or none.
  ///
  /// A size is changed first, and materializes a dataless file; nothing else does. It runs on the calling thread, as
  /// `write`.
  ///
  /// - Parameter handle: Of ftruncate(2); nil for a path.
  /// - Returns: What it looks like now. EROFS, EPERM (set-id bits alone, by who neither owns the file nor has it open
  ///   for writing), ESTALE (also of a version that the store has no more), EISDIR or EINVAL (size of what is no file,
  ///   or below 0), EFBIG, ENOSPC, EIO.
  public func setAttributes(
    _ change: AttributeChange, of node: NodeID, handle: UInt64? = nil, by caller: Caller
  ) -> AttributeAnswer {
    guard writing != .readOnly else { return .failed(FSError(.readOnlyFileSystem, "the volume is read-only")) }
    guard let size = change.size else { return apply(change, nil, to: node, by: caller) }
    guard size >= 0 else { return .failed(FSError(.invalidArgument, "a file has no less than 0 bytes")) }
    beginChange(of: node, .resize)
    let answer: AttributeAnswer
    switch resize(node, to: size, through: handle) {
    case .success(let extent): answer = apply(change, extent, to: node, by: caller)
    case .failure(.answered(let refusal)): answer = refusal
    }
    // A direct write beside it may have made the file larger again.
    guard endChange(of: node), case .changed = answer else { return answer }
    let item = state.withLock { state in state.namespace.index(of: node).map { state.snapshot(of: $0) } }
    return item.map { .changed($0) } ?? answer
  }

  private func apply(
    _ change: AttributeChange, _ extent: ContentExtent?, to node: NodeID, by caller: Caller
  ) -> AttributeAnswer {
    var search = RoomSearch()
    while true {
      let (answer, isRefused) = applyOnce(change, extent, to: node, by: caller)
      guard isRefused, makeRoomForChanges(&search) else { return answer }
    }
  }

  /// - Returns: Also whether it is refused because there is no room for what is kept of it.
  private func applyOnce(
    _ change: AttributeChange, _ extent: ContentExtent?, to node: NodeID, by caller: Caller
  ) -> (answer: AttributeAnswer, isRefused: Bool) {
    var refusal: FSError?
    var isRefused = false
    let snapshot: ItemSnapshot? = state.withLock { state in
      guard let position = state.namespace.index(of: node), !state.namespace[position].isSuperseded else { return nil }
      state.journal.beginOperation()
      defer { state.journal.endOperation() }
      refusal = state.refusal(of: change, of: position, by: caller)
      isRefused = state.journal.hasRefused
      guard refusal == nil else { return nil }
      state.catchUp(position)
      state.apply(change, extent, to: position)
      if !change.names.isEmpty {
        state.record(
          .attributes(what: change.names), position, path: state.namespace.path(of: position), by: caller, at: timer.now
        )
      }
      return state.snapshot(of: position)
    }
    if let refusal { return (.failed(refusal), isRefused) }
    let stale = FSError(.staleNFSFileHandle, "no such item, or version, on this volume")
    return (snapshot.map { .changed($0) } ?? .failed(stale), false)
  }

  /// Why a size was not changed.
  enum ResizeRefusal: Error {
    case answered(AttributeAnswer)
  }

  /// Cuts a file's content off, or lets it grow by a hole.
  ///
  /// - Returns: What it takes then; nil if it has none.
  func resize(_ node: NodeID, to size: Int64, through handle: UInt64?) -> Result<ContentExtent?, ResizeRefusal> {
    let (held, needed) = size == 0 ? (0, 0) : holdRoom(for: node, 0..<0)
    guard let held else { return .failure(.answered(.needsRoom(needed))) }
    defer { letGoRoom(held) }
    switch makeDirty(node, for: size == 0 ? .empty : .change, through: handle) {
    case .needsMaterialization: return .failure(.answered(.needsMaterialization))
    case .needsDurability(let number): return .failure(.answered(.needsDurability(number)))
    case .failed(let error): return .failure(.answered(.failed(error)))
    case .ready(.none): return .success(nil)
    case .emptied: return .success(ContentExtent(size: 0, blocks: 0))
    case .ready(let content):
      do throws(FSError) {
        let extent = try usingTrashForRoom { () throws(FSError) in try self.content.resize(content, to: size) }
        return .success(extent)
      } catch {
        return .failure(.answered(.failed(error)))
      }
    }
  }
}

extension EngineState {
  fileprivate func refusal(of change: AttributeChange, of node: NodeIndex, by caller: Caller) -> FSError? {
    if isForbidden(change, of: node, by: caller) {
      return FSError(.notPermitted, "only its owner, root or who writes to a file takes its set-id bits away")
    }
    // What was changed already has its place in what is kept.
    let isKept = namespace.isMade(node) || namespace[node].isDirty
    if isKept || journal.hasRoom(for: StateChange.growthOfItem) { return nil }
    return FSError(.noSpace, "there is no room in the state directory for more that was changed")
  }

  /// Whether nobody may ask for a change: the kernel says with the same request that somebody writes, which it has
  /// checked, and that somebody has called chown(2) with nothing to be changed, which on other file systems is refused
  /// for the set-id bits that it takes away.
  private func isForbidden(_ change: AttributeChange, of node: NodeIndex, by caller: Caller) -> Bool {
    guard change.isOfSetIDAlone, caller.uid != 0, caller.uid != namespace[node].uid, !writers.nodes.contains(node)
    else { return false }
    let attributes = namespace.attributes(of: node)
    var cleared = attributes
    cleared.clearSetID()
    return cleared != attributes
  }

  /// - Parameter extent: What the content of a file takes whose size was changed.
  mutating func apply(_ change: AttributeChange, _ extent: ContentExtent?, to node: NodeIndex) {
    let now = timeOfDay()
    if let uid = change.uid {
      costs.move(node, to: uid)
      attributeCosts.move(node, to: uid)
    }
    changeAttributes(of: node) { attributes in
      if let mode = change.mode { attributes.mode = attributes.mode & ~0o7777 | mode & 0o7777 }
      if let uid = change.uid { attributes.uid = uid }
      if let gid = change.gid { attributes.gid = gid }
      if change.clearsSetID || change.uid != nil || change.gid != nil { attributes.clearSetID() }
      if let size = change.size {
        attributes.size = size
        attributes.blocks = extent?.blocks ?? 0
        attributes.modificationTime = now
      }
      if let time = change.accessTime { attributes.accessTime = time.moment(now) }
      if let time = change.modificationTime { attributes.modificationTime = time.moment(now) }
      attributes.changeTime = now
    }
  }
}

extension AttributeChange {
  /// Whether nothing is changed but that set-id bits go.
  fileprivate var isOfSetIDAlone: Bool {
    var alone = AttributeChange()
    alone.clearsSetID = true
    return self == alone
  }

  /// What is changed, as records say it.
  fileprivate var names: [String] {
    var names: [String] = []
    if mode != nil { names.append("mode") }
    if uid != nil { names.append("uid") }
    if gid != nil { names.append("gid") }
    if size != nil { names.append("size") }
    if accessTime != nil { names.append("atime") }
    if modificationTime != nil { names.append("mtime") }
    return names
  }
}

extension AttributeChange.TimeChange {
  fileprivate func moment(_ now: Timestamp) -> Timestamp {
    switch self {
    case .now: now
    case .at(let time): time
    }
  }
}
