import DatalessCore
import FuseKit
import Glibc
import SystemPackage

extension FilesystemAdapter {
  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    guard engine.evictsBeforeRead(NodeID(node)) else { return openNow(node, flags, context, reply) }
    openWhenEvicted(node, flags, context, reply)
  }

  private func openWhenEvicted(
    _ node: FuseNode, _ flags: Int32, _ context: RequestContext, _ reply: consuming OpenReply
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    engine.waitForEviction(NodeID(node), threadID: context.threadID, waiter: waiter) { [self] error in
      guard let reply = box.take() else { return }
      if let error { return reply.failed(error) }
      openNow(node, flags, context, reply, mayFetch: false)
    }
  }

  private func openNow(
    _ node: FuseNode, _ flags: Int32, _ context: RequestContext, _ reply: consuming OpenReply, mayFetch: Bool = true
  ) {
    // Identifying the caller costs more than the open, so it is done only where it is recorded.
    let process = engine.recordsOpen(of: NodeID(node)) ? identify(context).process : .unknown
    let answer = openAnswer(node, process, flags)
    if case .isBeingEvicted = answer { return openWhenEvicted(node, flags, context, reply) }
    guard case .needsMaterialization = answer else { return opened(node, answer, reply) }
    if let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) { return reply.failed(error) }
    let request = TriggerRequest(trigger: .open, caller: identifyTrigger(context), openFlags: flags)
    park(node, request, reply, mayFetch: mayFetch) { [self] box in resumeOpen(node, flags, context, request, box) }
  }

  private func resumeOpen(
    _ node: FuseNode, _ flags: Int32, _ context: RequestContext, _ request: TriggerRequest,
    _ box: ParkedReply<OpenReply>
  ) {
    guard let reply = box.take() else { return }
    let answer = openAnswer(node, request.caller.process, flags)
    if case .isBeingEvicted = answer { return openWhenEvicted(node, flags, context, reply) }
    guard case .needsMaterialization = answer else { return opened(node, answer, reply) }
    // Evicted between the end of the attempt and this answer: the caller waits once more.
    park(node, request, reply) { [self] box in resumeOpen(node, flags, context, request, box) }
  }

  private func openAnswer(_ node: FuseNode, _ process: ProcessID, _ flags: Int32) -> OpenAnswer {
    engine.open(NodeID(node), process: process, openFlags: flags, io: opensDirectly ? .direct : .pageCache)
  }

  private func opened(_ node: FuseNode, _ answer: OpenAnswer, _ reply: consuming OpenReply) {
    switch answer {
    case .needsMaterialization, .isBeingEvicted: reply.fail(.ioError)
    case .failed(let errno): reply.fail(errno)
    case .resident:
      if !reply.opened(FuseHandle(rawValue: 0), options: [.keepCache, .noFlush]) {
        engine.release(NodeID(node), handle: 0)
      }
    case .passthrough(let reference): openPassthrough(node, reference, reply)
    case .dataless(let handle):
      let options: OpenOptions = opensDirectly ? [.directIO, .keepCache, .noFlush] : [.keepCache, .noFlush]
      if !reply.opened(FuseHandle(rawValue: handle), options: options) {
        engine.release(NodeID(node), handle: handle)
      }
    }
  }

  /// Hands reads of a resident file over to the kernel, or falls back to the page cache where it does not take them.
  private func openPassthrough(_ node: FuseNode, _ reference: ContentReference, _ reply: consuming OpenReply) {
    guard let backing = backing(node, reference) else {
      if !reply.opened(FuseHandle(rawValue: 0), options: [.keepCache, .noFlush]) {
        engine.release(NodeID(node), handle: 0)
      }
      return
    }
    let handle = FuseHandle(rawValue: Engine.passthroughHandle)
    if !reply.opened(handle, options: [.keepCache, .noFlush], backing: backing) {
      backings.release(NodeID(node))
      engine.release(NodeID(node), handle: handle.rawValue)
    }
  }

  /// The backing for an open that the engine has decided for passthrough; nil when it is a cached one after all.
  ///
  /// All opens of a file that are answered at the same time must agree: of two registrations one may fail.
  private func backing(_ node: FuseNode, _ reference: ContentReference) -> BackingID? {
    while true {
      if let backing = backings.acquire(NodeID(node), engine, reference) {
        if engine.confirmPassthrough(NodeID(node)) { return backing }
        backings.release(NodeID(node))
        return nil
      }
      // Otherwise somebody else's registration has worked, and there is one to share unless it is closed again.
      if engine.refusePassthrough(NodeID(node)) { return nil }
    }
  }

  func release(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    if handle.rawValue == Engine.passthroughHandle { backings.release(NodeID(node)) }
    engine.release(NodeID(node), handle: handle.rawValue)
    reply.succeed()
  }

  func read(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply) {
    // Who opened the file need not be who reads it: a shell opens what it redirects.
    let handle = request.handle.rawValue
    let isWatched = handle != 0 && handle != Engine.passthroughHandle
    let reader = isWatched ? identify(context) : nil
    let answer = decide(node, request, context.threadID, reader?.process ?? .unknown)
    guard case .needsMaterialization = answer else { return send(reply, request, answer) }
    var trigger = TriggerRequest(
      trigger: .read, caller: reader.map { withPolicy($0) } ?? identifyTrigger(context), offset: request.offset,
      length: Int64(request.size),
      handle: request.handle.rawValue, openFlags: request.openFlags,
      io: request.isDirect ? .direct : .pageCache,
      pageWait: request.isDirect
        ? .call : BlockedCall.pageWait(threadID: context.threadID, readsThroughCache: !opensDirectly))
    trigger.callerPath = openName(of: node, context.threadID)
    park(node, trigger, reply, mayFetch: true) { [self, trigger] box in resumeRead(node, request, trigger, box) }
  }

  private func decide(
    _ node: FuseNode, _ request: ReadRequest, _ threadID: Int32, _ process: ProcessID
  ) -> ReadAnswer {
    engine.read(
      NodeID(node), handle: request.handle.rawValue, offset: request.offset, length: Int64(request.size),
      isDirect: request.isDirect, threadID: threadID, process: process)
  }

  private func resumeRead(
    _ node: FuseNode, _ request: ReadRequest, _ trigger: TriggerRequest, _ box: ParkedReply<DataReply>
  ) {
    guard let reply = box.take() else { return }
    let answer = decide(node, request, trigger.caller.threadID, trigger.caller.process)
    guard case .needsMaterialization = answer else { return send(reply, request, answer) }
    park(node, trigger, reply) { [self] box in resumeRead(node, request, trigger, box) }
  }

  /// Answers from local content, on the calling thread.
  private func send(_ reply: consuming DataReply, _ request: ReadRequest, _ answer: ReadAnswer) {
    switch answer {
    case .failed(let errno): reply.fail(errno)
    case .repeatedFailure(let error): reply.fail(error.errno)
    case .needsMaterialization: reply.fail(.ioError)
    case .resident(let reference, let size):
      guard request.offset < size else {
        reply.endOfFile()
        return
      }
      let wanted = min(request.size, Int(min(size - request.offset, Int64(Int.max))))
      guard let buffer = ReadBuffer.current(size: wanted) else {
        reply.fail(.noMemory)
        return
      }
      let result: Result<Int, FSError>
      do throws(FSError) {
        result = .success(try engine.readContent(reference, size: size, into: buffer, at: request.offset))
      } catch {
        result = .failure(error)
      }
      switch result {
      case .success(let count): reply.data(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      case .failure(let error): reply.fail(error.errno)
      }
    }
  }

  func lseek(
    _ node: FuseNode, handle: FuseHandle, offset: Int64, target: SeekTarget, context: RequestContext,
    reply: consuming SeekReply
  ) {
    let answer = engine.seek(NodeID(node), from: offset, hole: target == .hole)
    guard case .needsMaterialization = answer else { return send(reply, answer) }
    let request = TriggerRequest(
      trigger: .seek, caller: identifyTrigger(context), offset: offset, handle: handle.rawValue)
    park(node, request, reply, mayFetch: true) { [self] box in resumeSeek(node, offset, target, request, box) }
  }

  private func resumeSeek(
    _ node: FuseNode, _ offset: Int64, _ target: SeekTarget, _ request: TriggerRequest, _ box: ParkedReply<SeekReply>
  ) {
    guard let reply = box.take() else { return }
    let answer = engine.seek(NodeID(node), from: offset, hole: target == .hole)
    guard case .needsMaterialization = answer else { return send(reply, answer) }
    park(node, request, reply) { [self] box in resumeSeek(node, offset, target, request, box) }
  }

  private func send(_ reply: consuming SeekReply, _ answer: SeekAnswer) {
    switch answer {
    case .offset(let found): reply.offset(found)
    case .needsMaterialization: reply.fail(.ioError)
    case .failed(let error): reply.fail(error.errno)
    }
  }
}
