import DatalessCore
import FuseKit
import Glibc
import SystemPackage

extension FilesystemAdapter {
  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    guard isWritable, flags & O_TRUNC != 0 else { return begin(node, flags: flags, context: context, reply: reply) }
    whereContentMoves(reply, bytes: bytesCut(from: NodeID(node), to: 0)) { [self] reply, thread in
      begin(node, flags: flags, context: context, reply: reply, mayFetch: thread == .request)
    }
  }

  private func begin(
    _ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply, mayFetch: Bool = true
  ) {
    guard engine.evictsBeforeRead(NodeID(node)) else {
      return openNow(node, flags: flags, context: context, reply: reply, mayFetch: mayFetch)
    }
    openWhenEvicted(node, flags: flags, context: context, reply: reply)
  }

  func openWhenEvicted(
    _ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    engine.waitForEviction(NodeID(node), threadID: context.threadID, waiter: waiter) { [self] error in
      guard let reply = box.take() else { return }
      if let error { return reply.failed(error) }
      openNow(node, flags: flags, context: context, reply: reply, mayFetch: false)
    }
  }

  func openNow(
    _ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply, mayFetch: Bool = true
  ) {
    if engine.delaysAccess(.open) {
      return openDelayed(node, flags: flags, context: context, reply: reply, mayFetch: mayFetch)
    }
    // Identifying the caller costs more than the open, so it is done only where it is recorded.
    let process = engine.recordsOpen(of: NodeID(node)) ? identify(context).process : .unknown
    guard let reply = answerOpen(reply, of: node, flags: flags, context: context, process: process) else { return }
    if let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) { return reply.failed(error) }
    let request = TriggerRequest(
      trigger: Self.trigger(ofOpen: flags), caller: identifyTrigger(context), openFlags: flags)
    park(node, request: request, reply: reply, mayFetch: mayFetch) { [self] reply in
      answerOpen(reply, of: node, flags: flags, context: context, process: request.caller.process)
    }
  }

  /// - Returns: The reply, if the file has to be materialized first.
  func answerOpen(
    _ reply: consuming OpenReply, of node: FuseNode, flags: Int32, context: RequestContext, process: ProcessID
  ) -> OpenReply? {
    if isWritable, Self.opensForWriting(flags) {
      return answerWritableOpen(reply, of: node, flags: flags, context: context)
    }
    let answer = engine.open(
      NodeID(node), process: process, threadID: context.threadID, openFlags: flags,
      io: opensDirectly ? .direct : .pageCache)
    switch answer {
    case .needsMaterialization: return reply
    case .isBeingEvicted: openWhenEvicted(node, flags: flags, context: context, reply: reply)
    case .failed(let errno): reply.fail(errno)
    case .resident(let handle): openThroughCache(node, handle, reply: reply)
    case .passthrough(let content, let handle): openPassthrough(node, handle, content: content, reply: reply)
    case .dataless(let handle):
      let options: OpenOptions = opensDirectly ? [.directIO, .keepCache, .noFlush] : [.keepCache, .noFlush]
      if !reply.opened(FuseHandle(rawValue: handle), options: options) {
        engine.release(NodeID(node), handle: handle)
      }
    }
    return nil
  }

  private func openThroughCache(
    _ node: FuseNode, _ handle: UInt64, reply: consuming OpenReply, writes: Bool = false
  ) {
    // Of writers with FLUSH at each close, which writes mapped pages back (docs/ARCHITECTURE.md, W10).
    let options: OpenOptions = writes ? .keepCache : [.keepCache, .noFlush]
    if !reply.opened(FuseHandle(rawValue: handle), options: options) {
      engine.release(NodeID(node), handle: handle)
    }
  }

  /// Hands a resident file over to the kernel, or falls back to the page cache where it does not take it.
  func openPassthrough(
    _ node: FuseNode, _ handle: UInt64, content: ContentID, reply: consuming OpenReply, writes: Bool = false
  ) {
    let backing = backing(node, handle, content: content)
    openPassthrough(node, handle, backing: backing, reply: reply, writes: writes)
  }

  /// The same, of an open of which it is settled what it is.
  func openPassthrough(
    _ node: FuseNode, _ handle: UInt64, backing: Backing, reply: consuming OpenReply, writes: Bool
  ) {
    switch backing {
    case .had(let backing):
      if !reply.opened(FuseHandle(rawValue: handle), options: [.keepCache, .noFlush], backing: backing) {
        backings.release(NodeID(node))
        engine.release(NodeID(node), handle: handle)
      }
    case .none: openThroughCache(node, OpenHandle.asCached(handle), reply: reply, writes: writes)
    case .failed(let errno):
      engine.release(NodeID(node), handle: handle)
      reply.fail(errno)
    }
  }

  /// The backing for an open that the engine has decided for passthrough; or none when it is a cached one
  /// after all.
  ///
  /// All opens of a file that are answered at the same time must agree: of two registrations one may fail.
  func backing(_ node: FuseNode, _ handle: UInt64, content: ContentID) -> Backing {
    while true {
      if let backing = backings.acquire(NodeID(node), engine: engine, reference: content) {
        if engine.confirmPassthrough(handle) { return .had(backing) }
        backings.release(NodeID(node))
        return .none
      }
      switch engine.refusePassthrough(handle) {
      case .cached: return .none
      case .failed: return .failed(backings.lastFailure ?? .tooManyOpenFilesInSystem)
      // Somebody else's registration has worked, and there is one to share unless it is closed again.
      case .shared: break
      }
    }
  }

  enum Backing {
    case had(BackingID)
    /// It is a cached open.
    case none
    case failed(Errno)
  }

  func release(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    if OpenHandle.isPassthrough(handle.rawValue) { backings.release(NodeID(node)) }
    engine.release(NodeID(node), handle: handle.rawValue)
    reply.succeed()
  }

  func read(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply) {
    if engine.delaysAccess(.read) { return readDelayed(node, request, context: context, reply: reply) }
    // Who opened the file need not be who reads it: a shell opens what it redirects.
    let reader = OpenHandle.isWatched(request.handle.rawValue) ? identify(context) : nil
    guard
      let reply = answerRead(
        reply, of: node, request: request, threadID: context.threadID, process: reader?.process ?? .unknown)
    else { return }
    let trigger = trigger(
      of: node, request, by: reader.map { withPolicy(withThreadName($0)) } ?? identifyTrigger(context))
    park(node, request: trigger, reply: reply, mayFetch: true) { [self] reply in
      answerRead(reply, of: node, request: request, threadID: trigger.caller.threadID, process: trigger.caller.process)
    }
  }

  /// A read that has to wait, as the log tells it.
  func trigger(of node: FuseNode, _ request: ReadRequest, by caller: Caller) -> TriggerRequest {
    var trigger = TriggerRequest(
      trigger: .read, caller: caller, offset: request.offset, length: Int64(request.size),
      handle: OpenHandle.inLog(request.handle.rawValue), openFlags: request.openFlags,
      io: request.isDirect ? .direct : .pageCache,
      pageWait: request.isDirect
        ? .call : BlockedCall.pageWait(threadID: caller.threadID, readsThroughCache: !opensDirectly))
    trigger.callerPath = openName(of: node, caller.threadID)
    return trigger
  }

  /// Answers from local content, on the calling thread.
  ///
  /// - Returns: The reply, if the range has to be materialized first.
  func answerRead(
    _ reply: consuming DataReply, of node: FuseNode, request: ReadRequest, threadID: Int32, process: ProcessID
  ) -> DataReply? {
    let answer = engine.read(
      NodeID(node), handle: request.handle.rawValue, offset: request.offset, length: Int64(request.size),
      isDirect: request.isDirect, threadID: threadID, process: process)
    switch answer {
    case .needsMaterialization: return reply
    case .failed(let errno): reply.fail(errno)
    case .repeatedFailure(let error): reply.fail(error.errno)
    case .resident(let content, let count): send(reply, from: content, at: request.offset, count: count)
    }
    return nil
  }

  private func send(
    _ reply: consuming DataReply, from content: ContentID, at offset: Int64, count: Int
  ) {
    guard count > 0 else {
      reply.endOfFile()
      return
    }
    guard let buffer = ReadBuffer.current(size: count) else {
      reply.fail(.noMemory)
      return
    }
    let result: Result<Int, FSError>
    do throws(FSError) {
      result = .success(try engine.readContent(content, into: buffer, at: offset))
    } catch {
      result = .failure(error)
    }
    switch result {
    case .success(let count): reply.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    case .failure(let error): reply.fail(error.errno)
    }
  }

  func lseek(
    _ node: FuseNode, handle: FuseHandle, offset: Int64, target: SeekTarget, context: RequestContext,
    reply: consuming SeekReply
  ) {
    guard let reply = answerSeek(reply, of: node, from: offset, target: target) else { return }
    let request = TriggerRequest(
      trigger: .seek, caller: identifyTrigger(context), offset: offset, handle: OpenHandle.inLog(handle.rawValue))
    park(node, request: request, reply: reply, mayFetch: true) { [self] reply in
      answerSeek(reply, of: node, from: offset, target: target)
    }
  }

  /// - Returns: The reply, if the file has to be materialized first.
  private func answerSeek(
    _ reply: consuming SeekReply, of node: FuseNode, from offset: Int64, target: SeekTarget
  ) -> SeekReply? {
    switch engine.seek(NodeID(node), from: offset, hole: target == .hole) {
    case .offset(let found): reply.offset(found)
    case .needsMaterialization: return reply
    case .failed(let error): reply.fail(error.errno)
    }
    return nil
  }
}
