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
  func answerDelayed<Reply: FuseReply & ~Copyable>(
    _ access: Access, on node: FuseNode, reply: consuming Reply, mayFetch: Bool,
    request: @escaping @Sendable () -> TriggerRequest, answer: @escaping @Sendable (consuming Reply) -> Reply?
  ) {
    delay(access, reply: reply) { [self] reply, wasDelayed in
      guard let reply = answer(reply) else { return }
      park(node, request: request(), reply: reply, mayFetch: mayFetch && !wasDelayed) { [self] reply in
        if wasDelayed { return answer(reply) }
        answerDelayed(access, on: node, reply: reply, mayFetch: false, request: request, answer: answer)
        return nil
      }
    }
  }

  /// Parks a reply for as long as the scenario delays the call; then, or at once, `answer` answers it.
  private func delay<Reply: FuseReply & ~Copyable>(
    _ access: Access, reply: consuming Reply,
    answer: @escaping @Sendable (consuming Reply, _ wasDelayed: Bool) -> Void
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    let isDelayed = engine.delay(access, waiter: waiter) { [accessLane] error in
      if let error {
        box.fail(Self.answerable(error.errno, access.operation == .open ? .open : .read))
      } else {
        accessLane.submit { if let reply = box.take() { answer(reply, true) } }
      }
    }
    if !isDelayed, let reply = box.take() { answer(reply, false) }
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
      })
  }

  func openDelayed(
    _ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply, mayFetch: Bool
  ) {
    let caller = identifyWaiter(context)
    answerDelayed(
      Access(.open, of: .node(NodeID(node)), caller: caller), on: node, reply: reply, mayFetch: mayFetch,
      request: { [self] in
        TriggerRequest(trigger: Self.trigger(ofOpen: flags), caller: withPolicy(caller), openFlags: flags)
      },
      answer: { [self] reply in
        guard let reply = answerOpen(reply, of: node, flags: flags, context: context, process: caller.process) else {
          return nil
        }
        return answerRepeat(reply, of: node, context)
      })
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
      })
  }
}
