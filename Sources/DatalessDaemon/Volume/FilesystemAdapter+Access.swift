import DatalessCore
import FuseKit
import SystemPackage

/// Calls that the scenario delays though what they ask for is local (`access`): the reply is parked until the delay is
/// over, as it is during a materialization. Nothing here is reached without such a scenario.
extension FilesystemAdapter {
  /// Answers a call of an operation that the scenario delays: first what has to come is materialized, then the call is
  /// delayed, then it is answered. It is delayed once, whatever happens to the item meanwhile.
  ///
  /// - Parameters:
  ///   - node: What is materialized where `answer` cannot answer.
  ///   - request: Made where that happens.
  ///   - mayFetch: As of `park`.
  ///   - answer: As of `park`. Called on the access lane, on the completing lane, or here.
  ///   - answerMissing: Asked in its place about what was not there when it was to be delayed, for which it must not
  ///     give an answer that was to be delayed: somebody else may have fetched it since.
  func answerDelayed<Reply: FuseReply & ~Copyable>(
    _ access: Access, on node: FuseNode, reply: consuming Reply, mayFetch: Bool,
    request: @escaping @Sendable () -> TriggerRequest, answer: @escaping @Sendable (consuming Reply) -> Reply?,
    answerMissing: @escaping @Sendable (consuming Reply) -> Reply? = { $0 }
  ) {
    delay(access, reply: reply) { [self] reply, verdict in
      guard let reply = verdict == .missing ? answerMissing(reply) : answer(reply) else { return }
      park(node, request: request(), reply: reply, mayFetch: mayFetch && verdict != .delayed) { [self] reply in
        if verdict == .delayed { return answer(reply) }
        answerDelayed(
          access, on: node, reply: reply, mayFetch: false, request: request, answer: answer,
          answerMissing: answerMissing)
        return nil
      }
    }
  }

  /// Parks a reply for as long as the scenario delays the call; then, or at once, `answer` answers it.
  private func delay<Reply: FuseReply & ~Copyable>(
    _ access: Access, reply: consuming Reply,
    answer: @escaping @Sendable (consuming Reply, AccessAnswer) -> Void
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    let verdict = engine.delay(access, waiter: waiter) { [accessLane] error in
      if let error {
        box.fail(Self.answerable(error.errno, of: access.operation))
      } else {
        accessLane.submit { if let reply = box.take() { answer(reply, .delayed) } }
      }
    }
    if verdict != .delayed, let reply = box.take() { answer(reply, verdict) }
  }

  // MARK: - The operations

  func lookUpDelayed(_ name: [UInt8], in parent: FuseNode, context: RequestContext, reply: consuming EntryReply) {
    let caller = identifyWaiter(context)
    answerDelayed(
      Access(.lookup, of: .name(name, in: NodeID(parent)), caller: caller), on: parent, reply: reply, mayFetch: true,
      request: { [self] in TriggerRequest(trigger: .lookup, caller: withPolicy(caller), name: name) },
      answer: { [self] reply in
        answer(reply, name.withUnsafeBufferPointer { engine.lookup($0, in: NodeID(parent)) })
      })
  }

  func getAttributesDelayed(_ node: FuseNode, context: RequestContext, reply: consuming AttributesReply) {
    delay(Access(.getattr, of: .node(NodeID(node)), caller: identifyWaiter(context)), reply: reply) { [self] reply, _ in
      answer(reply, ofAttributes: node)
    }
  }

  func openDirectoryDelayed(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    let caller = identifyWaiter(context)
    answerDelayed(
      Access(.open, of: .node(NodeID(node)), caller: caller), on: node, reply: reply, mayFetch: true,
      request: { [self] in TriggerRequest(trigger: .open, caller: withPolicy(caller), openFlags: flags) },
      answer: { [self] reply in
        guard let reply = answer(reply, to: node) else { return nil }
        return answerRepeat(reply, of: node, context)
      },
      answerMissing: { [self] reply in answerRepeat(reply, of: node, context) })
  }

  func openDelayed(
    _ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply, mayFetch: Bool
  ) {
    let caller = identifyWaiter(context)
    let answer: @Sendable (consuming OpenReply) -> OpenReply? = { [self] reply in
      guard let reply = answerOpen(reply, of: node, flags: flags, context: context, process: caller.process) else {
        return nil
      }
      return answerRepeat(reply, of: node, context)
    }
    // What a writer is about to throw away (O_TRUNC) need not be there at all.
    let answersMissing = isWritable && Self.opensForWriting(flags)
    answerDelayed(
      Access(.open, of: .node(NodeID(node)), caller: caller), on: node, reply: reply, mayFetch: mayFetch,
      request: { [self] in
        TriggerRequest(trigger: Self.trigger(ofOpen: flags), caller: withPolicy(caller), openFlags: flags)
      },
      answer: answer,
      answerMissing: answersMissing ? answer : { [self] reply in answerRepeat(reply, of: node, context) })
  }

  /// The kernel's own repeat of an open that failed gets the same outcome.
  private func answerRepeat(
    _ reply: consuming OpenReply, of node: FuseNode, _ context: RequestContext
  ) -> OpenReply? {
    guard let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) else { return reply }
    reply.failed(error)
    return nil
  }

  func listDelayed(_ node: FuseNode, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply) {
    let caller = identifyWaiter(context)
    answerDelayed(
      Access(.read, of: .node(NodeID(node)), caller: caller, offset: cookie), on: node, reply: reply, mayFetch: true,
      request: { [self] in TriggerRequest(trigger: .readdir, caller: withPolicy(caller)) },
      answer: { [self] reply in answer(reply, to: node, from: cookie) })
  }

  func readDelayed(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply) {
    let caller = identifyWaiter(context)
    let access = Access(
      .read, of: .node(NodeID(node)), caller: caller, offset: request.offset, length: Int64(request.size))
    answerDelayed(
      access, on: node, reply: reply, mayFetch: true,
      request: { [self] in trigger(of: node, request, by: withPolicy(caller)) },
      answer: { [self] reply in
        answerRead(reply, of: node, request: request, threadID: context.threadID, process: caller.process)
      },
      answerMissing: { [self] reply in
        let error = engine.repeatedFailure(
          ofRead: NodeID(node), handle: request.handle.rawValue, offset: request.offset, length: Int64(request.size),
          isDirect: request.isDirect, threadID: context.threadID)
        guard let error else { return reply }
        reply.failed(error)
        return nil
      })
  }

  /// - Parameters:
  ///   - kept: The bytes: the kernel's buffer is used for the next request meanwhile.
  ///   - thread: Where it is called.
  func writeDelayed(
    _ kept: KeptWrite, to node: FuseNode, by caller: Caller, on thread: ChangeThread, reply: consuming WriteReply
  ) {
    let access = Access(
      .write, of: .node(NodeID(node)), caller: caller, offset: kept.access.offset, length: Int64(kept.bytes.count))
    delay(access, reply: reply) { [self] reply, verdict in
      if verdict == .missing {
        let left = UnansweredChange(reply: reply, obstacle: .content(NodeID(node), .write))
        return wait(for: left, by: caller, on: thread) { [self] reply in
          writeDelayed(kept, to: node, by: caller, on: .completing, reply: reply)
          return nil
        }
      }
      guard engine.writesPromptly else {
        let left = UnansweredChange(reply: reply, obstacle: .contentLane)
        return wait(for: left, by: caller, on: .content) { [self] reply in write(kept, to: node, reply: reply) }
      }
      change(reply, by: caller, on: verdict == .delayed ? .completing : thread) { [self] reply in
        write(kept, to: node, reply: reply)
      }
    }
  }

  /// What the kernel would remember is not said of an operation.
  private static func answerable(_ errno: Errno, of operation: AccessOperation) -> Errno {
    switch operation {
    case .open: answerable(errno, .open)
    case .write: answerableChange(errno)
    case .lookup, .getattr, .read: answerable(errno, .read)
    }
  }
}
