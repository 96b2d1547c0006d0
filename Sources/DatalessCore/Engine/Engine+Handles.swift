internal import Synchronization
public import SystemPackage

/// How an open is to be answered.
public enum OpenAnswer: Sendable {
  /// Reads are watched under this handle, and come as the caller of `open` said: the file was dataless, or reads are
  /// observed.
  case dataless(handle: UInt64)
  /// The content is local: the page cache serves reads. The handle is 0.
  case resident
  /// The content is local in a file of its own: the kernel reads that file itself, if the backing can be registered. To
  /// be settled by `confirmPassthrough` or `refusePassthrough`. The handle is `Engine.passthroughHandle`.
  case passthrough(ContentID)
  /// The profile materializes at open(2): materialize the file, then open it again.
  case needsMaterialization
  /// The file is being evicted: `waitForEviction`, then open it again.
  case isBeingEvicted
  case failed(Errno)
}

/// How an opendir is to be answered.
public enum DirectoryOpenAnswer: Sendable {
  case listed
  case dataless
  /// The profile lists at opendir(3): materialize the directory, then open it again.
  case needsListing
  case failed(Errno)
}

/// How lseek(2) with SEEK_DATA or SEEK_HOLE is to be answered.
public enum SeekAnswer: Sendable, Equatable {
  case offset(Int64)
  /// The profile materializes at such a seek.
  case needsMaterialization
  case failed(FSError)
}

/// How a READ is to be answered.
public enum ReadAnswer: Sendable {
  /// - Parameter count: Bytes that are there to be read at the offset, of those that were asked for; 0 at the end of
  ///   the file.
  case resident(ContentID, count: Int)
  /// The kernel's own repeat of a read that failed a moment ago.
  case repeatedFailure(FSError)
  case needsMaterialization
  case failed(Errno)
}

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
  /// - Parameter io: How the kernel will be told to read the file if its reads are watched.
  public func open(
    _ node: NodeID, process: ProcessID, openFlags: Int32, io: ReadMode = .direct
  ) -> OpenAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.namespace[position]
      // The kernel still knew a name of it. It looks the name up again then, and opens what has it now.
      if record.isOrphan { return .failed(.staleNFSFileHandle) }
      if state.pageDrops.isUnderWay(of: node) { return .isBeingEvicted }
      let isResident = record.kind != .file || record.state == .resident
      if !isResident, state.simulation.profile.files.contains(.open) { return .needsMaterialization }
      state.namespace.count(.open, of: position)
      // Beside passthrough opens the kernel would refuse it with EIO.
      let isObserved =
        state.simulation.servesReadsItself && record.kind == .file && record.size > 0
        && !state.handles.mustPassThrough(position)
      guard isResident, !isObserved else {
        if !record.isWatched { state.updateContent(of: position) { $0.setWatched(true) } }
        return .dataless(
          handle: state.handles.openWatched(
            position, process: process, openFlags: openFlags, io: io, pagesBefore: record.mayBeCached))
      }
      let reference = record.content
      // Once withdrawn it is offered to no file but those that are open so: their backing is there to be shared.
      let passesThrough =
        (passthrough.load(ordering: .relaxed) || state.handles.mustPassThrough(position)) && record.kind == .file
        && record.size > 0 && content.hasOwnFile(reference) && state.handles.canPassThrough(position)
      if record.isWatched { noteUnseen(position, by: process, isPassthrough: passesThrough, &state) }
      if record.kind == .file, !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
      guard passesThrough else {
        state.handles.open(position)
        return .resident
      }
      state.handles.openPassthrough(position)
      let number = state.contents.makeNumber()
      state.updateContent(of: position) { $0.notePassthrough(number) }
      return .passthrough(reference)
    }
  }

  /// From this open on the kernel serves reads of a watched file alone: said once for its content.
  private func noteUnseen(_ position: NodeIndex, by process: ProcessID, isPassthrough: Bool, _ state: inout EngineState)
  {
    state.updateContent(of: position) { $0.setWatched(false) }
    state.events.record(
      .handleUnseen(
        Event.HandleUnseen(
          path: state.namespace.path(of: position), inode: state.namespace[position].inode, process: process,
          size: state.namespace[position].size, isPassthrough: isPassthrough, time: timer.now)))
  }

  /// The handle number of a passthrough open.
  public static var passthroughHandle: UInt64 { OpenHandles.passthroughHandle }

  /// The backing of a passthrough open is there.
  ///
  /// - Returns: Whether to answer it as such. False: meanwhile another open of the file had to become a cached one,
  ///   beside which the kernel refuses passthrough with EIO; so this one is cached too, with handle 0.
  public func confirmPassthrough(_ node: NodeID) -> Bool {
    state.withLock { state in state.namespace.index(of: node).map { state.handles.confirm($0) } ?? false }
  }

  /// The backing of a passthrough open could not be registered.
  ///
  /// - Returns: Whether it is a cached open now, with handle 0. False: another open of the file has a backing by now,
  ///   beside which the kernel refuses cached opens with EIO; try again to share it.
  public func refusePassthrough(_ node: NodeID) -> Bool {
    state.withLock { state in state.namespace.index(of: node).map { state.handles.demote($0) } ?? true }
  }

  /// The kernel does not grant passthrough, or will never take a backing file: no open is offered it from now on.
  public func withdrawPassthrough() { passthrough.store(false, ordering: .relaxed) }

  /// opendir(3). Never materializes by itself.
  public func openDirectory(_ node: NodeID) -> DirectoryOpenAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let isListed = state.namespace[position].state == .resident
      if !isListed, state.simulation.profile.directories.contains(.open) { return .needsListing }
      state.namespace.count(.open, of: position)
      state.handles.openDirectory(position)
      return isListed ? .listed : .dataless
    }
  }

  /// The last close of a handle of a file (`handle` as given at open, 0 for resident) or directory.
  public func release(_ node: NodeID, handle: UInt64) {
    let (waiters, isLeft, due): ([@Sendable () -> Void], Bool, MonotonicTime?) = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return ([], false, nil) }
      let isDirectory = state.namespace[position].kind == .directory
      let isCachedBefore = state.handles.isCachedBefore(handle)
      let (closed, waiters) = state.handles.close(position, handle: handle, isDirectory: isDirectory)
      if let closed {
        state.events.record(.handleClosed(state.report(handle, closed, position, isCachedBefore, now: timer.now)))
      }
      var due: MonotonicTime?
      if state.simulation.rules.decidesEviction, state.handles.count(of: position) == 0 {
        state.planned.closed(position, now: timer.now)
        due = state.planned.nextCall()
      }
      let isClosed = state.handles.count(of: position) == 0
      if isDirectory, isClosed { state.namespace.noteSweepable(position) }
      return (waiters, isClosed && (isDirectory || state.namespace[position].isOrphan), due)
    }
    callForEvictions(at: due)
    for waiter in waiters { waiter() }
    if isLeft { releaseLeft(node) }
  }

  /// Records what has been read so far through the watched handles that are open.
  ///
  /// - Parameter isFinal: Nothing can be read through them any more: the volume ends. Their records say that they are
  ///   closed.
  public func recordOpenHandles(isFinal: Bool = false) {
    let numbers = state.withLock { $0.handles.watched(atMost: Event.handlesToldMax) }
    for number in numbers.sorted() {
      state.withLock { state in
        guard let handle = state.handles[number] else { return }
        let isCachedBefore = state.handles.isCachedBefore(number)
        let report = state.report(number, handle, handle.node, isCachedBefore, now: timer.now)
        state.events.record(isFinal ? .handleClosed(report) : .handleOpen(report))
      }
    }
  }

  /// Decides about one READ.
  ///
  /// - Parameters:
  ///   - isDirect: It is one read(2) on a direct_io handle, not the page cache's.
  ///   - process: Who reads, for a handle whose reads are watched (neither 0 nor `passthroughHandle`).
  public func read(
    _ node: NodeID, handle: UInt64, offset: Int64, length: Int64, isDirect: Bool, threadID: Int32,
    process: ProcessID = .unknown
  ) -> ReadAnswer {
    state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.namespace[position]
      guard record.kind == .file else { return .failed(.invalidArgument) }
      guard record.size > 0 else { return .resident(.none, count: 0) }
      let end = min(offset.addingReportingOverflow(length).partialValue, record.size)
      let count = offset < end ? Int(clamping: end.subtractingReportingOverflow(offset).partialValue) : 0
      func note() {
        if !isDirect, !record.mayBeCached { state.updateContent(of: position) { $0.noteCached() } }
        guard handle != 0, offset < end else { return }
        state.handles.noteRead(handle, by: process, range: offset..<end, isMapped: !isDirect)
      }
      if record.state == .resident {
        note()
        return .resident(record.content, count: count)
      }
      if let reference = state.contents.local(offset..<max(offset, end), of: position) {
        note()
        return .resident(reference, count: count)
      }
      if !isDirect {
        let range = offset..<max(offset, offset.addingReportingOverflow(length).partialValue)
        let key = RecentFailures.Key(node: node, threadID: threadID, handle: handle)
        if let error = state.failures.repeated(key, range: range, now: timer.now) {
          return .repeatedFailure(error)
        }
      }
      return .needsMaterialization
    }
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
      let record = state.namespace[position]
      let beyond = SeekAnswer.failed(FSError(.noSuchAddressOrDevice, "cannot seek to \(offset)"))
      guard offset >= 0, offset < record.size else { return .answer(beyond) }
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
  /// Reads committed content of a resident file. The caller holds an open handle, which keeps the content from being
  /// evicted. - Throws: EIO.
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
  /// What the log says of a watched handle.
  fileprivate func report(
    _ number: UInt64, _ handle: OpenHandles.Handle, _ position: NodeIndex, _ isCachedBefore: Bool, now: MonotonicTime
  ) -> Event.HandleClosed {
    let record = namespace[position]
    return Event.HandleClosed(
      path: namespace.path(of: position), names: namespace.paths(of: position), inode: record.inode, handle: number,
      process: handle.process, size: record.size, reads: handle.readers.all(size: record.size),
      readers: handle.readers.others(than: handle.process, size: record.size),
      isCachedBefore: isCachedBefore, triggered: handle.triggered, isSuperseded: record.isOrphan, io: handle.io,
      time: now)
  }
}
