internal import Synchronization
internal import SystemPackage

extension Engine {
  /// Whether a file or directory is not, or not fully, local.
  public func isDataless(_ node: NodeID) -> Bool {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return false }
      let record = state.namespace[position]
      return record.canBeDataless && record.state != .resident
    }
  }

  /// Whether the next open of this file is to be recorded with its process; asked before the caller is identified,
  /// because identifying costs more than answering.
  public func recordsOpen(of node: NodeID) -> Bool {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return false }
      let record = state.namespace[position]
      return record.canBeDataless
        && (record.state != .resident || record.isWatched || state.simulation.servesReadsItself)
    }
  }

  /// open(2) of a file. Never materializes by itself.
  ///
  /// - Parameters:
  ///   - threadID: Who opens it; 0 when that thread lives in another pid namespace.
  ///   - io: How the kernel will be told to read the file if its reads are watched.
  public func open(
    _ node: NodeID, process: ProcessID, threadID: Int32 = 0, openFlags: Int32, io: ReadMode = .direct
  ) -> OpenAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.namespace[position]
      let opener = SharedWrite.Opener(process: process, threadID: threadID, writes: false)
      // The kernel still knew a name of it. It looks the name up again then, and opens what has it now.
      if record.isOrphan, !record.isUnlinked { return .failed(.staleNFSFileHandle) }
      if state.pageDrops.isUnderWay(of: node) { return .isBeingEvicted }
      let isResident = record.kind != .file || record.state == .resident
      if !isResident, state.simulation.profile.files.contains(.open) { return .needsMaterialization }
      state.namespace.count(.open, of: position)
      state.namespace.noteUse(state.room.nextUse(), of: position)
      // Beside passthrough opens the kernel would refuse it with EIO.
      let isObserved =
        state.simulation.servesReadsItself && record.kind == .file && record.size > 0
        && !state.openFiles.mustPassThrough(position) && !state.passed.mustPassThrough(position)
      guard isResident, !isObserved else {
        if !record.isWatched { state.updateContent(of: position) { $0.setWatched(true) } }
        let handle = state.openFiles.openWatched(
          position, process: process, openFlags: openFlags, content: isResident ? record.content : .none, io: io,
          pagesBefore: record.mayBeCached)
        state.openers.begin(handle, position, by: opener)
        return .dataless(handle: handle)
      }
      let reference = record.content
      // Once withdrawn it is offered to no file but those that are open so: their backing is there to be shared.
      let passesThrough = passes(position, size: record.size, &state)
      if record.isWatched { noteUnseen(position, by: process, isPassthrough: passesThrough, &state) }
      if record.kind == .file, !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
      guard passesThrough else {
        let handle = state.openFiles.open(position, openFlags: openFlags, content: reference)
        state.openers.begin(handle, position, by: opener)
        return .resident(handle: handle)
      }
      let handle = state.openFiles.openPassthrough(position, openFlags: openFlags, content: reference)
      state.openers.begin(handle, position, by: opener)
      let number = state.contents.makeNumber()
      state.updateContent(of: position) { $0.notePassthrough(number) }
      return .passthrough(reference, handle: handle)
    }
  }

  /// From this open on the kernel serves reads of a watched file alone: said once for its content.
  func noteUnseen(_ position: NodeIndex, by process: ProcessID, isPassthrough: Bool, _ state: inout EngineState) {
    state.updateContent(of: position) { $0.setWatched(false) }
    state.events.record(
      .handleUnseen(
        Event.HandleUnseen(
          path: state.namespace.path(of: position), inode: state.namespace[position].inode, process: process,
          size: state.namespace[position].size, isPassthrough: isPassthrough, time: timer.now)))
  }

  /// opendir(3). Never materializes by itself.
  public func openDirectory(_ node: NodeID) -> DirectoryOpenAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let isListed = state.namespace[position].state == .resident
      if !isListed, state.simulation.profile.directories.contains(.open) { return .needsListing }
      state.namespace.count(.open, of: position)
      state.openFiles.openDirectory(position)
      return isListed ? .listed : .dataless
    }
  }

  /// The last close of a file (`handle` as given at open) or directory (0).
  public func release(_ node: NodeID, handle: UInt64) {
    var (isLeft, isShort, isUnsettled, due): (Bool, Bool, Bool, MonotonicTime?) = (false, false, false, nil)
    var isOutdated = false
    let closed = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return OpenFiles.Closed() }
      let isDirectory = state.namespace[position].kind == .directory
      if let written = state.writers.end(handle, position) { state.tell(written, of: handle, timer.now) }
      state.openers.end(handle, position)
      if let report = state.report(handle, of: position, now: timer.now) { state.events.record(.handleClosed(report)) }
      let closed =
        isDirectory ? state.openFiles.closeDirectory(position) : state.openFiles.close(position, handle: handle)
      guard closed.isLast else { return closed }
      if state.simulation.rules.decidesEviction {
        state.planned.closed(position, now: timer.now)
        due = state.planned.nextCall()
      }
      if isDirectory {
        state.namespace.noteSweepable(position)
      } else {
        state.namespace.noteUse(state.room.nextUse(), of: position)
        isShort = state.noteClosed()
        isUnsettled = state.passed[position] != nil
        isOutdated = state.agreeOnNewer(position, timer.now)
      }
      isLeft = isDirectory || state.namespace[position].isOrphan
      return closed
    }
    callForEvictions(at: due)
    if let left = closed.content { removeContent(left) }
    for waiter in closed.waiters { waiter() }
    if isUnsettled { settleLater(node) }
    if isOutdated { dropOlder(node) }
    if isLeft { releaseLeft(node) }
    if isShort { settleRoom() }
  }

  /// Records what has been read so far through the watched handles that are open.
  ///
  /// - Parameter isFinal: Nothing can be read through them any more: the volume ends. Their records say that they are
  ///   closed.
  public func recordOpenHandles(isFinal: Bool = false) {
    var numbers: [UInt64] = []
    for part in 0... {
      guard numbers.count < Event.handlesToldMax, let more = state.withLock({ $0.openFiles.watched(inPart: part) })
      else { break }
      numbers += more
    }
    for number in numbers.prefix(Event.handlesToldMax).sorted() {
      state.withLock { state in
        guard let report = state.report(number, now: timer.now) else { return }
        state.events.record(isFinal ? .handleClosed(report) : .handleOpen(report))
      }
    }
    guard isFinal, writing != .readOnly else { return }
    for (handle, written) in state.withLock({ $0.writers.all }).prefix(Event.handlesToldMax) {
      state.withLock { state in
        // It may be closed by now.
        guard state.writers.isOpen(handle, written.node) else { return }
        state.tell(written, of: handle, timer.now)
      }
    }
    // Mappings may be left of them.
    for node in state.withLock({ $0.passed.nodes }) {
      state.withLock { state in
        state.catchUp(node)
        if state.passed[node] != nil { state.namespace.tellAttributes(of: node) }
      }
    }
  }

  /// Decides about one READ.
  ///
  /// - Parameters:
  ///   - isDirect: It is one read(2) on a direct_io handle, not the page cache's.
  ///   - process: Who reads, for a handle whose reads are watched.
  public func read(
    _ node: NodeID, handle: UInt64, offset: Int64, length: Int64, isDirect: Bool, threadID: Int32,
    process: ProcessID = .unknown
  ) -> ReadAnswer {
    var left: ContentID?
    let answer: ReadAnswer = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.namespace[position]
      guard record.kind == .file else { return .failed(.invalidArgument) }
      guard record.size > 0 else { return .resident(.none, count: 0) }
      let end = min(offset.addingReportingOverflow(length).partialValue, record.size)
      let local =
        record.state == .resident ? record.content : state.contents.local(offset..<max(offset, end), of: position)
      guard let local else {
        let failure = state.repeatedFailure(
          ofRead: node, handle: handle, offset: offset, length: length, isDirect: isDirect, threadID: threadID,
          now: timer.now)
        return failure.map { .repeatedFailure($0) } ?? .needsMaterialization
      }
      if !isDirect, !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
      let count = offset < end ? Int(clamping: end.subtractingReportingOverflow(offset).partialValue) : 0
      if count > 0 { state.openFiles.noteRead(handle, by: process, range: offset..<end, isMapped: !isDirect) }
      // From here on the open keeps what it reads, also while nobody holds the lock.
      left = state.openFiles.lease(local, by: handle)
      return .resident(local, count: count)
    }
    if let left { removeContent(left) }
    return answer
  }

  /// lseek(2) with SEEK_DATA or SEEK_HOLE. Dataless content is all data, or all a hole if it is presented so; resident
  /// content has the holes it has.
  public func seek(_ node: NodeID, from offset: Int64, hole: Bool) -> SeekAnswer {
    enum Step {
      case answer(SeekAnswer)
      case look(ContentID)
    }
    let step: Step = state.withLock { state in
      guard let position = state.namespace.index(of: node) else {
        return .answer(.failed(FSError(.staleNFSFileHandle, "no such item on this volume")))
      }
      state.catchUp(position)
      let record = state.namespace[position]
      let beyond = SeekAnswer.failed(FSError(.noSuchAddressOrDevice, "cannot seek to \(offset)"))
      guard offset >= 0, offset < record.size else { return .answer(beyond) }
      // What was stored in a mapping is not in the content before it is written back: a hole of it may be none. Not so
      // of what is written past the volume; and of that RELEASE, which comes after close(2), changes no answer.
      if state.writers.nodes.contains(position), state.passed[position] == nil {
        return .answer(.offset(hole ? record.size : offset))
      }
      if record.state == .resident { return .look(record.content) }
      if state.simulation.profile.files.contains(.seek) { return .answer(.needsMaterialization) }
      switch state.simulation.presentation.seek {
      case .data: return .answer(.offset(hole ? record.size : offset))
      case .hole: return .answer(hole ? .offset(offset) : beyond)
      }
    }
    switch step {
    case .answer(let answer): return answer
    case .look(let reference):
      do throws(FSError) {
        return .offset(try content.seek(reference, from: offset, hole: hole))
      } catch {
        return .failed(error)
      }
    }
  }
}

extension Engine {
  /// Reads content that `read` has answered with. The open through which it was asked for has a lease on it, so that it
  /// stays until the open is closed. - Throws: EIO.
  public func readContent(
    _ reference: ContentID, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int {
    try content.read(reference, into: buffer, at: offset)
  }

  /// A descriptor of a content file for the kernel to read from; the caller closes it. nil when there is none to be
  /// had.
  public func openContentDescriptor(_ reference: ContentID) -> CInt? {
    do throws(FSError) {
      return try content.openDescriptor(reference)
    } catch {
      return nil
    }
  }
}

extension EngineState {
  /// Content that its file has given up: itself if it may be removed now, nil if the close that ends the last lease on
  /// it does that.
  mutating func removable(_ id: ContentID, of node: NodeIndex) -> ContentID? {
    openFiles.giveUp(id, of: node) ? id : nil
  }

  /// What the log says of a watched handle; nil for any other, or if it is of another node.
  fileprivate func report(
    _ handle: UInt64, of node: NodeIndex? = nil, now: MonotonicTime
  ) -> Event.HandleClosed? {
    // Looked at in its place: with what was read through it, it is large.
    let report: Event.HandleClosed?? = openFiles.watched(handle) { watched in
      let position = watched.file.node
      guard node == nil || node == position else { return nil }
      let record = namespace[position]
      return Event.HandleClosed(
        path: namespace.path(of: position), names: namespace.paths(of: position), inode: record.inode, handle: handle,
        process: watched.process, size: record.size, reads: watched.readers.all(size: record.size),
        readers: watched.readers.others(than: watched.process, size: record.size),
        isCachedBefore: openFiles.isCachedBefore(handle, watched), triggered: watched.triggered,
        isSuperseded: record.isOrphan, io: watched.io, time: now)
    }
    return report ?? nil
  }
}
