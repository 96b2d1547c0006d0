import DatalessCore
import FuseKit
import SystemPackage

/// Content that callers write. Where the content store is prompt, all of it is done on the request's own thread, and
/// the bytes of a WRITE go from the session's buffer into the content file.
extension FilesystemAdapter {
  func write(_ node: FuseNode, _ request: WriteRequest, context: RequestContext, reply: consuming WriteReply) {
    let access = WriteAccess(
      handle: request.handle.rawValue, offset: request.offset, clearsSetID: context.clearsSetID,
      isDirect: request.isDirect, isWriteback: request.isWriteback, threadID: context.threadID)
    let mustBeDurable = request.mustBeDurable
    // Of what the kernel writes back nobody is the caller.
    if engine.delaysAccess(.write), !request.isWriteback {
      let kept: KeptWrite
      do throws(Errno) {
        kept = KeptWrite(bytes: try keptWrites.keep(request.bytes), access: access, mustBeDurable: mustBeDurable)
      } catch {
        reply.fail(error)
        return
      }
      return writeDelayed(kept, to: node, by: identifyWaiter(context), on: .request, reply: reply)
    }
    guard engine.writesPromptly else {
      let left = UnansweredChange(reply: reply, obstacle: .contentLane)
      return keep(request.bytes, of: left, to: node, access, mustBeDurable: mustBeDurable, context: context)
    }
    let answer = engine.write(request.bytes, to: NodeID(node), access)
    guard let left = self.answer(reply, answer, to: node, mustBeDurable: mustBeDurable) else { return }
    keep(request.bytes, of: left, to: node, access, mustBeDurable: mustBeDurable, context: context)
  }

  /// A WRITE that has to wait.
  private func keep(
    _ bytes: UnsafeRawBufferPointer, of left: consuming UnansweredChange<WriteReply>, to node: FuseNode,
    _ access: WriteAccess, mustBeDurable: Bool, context: RequestContext
  ) {
    let kept: KeptWrite
    do throws(Errno) {
      kept = KeptWrite(bytes: try keptWrites.keep(bytes), access: access, mustBeDurable: mustBeDurable)
    } catch {
      left.reply.fail(error)
      return
    }
    wait(for: left, by: writer(access, context), on: engine.writesPromptly ? .request : .content) { [self] reply in
      write(kept, to: node, reply: reply)
    }
  }

  /// - Returns: The reply, with what is in the way.
  func write(
    _ kept: KeptWrite, to node: FuseNode, reply: consuming WriteReply
  ) -> UnansweredChange<WriteReply>? {
    let answer: WriteAnswer
    do throws(Errno) {
      answer = try kept.bytes.withBytes { engine.write($0, to: NodeID(node), kept.access) }
    } catch {
      answer = .failed(FSError(error, "the bytes cannot be read again"))
    }
    return self.answer(reply, answer, to: node, mustBeDurable: kept.mustBeDurable)
  }

  /// Who writes: nobody, when the kernel writes back what a mapping stored (docs/ARCHITECTURE.md, W14).
  private func writer(_ access: WriteAccess, _ context: RequestContext) -> Caller {
    access.isWriteback ? .nobody : identify(context)
  }

  private func answer(
    _ reply: consuming WriteReply, _ answer: WriteAnswer, to node: FuseNode, mustBeDurable: Bool
  ) -> UnansweredChange<WriteReply>? {
    switch answer {
    case .done(let count):
      guard mustBeDurable else {
        reply.written(count)
        return nil
      }
      let box = ParkedReply(reply)
      engine.synchronize(NodeID(node)) { error in
        guard let reply = box.take() else { return }
        if let error { reply.failed(error) } else { reply.written(count) }
      }
    case .needsMaterialization:
      return UnansweredChange(reply: reply, obstacle: .content(NodeID(node), .write))
    case .needsDurability(let number): return UnansweredChange(reply: reply, obstacle: .durability(number))
    case .needsRoom(let bytes): return UnansweredChange(reply: reply, obstacle: .room(bytes))
    case .failed(let error): reply.fail(Self.answerableChange(error.errno))
    }
    return nil
  }

  func fallocate(
    _ node: FuseNode, handle: FuseHandle, mode: Int32, offset: Int64, length: Int64, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    guard let kind = AllocationKind(flags: mode) else {
      reply.fail(.notSupportedOnSocket)
      return
    }
    let (end, isTooFar) = offset.addingReportingOverflow(length)
    guard offset >= 0, length > 0, !isTooFar else {
      reply.fail(.fileTooLarge)
      return
    }
    let (file, range, caller) = (NodeID(node), offset..<end, identify(context))
    whereContentMoves(reply, bytes: length) { [self] reply, thread in
      change(reply, by: caller, on: thread) { [engine] reply in
        switch engine.allocate(kind, range, of: file, handle: handle.rawValue, by: caller) {
        case .done: reply.succeed()
        case .needsMaterialization: return UnansweredChange(reply: reply, obstacle: .content(file, .write))
        case .needsDurability(let number): return UnansweredChange(reply: reply, obstacle: .durability(number))
        case .needsRoom(let bytes): return UnansweredChange(reply: reply, obstacle: .room(bytes))
        case .failed(let error): reply.fail(Self.answerableChange(error.errno))
        }
        return nil
      }
    }
  }

  func copyFileRange(_ request: CopyRequest, context: RequestContext, reply: consuming WriteReply) {
    let (source, caller) = (NodeID(request.source), identify(context))
    // The engine copies a MiB at a time.
    whereContentMoves(reply, bytes: 0) { [self] reply, thread in
      change(reply, by: caller, on: thread) { [engine] reply in
        let answer = engine.copyRange(
          from: source, at: request.sourceOffset, to: NodeID(request.destination), at: request.destinationOffset,
          length: Int64(request.length), sourceHandle: request.sourceHandle.rawValue,
          targetHandle: request.destinationHandle.rawValue, by: caller)
        switch answer {
        case .done(let count): reply.written(count)
        case .needsMaterialization(let file):
          return UnansweredChange(reply: reply, obstacle: .content(file, file == source ? .copy : .write))
        case .needsDurability(let number): return UnansweredChange(reply: reply, obstacle: .durability(number))
        case .needsRoom(let bytes): return UnansweredChange(reply: reply, obstacle: .room(bytes))
        case .failed(let error): reply.fail(Self.answerableChange(error.errno))
        }
        return nil
      }
    }
  }

  // MARK: - fsync

  func fsync(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    synchronize(node, reply: reply)
  }

  func fsyncdir(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    synchronize(node, reply: reply)
  }

  private func synchronize(_ node: FuseNode, reply: consuming EmptyReply) {
    guard isWritable else {
      // Remembered by the kernel as success, of a volume on which nothing can be lost.
      reply.fail(.noFunction)
      return
    }
    let box = ParkedReply(reply)
    engine.synchronize(NodeID(node)) { Self.answer(box, $0) }
  }
}

extension Caller {
  /// The kernel on its own account.
  static let nobody = Caller(
    process: .unknown, threadID: 0, pid: 0, isMainThread: false, uid: 0, gid: 0, isBudgeted: false)
}
