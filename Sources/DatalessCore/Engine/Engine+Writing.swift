internal import SystemPackage

/// Changes of the content of files. The I/O is done on the calling thread, without the lock: see `writesPromptly`.
extension Engine {
  /// pwrite(2). The size grows when the bytes are there.
  ///
  /// What the page cache writes back of a mapping never makes a file larger: what lies beyond its end was cut off while
  /// it was on its way (open(2) with O_TRUNC lets it go on), and is dropped.
  ///
  /// - Parameter bytes: Valid until it returns; whoever has to call again copies them.
  /// - Returns: How many were written: fewer than there are if the disk is full then. EBADF (the handle is not open for
  ///   writing), EFBIG, ENOSPC, EDQUOT, EIO.
  public func write(_ bytes: UnsafeRawBufferPointer, to node: NodeID, _ request: WriteAccess) -> WriteAnswer {
    guard request.offset >= 0, request.offset <= Int64.max - Int64(bytes.count) else {
      return .failed(FSError(.fileTooLarge, "cannot write at \(request.offset)"))
    }
    if !request.isWriteback {
      let (mayWrite, shared) = state.withLock { $0.beginWrite(node, request, looks: !bytes.isEmpty, at: timer.now) }
      guard mayWrite else { return .failed(FSError(.badFileDescriptor, "the handle is not open for writing")) }
      if let shared { look(at: shared, node, request.handle) }
    }
    guard !bytes.isEmpty else { return .done(0) }
    guard !request.isWriteback else { return writeBack(bytes, to: node, request) }
    if let answer = writeFirst(bytes, to: node, request) { return answer }
    if request.isDirect { beginChange(of: node, .directWrite) }
    defer { if request.isDirect { endChange(of: node) } }
    return writeNow(bytes, to: node, request)
  }

  /// After all checks. - Returns: As `write`.
  func writeNow(_ bytes: UnsafeRawBufferPointer, to node: NodeID, _ request: WriteAccess) -> WriteAnswer {
    let range = request.offset..<request.offset + Int64(bytes.count)
    return change(node, range, through: request.handle) { (content: ContentID) throws(FSError) -> Int in
      let (count, extent) = try usingTrashForRoom { () throws(FSError) in
        try self.content.write(content, bytes, at: request.offset)
      }
      let hasOtherMode = state.withLock { $0.noteWritten(node, request, count: count, extent: extent) }
      // Of a write the kernel knows that it moves size and times.
      if hasOtherMode { _ = kernel.invalidateAttributes(of: node) }
      return count
    }
  }

  /// fallocate(2). - Returns: `done(0)`; EBADF, EINVAL (an empty range), EFBIG, EOPNOTSUPP, ENOSPC, EDQUOT, EIO.
  public func allocate(
    _ kind: AllocationKind, _ range: Range<Int64>, of node: NodeID, handle: UInt64, by caller: Caller
  ) -> WriteAnswer {
    guard range.lowerBound >= 0, !range.isEmpty else {
      return .failed(FSError(.invalidArgument, "cannot make room for nothing"))
    }
    guard mayWrite(node, handle) else {
      return .failed(FSError(.badFileDescriptor, "the handle is not open for writing"))
    }
    return change(node, kind.range(range), through: handle) { (content: ContentID) throws(FSError) -> Int in
      do throws(FSError) {
        try usingTrashForRoom { () throws(FSError) in try self.content.allocate(content, kind, range: range) }
      } catch {
        // Some of it may have been made before the disk was full, which grows the file, as on others. Else nothing was
        // changed, and no time is.
        if let extent = try? self.content.extent(of: content), let size = size(of: node), extent.size > size,
          extent.size > range.lowerBound
        {
          let made = range.lowerBound..<min(extent.size, range.upperBound)
          state.withLock { $0.noteAllocated(node, kind, range: made, extent: extent, through: handle) }
          _ = kernel.invalidateAttributes(of: node)
        }
        throw error
      }
      let extent = try self.content.extent(of: content)
      state.withLock { $0.noteAllocated(node, kind, range: range, extent: extent, through: handle) }
      return 0
    }
  }

  private func mayWrite(_ node: NodeID, _ handle: UInt64) -> Bool {
    state.withLock { state in
      state.namespace.index(of: node).map { state.writers.isOpen(handle, $0) } ?? false
    }
  }

  /// Makes the file's content dirty, then changes it. - Parameter range: For which room is needed.
  private func change(
    _ node: NodeID, _ range: Range<Int64>, through handle: UInt64, _ body: (ContentID) throws(FSError) -> Int
  ) -> WriteAnswer {
    let (held, needed) = holdRoom(for: node, range)
    guard let held else { return .needsRoom(needed) }
    defer { letGoRoom(held) }
    switch makeDirty(node, for: .change, through: handle) {
    case .needsMaterialization: return .needsMaterialization
    case .needsDurability(let number): return .needsDurability(number)
    case .failed(let error): return .failed(error)
    case .ready(let content), .emptied(let content):
      do throws(FSError) {
        return .done(try body(content))
      } catch {
        return .failed(error)
      }
    }
  }

  /// LIMIT: bytes that one call of `copyRange` copies: as many as a WRITE has.
  private static let copiedMax: Int64 = 1 << 20

  /// copy_file_range(2) between files of the volume: both are materialized first.
  ///
  /// - Parameter sourceHandle: Through which the source is read: what is copied stays as long as it is open.
  /// - Returns: How many bytes were copied: 0 at the source's end, and 1 MiB at most. As `write`; EINVAL (a length
  ///   below 0, or ranges of one file that overlap).
  public func copyRange(
    from source: NodeID, at offset: Int64, to target: NodeID, at targetOffset: Int64, length: Int64,
    sourceHandle: UInt64, targetHandle: UInt64, by caller: Caller
  ) -> CopyAnswer {
    let length = min(length, Self.copiedMax)
    guard offset >= 0, targetOffset >= 0, length >= 0, offset <= Int64.max - length,
      targetOffset <= Int64.max - length,
      source != target || targetOffset >= offset + length || offset >= targetOffset + length
    else { return .failed(FSError(.invalidArgument, "cannot copy these ranges")) }
    let original: ContentID
    let (readiness, left) = state.withLock { $0.sourceOfCopy(source, sourceHandle) }
    if let left { removeContent(left) }
    switch readiness {
    case .ready(let content), .emptied(let content): original = content
    case .needsMaterialization: return .needsMaterialization(source)
    case .needsDurability(let number): return .needsDurability(number)
    case .failed(let error): return .failed(error)
    }
    guard original != .none, length > 0 else { return .done(0) }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(length), alignment: 4096)
    defer { buffer.deallocate() }
    do throws(FSError) {
      let count = try content.read(original, into: buffer, at: offset)
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      let access = WriteAccess(handle: targetHandle, offset: targetOffset, threadID: caller.threadID)
      switch write(bytes, to: target, access) {
      case .done(let count):
        // It is used as what is read is.
        let copied = offset..<offset + Int64(count)
        if count > 0 {
          state.withLock { $0.openFiles.noteRead(sourceHandle, by: caller.process, range: copied, isMapped: false) }
        }
        return .done(count)
      case .needsMaterialization: return .needsMaterialization(target)
      case .needsDurability(let number): return .needsDurability(number)
      case .needsRoom(let bytes): return .needsRoom(bytes)
      case .failed(let error): return .failed(error)
      }
    } catch {
      return .failed(error)
    }
  }

  /// How large a file is now; nil for what is no file, and unknown ones.
  public func size(of node: NodeID) -> Int64? {
    state.withLock { state in
      guard let position = state.namespace.index(of: node), state.namespace[position].kind == .file else { return nil }
      state.catchUp(position)
      return state.namespace[position].size
    }
  }

  // MARK: - Durability

  /// fsync(2), of a directory, too. On a scratch volume nothing would outlive it, so there is nothing to wait for.
  ///
  /// - Parameter completion: Called once, perhaps before this returns: nil, or EIO, ENOSPC, EDQUOT.
  public func synchronize(_ node: NodeID, completion: @escaping @Sendable (FSError?) -> Void) {
    guard writing == .kept else { return completion(nil) }
    let content: ContentID? = state.withLock { state in
      guard let position = state.namespace.index(of: node) else { return nil }
      state.catchUp(position)
      state.namespace.tellAttributes(of: position)
      return state.namespace[position].isDirty ? state.namespace[position].content : nil
    }
    guard let content else { return synchronize(completion) }
    blocking.submit { [self] in
      do throws(FSError) {
        try self.content.sync(content)
        synchronize(completion)
      } catch {
        completion(error)
      }
    }
  }

  /// Waits until all changes up to a number are durable.
  ///
  /// - Parameter completion: As `synchronize`.
  public func whenDurable(_ number: ChangeNumber, completion: @escaping @Sendable (FSError?) -> Void) {
    configuration.journal.whenDurable(number) { [self] error in
      if error == nil { state.withLock { $0.journal.noteDurable(number) } }
      completion(error)
    }
  }
}

extension AllocationKind {
  /// The part of a range for which room is made.
  fileprivate func range(_ range: Range<Int64>) -> Range<Int64> {
    switch self {
    case .allocate, .zero: range
    case .punchHole: range.lowerBound..<range.lowerBound
    }
  }
}

extension EngineState {
  /// Bytes are in a file's content. - Returns: Whether its mode is another one now.
  mutating func noteWritten(
    _ node: NodeID, _ request: WriteAccess, count: Int, extent: ContentExtent
  ) -> Bool {
    guard let position = namespace.index(of: node) else { return false }
    var hasOtherMode = false
    let end = request.offset + Int64(count)
    let now = timeOfDay()
    changeAttributes(of: position, isTold: false) { attributes in
      if !request.isWriteback { attributes.size = max(attributes.size, end) }
      attributes.blocks = extent.blocks
      attributes.modificationTime = now
      attributes.changeTime = now
      guard request.clearsSetID else { return }
      let mode = attributes.mode
      attributes.clearSetID()
      hasOtherMode = attributes.mode != mode
    }
    // Of cached writes the kernel removes it itself.
    if request.isDirect { dropCapability(of: position) }
    // Size and times are told when the file is closed; a bit that a crash brings back is a right.
    if hasOtherMode { namespace.tellAttributes(of: position) }
    writers.note(Int64(count), through: request.handle, position, isWriteback: request.isWriteback)
    return hasOtherMode
  }

  fileprivate mutating func noteAllocated(
    _ node: NodeID, _ kind: AllocationKind, range: Range<Int64>, extent: ContentExtent, through handle: UInt64
  ) {
    guard let position = namespace.index(of: node) else { return }
    let now = timeOfDay()
    changeAttributes(of: position, isTold: false) { attributes in
      switch kind {
      case .allocate(keepsSize: false), .zero(keepsSize: false):
        attributes.size = max(attributes.size, range.upperBound)
      case .allocate, .zero, .punchHole: break
      }
      attributes.blocks = extent.blocks
      attributes.modificationTime = now
      attributes.changeTime = now
    }
    // Told when the file is closed, as a write is.
    writers.note(0, through: handle, position, isWriteback: false)
  }

  /// Whoever changes a program takes its capabilities away.
  mutating func dropCapability(of node: NodeIndex) {
    if case .value = extras.attribute(ItemExtras.capability, of: node) {
      // It takes less then.
      _ = setExtra(ItemExtras.capability, to: nil, of: node)
    }
  }

  /// The content that is to be copied, which the handle leases from now on; `none` if there is none. And content to be
  /// removed.
  fileprivate mutating func sourceOfCopy(_ node: NodeID, _ handle: UInt64) -> (ContentReadiness, ContentID?) {
    func failed(_ errno: Errno, _ message: String) -> (ContentReadiness, ContentID?) {
      (.failed(FSError(errno, message)), nil)
    }
    guard writing != .readOnly else { return failed(.readOnlyFileSystem, "the volume is read-only") }
    guard let position = namespace.index(of: node) else {
      return failed(.staleNFSFileHandle, "no such item on this volume")
    }
    catchUp(position)
    let record = namespace[position]
    guard record.kind == .file else { return failed(.invalidArgument, "it has no content") }
    guard record.size > 0 else { return (.ready(.none), nil) }
    guard record.state == .resident else { return (.needsMaterialization, nil) }
    return (.ready(record.content), openFiles.lease(record.content, by: handle))
  }

  /// A handle is closed, or the volume ends: what was written through it.
  mutating func tell(_ written: Writers.Written, of handle: UInt64, _ now: MonotonicTime) {
    catchUp(written.node)
    // Through whichever open: nobody saw it.
    let isUnseen = written.before.map { $0 != passed[written.node]?.seen } ?? false
    guard !written.isNothing || isUnseen else { return }
    tellUnseenTogether(written, of: handle, isUnseen: isUnseen, now)
    namespace.tellAttributes(of: written.node)
    let record = Event.VolumeChange.Written(
      handle: OpenHandle.inLog(handle), bytes: written.bytes, calls: written.calls, mappedBytes: written.mappedBytes,
      size: namespace[written.node].size, isUnseen: isUnseen)
    self.record(.written(record), written.node, path: namespace.path(of: written.node), by: written.caller, at: now)
  }
}

extension ItemAttributes {
  /// What a write does to a program's privileges: setuid goes, and setgid if the group may execute.
  mutating func clearSetID() {
    guard kind != .directory else { return }
    mode &= ~0o4000
    if mode & 0o010 != 0 { mode &= ~0o2000 }
  }
}
