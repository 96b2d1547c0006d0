internal import Synchronization
public import SystemPackage

/// How an open is to be answered.
public enum OpenAnswer: Sendable {
  /// The file was dataless: reads are watched under this handle, and come as the caller of `open` said.
  case dataless(handle: UInt64)
  /// The content is local: the page cache serves reads. The handle is 0.
  case resident
  /// The content is local in a file of its own: the kernel reads that file itself, if the backing can be registered. To be
  /// settled by `confirmPassthrough` or `refusePassthrough`. The handle is `Engine.passthroughHandle`.
  case passthrough(ContentReference)
  /// The profile materializes at open(2): materialize the file, then open it again.
  case needsMaterialization
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
  case resident(ContentReference, size: Int64)
  /// The kernel's own repeat of a read that failed a moment ago.
  case repeatedFailure(FSError)
  case needsMaterialization
  case failed(Errno)
}

extension Engine {
  /// Whether opening this file hands out a handle whose reads are watched; asked before the caller is identified,
  /// because identifying costs more than answering.
  public func isDataless(_ node: NodeID) -> Bool {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return false }
      let record = state.catalog.inodes[position]
      return record.canBeDataless && record.state != .resident
    }
  }

  /// open(2) of a file. Never materializes by itself.
  ///
  /// - Parameter io: How the kernel will be told to read the file if it is dataless.
  public func open(
    _ node: NodeID, process: ProcessID, openFlags: Int32, io: ReadMode = .direct
  ) -> OpenAnswer {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.catalog.inodes[position]
      // The kernel still knew a name of it. It looks the name up again then, and opens what has it now.
      if record.isOrphan { return .failed(.staleNFSFileHandle) }
      let isResident = record.kind != .file || record.state == .resident
      if !isResident, state.simulation.profile.files.contains(.open) { return .needsMaterialization }
      if record.opens < .max { state.catalog.inodes[position].opens += 1 }
      guard !isResident else {
        let reference = ContentReference(rawValue: record.payload)
        // Once withdrawn it is offered to no file but those that are open so: their backing is there to be shared.
        if passthrough.load(ordering: .relaxed) || state.handles.mustPassThrough(position), record.kind == .file,
          record.size > 0, content.hasOwnFile(reference), state.handles.canPassThrough(position)
        {
          state.handles.openPassthrough(position)
          state.passthroughOpens += 1
          state.passedThrough[position] = state.passthroughOpens
          return .passthrough(reference)
        }
        state.handles.open(position)
        return .resident
      }
      return .dataless(handle: state.handles.openDataless(position, process: process, openFlags: openFlags, io: io))
    }
  }

  /// The handle number of a passthrough open.
  public static var passthroughHandle: UInt64 { OpenHandles.passthroughHandle }

  /// The backing of a passthrough open is there.
  ///
  /// - Returns: Whether to answer it as such. False: meanwhile another open of the file had to become a cached one, beside
  ///   which the kernel refuses passthrough with EIO; so this one is cached too, with handle 0.
  public func confirmPassthrough(_ node: NodeID) -> Bool {
    state.withLock { $0.handles.confirm(Int(node.rawValue)) }
  }

  /// The backing of a passthrough open could not be registered.
  ///
  /// - Returns: Whether it is a cached open now, with handle 0. False: another open of the file has a backing by now, beside
  ///   which the kernel refuses cached opens with EIO; try again to share it.
  public func refusePassthrough(_ node: NodeID) -> Bool {
    state.withLock { $0.handles.demote(Int(node.rawValue)) }
  }

  /// The kernel does not grant passthrough, or will never take a backing file: no open is offered it from now on.
  public func withdrawPassthrough() { passthrough.store(false, ordering: .relaxed) }

  /// opendir(3). Never materializes by itself.
  public func openDirectory(_ node: NodeID) -> DirectoryOpenAnswer {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return .failed(.staleNFSFileHandle) }
      let isListed = state.catalog.inodes[position].state == .resident
      if !isListed, state.simulation.profile.directories.contains(.open) { return .needsListing }
      if state.catalog.inodes[position].opens < .max { state.catalog.inodes[position].opens += 1 }
      state.handles.openDirectory(position)
      return isListed ? .listed : .dataless
    }
  }

  /// The last close of a handle of a file (`handle` as given at open, 0 for resident) or directory.
  public func release(_ node: NodeID, handle: UInt64) {
    let (waiters, isOrphan, due): ([@Sendable () -> Void], Bool, MonotonicTime?) = state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return ([], false, nil) }
      let isDirectory = state.catalog.inodes[position].kind == .directory
      let (closed, waiters) = state.handles.close(position, handle: handle, isDirectory: isDirectory)
      if let closed {
        state.events.record(
          .handleClosed(
            Event.HandleClosed(
              path: state.catalog.path(of: position), inode: state.catalog.inodes[position].inode, handle: handle,
              process: closed.process, size: state.catalog.inodes[position].size, bytesRead: closed.bytesRead,
              coveredBytes: closed.covered.count, highWaterMark: closed.highWaterMark, reads: closed.reads,
              triggered: closed.triggered, io: closed.io, time: timer.now)))
      }
      var due: MonotonicTime?
      if state.simulation.rules.decidesEviction, state.handles.count(of: position) == 0 {
        state.planned.closed(position, now: timer.now)
        due = state.planned.takeTimer()
      }
      return (waiters, !isDirectory && state.catalog.inodes[position].isOrphan, due)
    }
    callForEvictions(at: due)
    for waiter in waiters { waiter() }
    if isOrphan { dispose([Int(node.rawValue)]) }
  }

  /// Decides about one READ. `isDirect`: it is one read(2) on a direct_io handle, not the page cache's.
  public func read(
    _ node: NodeID, handle: UInt64, offset: Int64, length: Int64, isDirect: Bool, threadID: Int32
  ) -> ReadAnswer {
    state.withLock { state in
      guard let position = state.catalog.position(of: node) else { return .failed(.staleNFSFileHandle) }
      let record = state.catalog.inodes[position]
      guard record.kind == .file else { return .failed(.invalidArgument) }
      guard record.size > 0 else { return .resident(ContentReference(rawValue: 0), size: 0) }
      let end = min(offset.addingReportingOverflow(length).partialValue, record.size)
      if record.state == .resident {
        if handle != 0, offset < end { state.handles.noteRead(handle, range: offset..<end) }
        return .resident(ContentReference(rawValue: record.payload), size: record.size)
      }
      if let reference = state.rangedContent(position, has: offset..<max(offset, end)) {
        if handle != 0, offset < end { state.handles.noteRead(handle, range: offset..<end) }
        return .resident(reference, size: record.size)
      }
      if !isDirect {
        let range = offset..<max(offset, offset.addingReportingOverflow(length).partialValue)
        if let error = state.failures.repeated(node: position, threadID: threadID, range: range, now: timer.now) {
          return .repeatedFailure(error)
        }
      }
      return .needsMaterialization
    }
  }

  /// lseek(2) with SEEK_DATA or SEEK_HOLE. Dataless content is all data, or all a hole if it is presented so; resident content
  /// has the holes it has.
  public func seek(_ node: NodeID, from offset: Int64, hole: Bool) -> SeekAnswer {
    enum Step {
      case answer(SeekAnswer)
      case look(ContentReference, size: Int64)
    }
    let step: Step = state.withLock { state in
      guard let position = state.catalog.position(of: node) else {
        return .answer(.failed(FSError(.staleNFSFileHandle, "no such item on this volume")))
      }
      let record = state.catalog.inodes[position]
      let beyond = SeekAnswer.failed(FSError(.noSuchAddressOrDevice, "cannot seek to \(offset)"))
      guard offset >= 0, offset < record.size else { return .answer(beyond) }
      if record.state == .resident { return .look(ContentReference(rawValue: record.payload), size: record.size) }
      if state.simulation.profile.files.contains(.seek) { return .answer(.needsMaterialization) }
      switch state.simulation.presentation.seek {
      case .data: return .answer(.offset(hole ? record.size : offset))
      case .hole: return .answer(hole ? .offset(offset) : beyond)
      }
    }
    switch step {
    case .answer(let answer): return answer
    case .look(let reference, let size):
      do throws(FSError) {
        return .offset(try content.seek(reference, size: size, from: offset, hole: hole))
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
    _ reference: ContentReference, size: Int64, into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FSError) -> Int {
    try content.read(reference, size: size, into: buffer, at: offset)
  }

  /// A descriptor of a content file for the kernel to read from; the caller closes it. nil when there is none to be had.
  public func openContentDescriptor(_ reference: ContentReference) -> CInt? {
    do throws(FSError) {
      return try content.openDescriptor(reference)
    } catch {
      return nil
    }
  }
}
