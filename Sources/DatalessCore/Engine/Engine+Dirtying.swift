internal import SystemPackage

/// What is about to be done to a file's content.
enum ContentUse {
  /// Some of it changes.
  case change
  /// All of it goes.
  case empty
}

/// Whether a file's content may be changed now.
enum ContentReadiness {
  /// This content is the file's, is dirty, and is to be changed without the lock; `none`: there is nothing to be done.
  case ready(ContentID)
  /// All of it is gone: the file has this empty content now.
  case emptied(ContentID)
  case needsMaterialization
  case needsDurability(ChangeNumber)
  case failed(FSError)
}

/// How content becomes one that programs may write to.
///
/// What lies in a file of its own becomes dirty in place: nothing is copied. Anything else is copied into one, without
/// the lock; then the file is looked at again, and who was slower drops his copy.
extension Engine {
  /// Whether content may be changed on a request thread: no disk keeps it waiting for long.
  public var writesPromptly: Bool { content.isFastLocal }

  /// What is to be done to a file's content, and through which handle.
  fileprivate struct Change {
    let use: ContentUse
    let handle: UInt64?
    /// As `DirtyStep.make`.
    let wasDirty: Bool
  }

  /// Makes a file's content one that may be changed. On a thread that may wait for the content store.
  ///
  /// On a volume that is kept, what is emptied by giving it other content is answered before that is durable: it is the
  /// old file or the empty one after a crash, whose content goes when that is durable. The next write waits for it.
  ///
  /// - Parameters:
  ///   - handle: Through which it is changed: what it reads from now on is leased by it. nil: by path.
  ///   - before: For an open: the content as it was while it was clean.
  func makeDirty(
    _ node: NodeID, for use: ContentUse, through handle: UInt64?, before: PassthroughWrites.Untouched? = nil
  ) -> ContentReadiness {
    // Each round but the last finds that somebody else was faster.
    while true {
      let (step, left): (DirtyStep, ContentID?) = state.withLock { state in
        state.stepToDirty(node, for: use, through: handle, before: before, hasOwnFile: content.hasOwnFile)
      }
      if let left { removeContent(left) }
      switch step {
      case .answered(let readiness): return readiness
      case .endAttempts(let attempts):
        inPieces(attempts) { [timer] state, attempt in state.endNeedless(attempt, timer.now) }
      case .make(let size, let original, let wasDirty):
        do throws(FSError) {
          let made = try usingTrashForRoom { () throws(FSError) in
            try content.makeWritable(size: size, copying: original)
          }
          let left = state.withLock { state in
            state.takeOver(
              made, for: node, insteadOf: original, Change(use: use, handle: handle, wasDirty: wasDirty))
          }
          guard let left else {
            removeContent(made)
            continue
          }
          for content in left { removeContent(content) }
          if use == .empty { return .emptied(made) }
        } catch {
          // What was to be copied may be gone because another one was faster.
          guard state.withLock({ !$0.isStill(original, wasDirty, of: node) }) else { return .failed(error) }
        }
      }
    }
  }

  /// Makes dirty what the store has no more and names here lead to: nothing drops it then, and it outlives a loss of
  /// power. On a thread that may wait for the content store.
  ///
  /// What cannot be made dirty, for want of room, is as it was, and is tried again when something is listed next.
  func keepOnlyCopies() {
    for node in state.withLock({ $0.namespace.takeOnlyHere() }) {
      let readiness = makeDirty(node, for: .change, through: nil)
      state.withLock { state in
        guard let position = state.namespace.index(of: node) else { return }
        if case .failed = readiness {
          state.namespace.noteOnlyHere(position)
        } else if state.namespace[position].isDirty {
          // What the store has under its number later is not it.
          state.namespace.tellUnbound(position)
        }
      }
    }
  }
}

/// What one look under the lock led to.
enum DirtyStep {
  case answered(ContentReadiness)
  /// The file is complete, and attempts for it are in flight still: end them, then look again.
  case endAttempts([AttemptID])
  /// Make content of so many bytes, then `takeOver`, then look again.
  ///
  /// - Parameter wasDirty: What is copied was written here, and is not written to any more (`Engine.writeFirst`).
  case make(size: Int64, copying: ContentID?, wasDirty: Bool = false)
}

extension EngineState {
  /// - Parameter hasOwnFile: As `ContentStore`.
  /// - Returns: Content to be removed, besides.
  fileprivate mutating func stepToDirty(
    _ node: NodeID, for use: ContentUse, through handle: UInt64?, before: PassthroughWrites.Untouched?,
    hasOwnFile: (ContentID) -> Bool
  ) -> (DirtyStep, ContentID?) {
    func failed(_ errno: Errno, _ message: String) -> (DirtyStep, ContentID?) {
      (.answered(.failed(FSError(errno, message))), nil)
    }
    guard writing != .readOnly else { return failed(.readOnlyFileSystem, "the volume is read-only") }
    guard let position = namespace.index(of: node) else {
      return failed(.staleNFSFileHandle, "no such item on this volume")
    }
    let record = namespace[position]
    guard record.kind == .file else {
      return failed(record.kind == .directory ? .isDirectory : .invalidArgument, "it has no content")
    }
    guard !record.isSuperseded else { return failed(.staleNFSFileHandle, "the store has another version") }
    guard record.state == .resident else {
      let content = content(of: position)
      guard use == .empty, simulation.profile.emptiesUnread, !content.isBusy else {
        return (.answered(.needsMaterialization), nil)
      }
      return (.make(size: 0, copying: nil), nil)
    }
    if record.isDirty {
      guard !hasOwnFile(record.content) else { return answerDirty(position, handle) }
      return (.make(size: use == .empty ? 0 : record.size, copying: record.content, wasDirty: true), nil)
    }
    let attempts = content(of: position).attempts
    guard attempts.isEmpty else { return (.endAttempts(attempts), nil) }
    let original = record.size > 0 ? record.content : ContentID.none
    guard original != .none, hasOwnFile(original), !content(of: position).isBeingWritten else {
      if use == .empty, record.size == 0 { return (.answered(.ready(.none)), nil) }
      let copies = use == .change && original != .none
      return (.make(size: copies ? record.size : 0, copying: copies ? original : nil), nil)
    }
    updateContent(of: position) { _ = $0.makeDirty(in: original) }
    passed.noteUntouched(position, before)
    noteDirty(position)
    return answerDirty(position, handle)
  }

  /// A file has become dirty: nothing of it is planned to go, and on a volume that is kept nobody writes before it is
  /// known to be so after a crash, too.
  ///
  /// - Parameter isFirst: Whether this is the first content that a file ever has which was made on the volume. Nothing
  ///   that is known after a crash leads to it, so nothing can be mixed: the file is empty then, or was not made yet.
  private mutating func noteDirty(_ node: NodeIndex, isFirst: Bool = false) {
    planned.drop(node)
    trash.noteChange()
    if writing == .kept, !isFirst { writers.wait(for: journal.last, before: node) }
  }

  private mutating func answerDirty(_ node: NodeIndex, _ handle: UInt64?) -> (DirtyStep, ContentID?) {
    if let number = writers.pendingChange(of: node) {
      guard journal.isDurable(number) else { return (.answered(.needsDurability(number)), nil) }
      writers.endWait(of: node)
    }
    let left = handle.flatMap { openFiles.lease(namespace[node].content, by: $0) }
    return (.answered(.ready(namespace[node].content)), left)
  }

  /// Ends an attempt for a file that others have completed: who waits for it has what he asked for.
  fileprivate mutating func endNeedless(_ attempt: Attempt, _ now: MonotonicTime) -> [Action] {
    guard namespace[attempt.node].state == .resident else { return [] }
    charge(attempt, bytes: 0, now)
    return abort(attempt, AttemptEnd(outcome: .ok, message: "others have brought it"), now: now)
  }

  /// Whether a file still has the content, or none, that was to be copied.
  fileprivate func isStill(_ original: ContentID?, _ wasDirty: Bool, of node: NodeID) -> Bool {
    guard let position = namespace.index(of: node) else { return true }
    let record = namespace[position]
    guard let original else { return !record.isDirty }
    return record.state == .resident && record.isDirty == wasDirty && record.content == original
  }

  /// Gives a file the content that was made for it, unless it is not any more what it was made for.
  ///
  /// - Returns: Content to be removed; nil if it has not.
  fileprivate mutating func takeOver(
    _ made: ContentID, for node: NodeID, insteadOf original: ContentID?, _ change: Engine.Change
  ) -> [ContentID]? {
    guard isStill(original, change.wasDirty, of: node), let position = namespace.index(of: node) else { return nil }
    let record = namespace[position]
    // What would be written to it then would be lost.
    guard !record.isSuperseded else { return nil }
    let isEmptied = change.use == .empty
    // What was read of it since is not to be lost: it is looked at again. And an attempt would put what it brings in
    // the place of what is written.
    guard original != nil || record.size == 0 || isEmptied, !content(of: position).isBusy else { return nil }
    failures.forgetPages(of: node)
    journal.beginOperation()
    let isFirst = namespace.isMade(position) && record.isUnwritten
    let dropped = updateContent(of: position) { $0.replace(with: made, size: record.size) }
    journal.endOperation()
    noteDirty(position, isFirst: isFirst)
    var left: [ContentID?] = [dropped.flatMap { contents.giveUp($0) }.flatMap { removable($0, of: position) }]
    guard isEmptied else { return left.compactMap(\.self) }
    // Here and not later, when something could fail: it is empty from now on.
    if record.size > 0 { noteSize(0, of: position) }
    left.append(change.handle.flatMap { openFiles.lease(made, by: $0) })
    return left.compactMap(\.self)
  }

  /// All of a file's content is gone.
  private mutating func noteSize(_ size: Int64, of node: NodeIndex) {
    changeAttributes(of: node, isTold: false) { $0.size = size }
  }
}
