internal import SystemPackage

/// Opens that may write, on a writable volume.
extension Engine {
  /// open(2) of a file with write access, or with O_TRUNC. Without O_TRUNC nothing is materialized by it, unless the
  /// profile's opens do.
  ///
  /// - Parameters:
  ///   - io: As `open`.
  ///   - clearsSetID: With O_TRUNC: whether setuid and setgid go.
  /// - Returns: EROFS; EISDIR, EINVAL (no file); ESTALE (a version that the store has no more; what was removed here
  ///   can be opened by who has it); of O_TRUNC, what `setAttributes` says of a size.
  public func openForWriting(
    _ node: NodeID, openFlags: Int32, io: ReadMode, clearsSetID: Bool, by caller: Caller
  ) -> WritableOpenAnswer {
    guard writing != .readOnly else { return .failed(FSError(.readOnlyFileSystem, "the volume is read-only")) }
    if openFlags & OpenFlags.truncate != 0 {
      if let refusal = state.withLock({ $0.refusalOfOpen(node, openFlags: openFlags) }) { return refusal }
      var change = AttributeChange()
      change.size = 0
      change.clearsSetID = clearsSetID
      let mode = clearsSetID ? state.withLock { $0.mode(of: node) } : nil
      switch setAttributes(change, of: node, by: caller) {
      case .changed(let item):
        // Of an open the kernel knows that it moves size and times.
        if let mode, mode != item.attributes.mode { _ = kernel.invalidateAttributes(of: node) }
      case .needsMaterialization: return .needsMaterialization
      case .needsDurability(let number): return .needsDurability(number)
      // Nothing is kept of a file that is emptied.
      case .needsRoom: return .failed(FSError(.noSpace, "there is no room"))
      case .failed(let error): return .failed(error)
      }
    }
    return state.withLock { state in
      // Asked under the same hold: between two it could be evicted.
      if let refusal = state.refusalOfOpen(node, openFlags: openFlags & ~OpenFlags.truncate) { return refusal }
      guard let position = state.namespace.index(of: node) else {
        return .failed(FSError(.staleNFSFileHandle, "no such item on this volume"))
      }
      let handle = openHandle(position, openFlags: openFlags, io: io, by: caller, &state)
      if OpenFlags.writes(openFlags) { state.writers.begin(handle, position, by: caller) }
      return .opened(handle: handle, isDirect: OpenHandle.isWatched(handle))
    }
  }

  private func openHandle(
    _ position: NodeIndex, openFlags: Int32, io: ReadMode, by caller: Caller, _ state: inout EngineState
  ) -> UInt64 {
    let record = state.namespace[position]
    state.namespace.count(.open, of: position)
    state.namespace.noteUse(state.room.nextUse(), of: position)
    let isResident = record.state == .resident
    guard isResident, record.size == 0 || !state.simulation.servesReadsItself else {
      if !record.isWatched { state.updateContent(of: position) { $0.setWatched(true) } }
      return state.openFiles.openWatched(
        position, process: caller.process, openFlags: openFlags, content: isResident ? record.content : .none, io: io,
        pagesBefore: record.mayBeCached)
    }
    if record.isWatched { noteUnseen(position, by: caller.process, isPassthrough: false, &state) }
    if !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
    return state.openFiles.open(position, openFlags: openFlags, content: record.content)
  }
}

extension EngineState {
  fileprivate func mode(of node: NodeID) -> UInt32? { namespace.index(of: node).map { UInt32(namespace[$0].mode) } }

  /// Why a file cannot be opened now; nil if it can.
  fileprivate func refusalOfOpen(_ node: NodeID, openFlags: Int32) -> WritableOpenAnswer? {
    guard let position = namespace.index(of: node) else {
      return .failed(FSError(.staleNFSFileHandle, "no such item on this volume"))
    }
    let record = namespace[position]
    guard record.kind == .file else {
      return .failed(FSError(record.kind == .directory ? .isDirectory : .invalidArgument, "it is no file"))
    }
    // The kernel still knew a name of it. It looks the name up again then, and opens what has it now.
    if record.isOrphan, !record.isUnlinked {
      return .failed(FSError(.staleNFSFileHandle, "the store has another version"))
    }
    if pageDrops.isUnderWay(of: node) { return .isBeingEvicted }
    guard record.isDataless, simulation.profile.files.contains(.open) else { return nil }
    let isEmptied = openFlags & OpenFlags.truncate != 0 && simulation.profile.emptiesUnread
    return isEmptied ? nil : .needsMaterialization
  }
}
