import DatalessCore
import FuseKit
import SystemPackage

/// Extended attributes: SOURCE's, and the one that tells the state of an item.
extension FilesystemAdapter {
  func getxattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming XattrReply) {
    answer(node, name.bytes, context, reply)
  }

  func listxattr(_ node: FuseNode, context: RequestContext, reply: consuming XattrReply) {
    answer(node, nil, context, reply)
  }

  /// - Parameter name: nil: the names are to be listed.
  private func answer(
    _ node: FuseNode, _ name: UnsafeBufferPointer<UInt8>?, _ context: RequestContext, _ reply: consuming XattrReply
  ) {
    switch engine.extendedAttributeCall(NodeID(node), name: name) {
    case .value(let value): reply.value(value)
    case .absent: reply.fail(.noData)
    case .ask(let listed): ask(node, name.map(Array.init), listed, context.threadID, reply)
    case .needsMaterialization(let listed):
      if let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) { return reply.failed(error) }
      let request = TriggerRequest(trigger: .xattr, caller: identifyTrigger(context))
      let copy = name.map(Array.init)
      park(node, request, reply, mayFetch: true) { [self] box in
        guard let reply = box.take() else { return }
        ask(node, copy, listed, request.caller.threadID, reply)
      }
    }
  }

  /// Asks SOURCE.
  private func ask(
    _ node: FuseNode, _ name: [UInt8]?, _ listed: [UInt8]?, _ threadID: Int32, _ reply: consuming XattrReply
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    if let name {
      engine.extendedAttribute(name, of: NodeID(node), threadID: threadID, waiter: waiter) { Self.answer(box, $0) }
    } else {
      engine.extendedAttributeNames(of: NodeID(node), first: listed, threadID: threadID, waiter: waiter) {
        Self.answer(box, $0.map { TrustedAttributes.visible($0, to: threadID) })
      }
    }
  }

  private static func answer(_ box: ParkedReply<XattrReply>, _ result: Result<[UInt8], FSError>) {
    guard let reply = box.take() else { return }
    switch result {
    case .success(let value): reply.value(value)
    case .failure(let error): reply.fail(error.errno)
    }
  }
}

extension FuseReply where Self: ~Copyable {
  /// Fails with the error's errno.
  consuming func failed(_ error: FSError) { _ = fail(error.errno) }
}
