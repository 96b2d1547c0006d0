import DatalessCore
import FuseKit
import SystemPackage

/// Extended attributes: SOURCE's, and the one that tells the state of an item.
extension FilesystemAdapter {
  func getxattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming XattrReply) {
    if name.bytes.elementsEqual(CapacityReader.attribute) {
      let box = ParkedReply(reply)
      return capacity.recent { capacity in Self.answer(box, .success(capacity.attribute)) }
    }
    answer(node, name: name.bytes, context: context, reply: reply)
  }

  func listxattr(_ node: FuseNode, context: RequestContext, reply: consuming XattrReply) {
    answer(node, name: nil, context: context, reply: reply)
  }

  /// - Parameter name: nil: the names are to be listed.
  private func answer(
    _ node: FuseNode, name: UnsafeBufferPointer<UInt8>?, context: RequestContext, reply: consuming XattrReply
  ) {
    switch engine.extendedAttributeCall(NodeID(node), name: name) {
    case .value(let value): reply.value(value)
    case .absent: reply.fail(.noData)
    case .unsupported: reply.fail(.notSupported)
    case .ask(let listed):
      ask(node, name: name.map(Array.init), listed: listed, threadID: context.threadID, reply: reply)
    case .needsMaterialization(let listed):
      if let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) { return reply.failed(error) }
      let request = TriggerRequest(trigger: .xattr, caller: identifyTrigger(context))
      let copy = name.map(Array.init)
      park(node, request: request, reply: reply, mayFetch: true) { [self] reply in
        ask(node, name: copy, listed: listed, threadID: request.caller.threadID, reply: reply)
        return nil
      }
    }
  }

  /// Asks SOURCE.
  private func ask(
    _ node: FuseNode, name: [UInt8]?, listed: [UInt8]?, threadID: Int32, reply: consuming XattrReply
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

/// The engine's values in the kernel's words.

extension NodeID {
  init(_ node: FuseNode) { self.init(rawValue: node.rawValue) }
}

extension FuseNode {
  init(_ node: NodeID) { self.init(rawValue: node.rawValue) }
}

extension FuseTime {
  init(_ time: Timestamp) { self.init(seconds: time.seconds, nanoseconds: time.nanoseconds) }
}

extension FuseAttributes {
  init(_ attributes: ItemAttributes) {
    self.init(
      inode: attributes.inode, size: UInt64(max(0, attributes.size)), blocks: UInt64(max(0, attributes.blocks)),
      accessTime: FuseTime(attributes.accessTime), modificationTime: FuseTime(attributes.modificationTime),
      changeTime: FuseTime(attributes.changeTime), mode: attributes.mode, linkCount: attributes.linkCount,
      uid: attributes.uid, gid: attributes.gid, specialDevice: attributes.specialDevice)
  }
}

extension FuseEntry {
  /// - Parameter delayed: What the scenario delays.
  init(_ item: ItemSnapshot, delaying delayed: AccessOperations) {
    self.init(
      node: FuseNode(item.node), attributes: FuseAttributes(item.attributes),
      entryTimeout: CacheTimeout(of: .lookup, delaying: delayed),
      attributeTimeout: item.attributeTimeout(delaying: delayed))
  }
}

extension ItemSnapshot {
  /// How long the kernel may show the attributes.
  func attributeTimeout(delaying delayed: AccessOperations) -> CacheTimeout {
    changesUnseen ? .none : CacheTimeout(of: .getattr, delaying: delayed)
  }
}

extension CacheTimeout {
  /// Cached until invalidated: nothing changes without the daemon's doing, and then it says so. But what is delayed has
  /// to be asked for each time: what the kernel answers by itself takes no time.
  init(of operation: AccessOperation, delaying delayed: AccessOperations) {
    self = delayed.contains(operation) ? .none : .forever
  }
}
