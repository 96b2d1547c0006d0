internal import SystemPackage

/// Opens that may write, on a writable volume.
extension Engine {
  /// open(2) of a file with write access, or with O_TRUNC. Without O_TRUNC nothing is materialized by it, unless the
  /// profile's opens do.
  ///
  /// A call that fails has cut nothing. So with O_TRUNC an open that may be passthrough is decided first, because it
  /// can fail for want of a descriptor, and emptied by `empty`; any other empties the file here, and cannot fail after
  /// that.
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
    let truncates = openFlags & OpenFlags.truncate != 0
    var open = WritableOpen(
      flags: openFlags & ~OpenFlags.truncate, io: io, caller: caller, empties: truncates,
      readsContent: !truncates && OpenFlags.reads(openFlags))
    var file: EmptiedFile?
    while true {
      if let answer = openNow(node, open) {
        if case .needsDurability = answer, let file { state.withLock { $0.noteEmptied(node, file) } }
        return answer
      }
      open.sizeBefore = size(of: node) ?? 0
      file = state.withLock { $0.fileToBeEmptied(node) }
      if let obstacle = cut(node, through: nil, clearsSetID: clearsSetID, by: caller) { return obstacle }
      open.empties = false
    }
  }

  /// Empties the file of an open that is to be passthrough: it is settled that there is a backing, or none.
  ///
  /// - Parameter handle: As the open was answered; `OpenHandle.asCached` of it if it is a cached one after all.
  /// - Returns: nil: it is empty. Else nothing was cut: the handle is to be released, and this is the open's answer.
  public func empty(
    _ node: NodeID, openedBy handle: UInt64, clearsSetID: Bool, by caller: Caller
  ) -> WritableOpenAnswer? {
    if let obstacle = cut(node, through: handle, clearsSetID: clearsSetID, by: caller) { return obstacle }
    state.withLock { $0.noteCut(node, by: handle) }
    return nil
  }

  /// - Returns: nil: the file is empty.
  private func cut(
    _ node: NodeID, through handle: UInt64?, clearsSetID: Bool, by caller: Caller
  ) -> WritableOpenAnswer? {
    var change = AttributeChange()
    change.size = 0
    change.clearsSetID = clearsSetID
    let mode = clearsSetID ? state.withLock { $0.mode(of: node) } : nil
    switch setAttributes(change, of: node, handle: handle, by: caller) {
    case .changed(let item):
      // Of an open the kernel knows that it moves size and times.
      if let mode, mode != item.attributes.mode { _ = kernel.invalidateAttributes(of: node) }
      return nil
    case .needsMaterialization: return .needsMaterialization
    case .needsDurability(let number): return .needsDurability(number)
    // Nothing is kept of a file that is emptied.
    case .needsRoom: return .failed(FSError(.noSpace, "there is no room"))
    case .failed(let error): return .failed(error)
    }
  }

  private struct WritableOpen {
    /// Without O_TRUNC.
    let flags: Int32
    let io: ReadMode
    let caller: Caller
    /// Whether O_TRUNC is still to be done.
    var empties: Bool
    /// In bytes, before O_TRUNC, if that is done.
    var sizeBefore: Int64 = 0
    /// Whether what was fetched can be read through it: with O_TRUNC it is gone.
    let readsContent: Bool

    var opener: SharedWrite.Opener { SharedWrite.Opener(caller, openFlags: flags) }
    /// What is asked for now.
    var asked: Int32 { empties ? flags | OpenFlags.truncate : flags }
  }

  private enum OpenStep {
    case answered(WritableOpenAnswer)
    /// It is no passthrough open: O_TRUNC comes first, then the file is looked at again.
    case cutFirst
    /// Who writes past the volume is not seen: the file is to be dirty before.
    case makeDirty(PassthroughWrites.Untouched?)
    /// Its content is to be looked at from now on.
    case watch(ContentID)
  }

  /// - Returns: nil: O_TRUNC is to be done first.
  private func openNow(_ node: NodeID, _ open: WritableOpen) -> WritableOpenAnswer? {
    var watch: (content: ContentID, watch: any ContentWatch, status: ContentStatus)?
    /// Why it cannot be passthrough.
    var failure: FSError?
    // Each round but the last does one thing that has to be there first, without the lock.
    while true {
      let step = state.withLock { state in
        // Asked under the same hold: between two it could be evicted.
        if let refusal = state.refusalOfOpen(node, openFlags: open.asked) { return OpenStep.answered(refusal) }
        guard let position = state.namespace.index(of: node) else {
          return .answered(.failed(FSError(.staleNFSFileHandle, "no such item on this volume")))
        }
        let size = max(open.sizeBefore, state.namespace[position].size)
        guard failure == nil, passes(position, size: size, &state) else {
          // Beside passthrough opens there is no other kind. Asked under this hold: others open it, too.
          if let failure, state.mustPassThrough(position) { return .answered(.failed(failure)) }
          return stepByRequests(position, open, in: &state)
        }
        return openPassing(position, open, watch: watch, in: &state)
      }
      do throws(FSError) {
        switch step {
        case .answered(let answer): return answer
        case .cutFirst: return nil
        case .makeDirty(let before):
          switch makeDirty(node, for: .change, through: nil, before: before) {
          case .ready, .emptied: break
          case .needsMaterialization: return .needsMaterialization
          case .needsDurability(let number): return .needsDurability(number)
          case .failed(let error): throw error
          }
        case .watch(let id):
          guard let made = try makeWatch(id) else { throw FSError(.ioError, "the content cannot be looked at") }
          watch = (id, made.watch, made.status)
        }
      } catch {
        failure = error
      }
    }
  }

  /// An open whose content the kernel reads and writes itself.
  private func openPassing(
    _ position: NodeIndex, _ open: WritableOpen,
    watch: (content: ContentID, watch: any ContentWatch, status: ContentStatus)?,
    in state: inout EngineState
  ) -> OpenStep {
    let record = state.namespace[position]
    var before: ContentStatus?
    if OpenFlags.writes(open.flags) {
      guard state.isReadyForWrites(position) else {
        guard !record.isDirty else { return .makeDirty(nil) }
        // What it looks like before anybody can write to it: perhaps nobody will.
        guard let watch, watch.content == record.content else { return .watch(record.content) }
        return .makeDirty(
          PassthroughWrites.Untouched(record.content, watch.status, watch: watch.watch, now: state.timeOfDay()))
      }
      if let file = state.passed[position] {
        state.catchUp(position)
        before = state.passed[position]?.seen
        state.passed.begin(position, file.watch, seen: file.seen)
      } else {
        guard !state.passed.isFull || state.openFiles.mustPassThrough(position) else {
          return stepByRequests(position, open, in: &state)
        }
        guard let watch, watch.content == record.content else { return .watch(record.content) }
        before = watch.status
        state.passed.begin(position, watch.watch, seen: watch.status)
      }
    } else if open.empties, !state.isReadyForWrites(position) {
      return .makeDirty(nil)
    }
    noteOpen(position, open, isPassthrough: true, in: &state)
    let handle = state.openFiles.openPassthrough(position, openFlags: open.flags, content: record.content)
    let number = state.contents.makeNumber()
    state.updateContent(of: position) { $0.notePassthrough(number) }
    state.openers.begin(handle, position, by: open.opener)
    if let before { state.writers.begin(handle, position, by: open.caller, before: before) }
    return .answered(.passthrough(record.content, handle: handle, isToBeEmptied: open.empties))
  }

  private func stepByRequests(_ position: NodeIndex, _ open: WritableOpen, in state: inout EngineState) -> OpenStep {
    open.empties ? .cutFirst : .answered(openByRequests(position, open, in: &state))
  }

  /// An open whose writes come to the volume.
  private func openByRequests(
    _ position: NodeIndex, _ open: WritableOpen, in state: inout EngineState
  ) -> WritableOpenAnswer {
    let record = state.namespace[position]
    let isResident = record.state == .resident
    let handle: UInt64
    if isResident, record.size == 0 || !state.simulation.servesReadsItself {
      noteOpen(position, open, isPassthrough: false, in: &state)
      handle = state.openFiles.open(position, openFlags: open.flags, content: record.content)
    } else {
      noteUse(position, &state)
      if !record.isWatched { state.updateContent(of: position) { $0.setWatched(true) } }
      handle = state.openFiles.openWatched(
        position, process: open.caller.process, openFlags: open.flags, content: isResident ? record.content : .none,
        io: open.io, pagesBefore: record.mayBeCached)
    }
    state.openers.begin(handle, position, by: open.opener)
    if OpenFlags.writes(open.flags) { state.writers.begin(handle, position, by: open.caller) }
    return .opened(handle: handle, isDirect: OpenHandle.isWatched(handle))
  }

  /// The kernel serves its reads alone.
  private func noteOpen(
    _ position: NodeIndex, _ open: WritableOpen, isPassthrough: Bool, in state: inout EngineState
  ) {
    noteUse(position, &state)
    let record = state.namespace[position]
    if record.isWatched, open.readsContent {
      noteUnseen(position, by: open.caller.process, isPassthrough: isPassthrough, &state)
    }
    if !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
  }

  private func noteUse(_ position: NodeIndex, _ state: inout EngineState) {
    state.namespace.count(.open, of: position)
    state.namespace.noteUse(state.room.nextUse(), of: position)
  }
}

extension EngineState {
  /// Whether an open can be no other kind than passthrough.
  fileprivate func mustPassThrough(_ position: NodeIndex) -> Bool {
    openFiles.mustPassThrough(position) || passed.mustPassThrough(position)
  }

  /// A passthrough open has emptied its file: that is no write.
  fileprivate mutating func noteCut(_ node: NodeID, by handle: UInt64) {
    guard let position = namespace.index(of: node), let seen = passed[position]?.seen else { return }
    writers.noteCut(by: handle, seen)
  }

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
    if record.isSuperseded {
      return .failed(FSError(.staleNFSFileHandle, "the store has another version"))
    }
    if pageDrops.isUnderWay(of: node) { return .isBeingEvicted }
    guard record.isDataless, simulation.profile.files.contains(.open) else { return nil }
    let isEmptied = openFlags & OpenFlags.truncate != 0 && simulation.profile.emptiesUnread
    return isEmptied ? nil : .needsMaterialization
  }
}
