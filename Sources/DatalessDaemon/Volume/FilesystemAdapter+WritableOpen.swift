import DatalessCore
import FuseKit
import Glibc

/// Opens that may change content.
extension FilesystemAdapter {
  /// Whether an open may change content: of all others nothing is asked but what a read-only volume asks.
  static func opensForWriting(_ flags: Int32) -> Bool { flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 }

  /// What an open that has to wait waits for.
  static func trigger(ofOpen flags: Int32) -> Trigger { flags & O_TRUNC != 0 ? .openTruncate : .open }

  /// - Returns: The reply, if the file has to be materialized first.
  func answerWritableOpen(
    _ reply: consuming OpenReply, of node: FuseNode, flags: Int32, context: RequestContext
  ) -> OpenReply? {
    let caller = identify(context)
    let answer = engine.openForWriting(
      NodeID(node), openFlags: flags, io: opensDirectly ? .direct : .pageCache, clearsSetID: context.clearsSetID,
      by: caller)
    return self.answer(reply, answer, of: node, flags: flags, context: context, caller: caller)
  }

  private func answer(
    _ reply: consuming OpenReply, _ answer: WritableOpenAnswer, of node: FuseNode, flags: Int32,
    context: RequestContext, caller: Caller
  ) -> OpenReply? {
    switch answer {
    case .opened(let handle, let isDirect):
      // With FLUSH at each close, which writes mapped pages back (docs/ARCHITECTURE.md, W10).
      let options: OpenOptions = isDirect && opensDirectly ? [.directIO, .keepCache] : .keepCache
      if !reply.opened(FuseHandle(rawValue: handle), options: options) {
        engine.release(NodeID(node), handle: handle)
      }
    case .passthrough(let content, let handle, isToBeEmptied: false):
      openPassthrough(node, handle, content: content, reply: reply, writes: true)
    case .passthrough(let content, let handle, isToBeEmptied: true):
      let backing = backing(node, handle, content: content)
      guard let obstacle = empty(node, opened: handle, with: backing, context: context, caller: caller) else {
        openPassthrough(node, handle, backing: backing, reply: reply, writes: true)
        return nil
      }
      return self.answer(reply, obstacle, of: node, flags: flags, context: context, caller: caller)
    case .needsMaterialization: return reply
    case .isBeingEvicted: openWhenEvicted(node, flags: flags, context: context, reply: reply)
    case .needsDurability(let number):
      let box = ParkedReply(reply)
      engine.whenDurable(number, opening: NodeID(node)) { [self] error in
        guard let reply = box.take() else { return }
        if let error { return reply.failed(error) }
        openNow(node, flags: flags, context: context, reply: reply, mayFetch: false)
      }
    case .failed(let error): reply.failed(error)
    }
    return nil
  }

  /// O_TRUNC of an open that was to be passthrough, once it is settled what it is: nothing is cut for one that fails.
  ///
  /// - Returns: nil: the file is empty, or the open fails without it. Else why it is not; nothing is open then.
  private func empty(
    _ node: FuseNode, opened handle: UInt64, with backing: Backing, context: RequestContext, caller: Caller
  ) -> WritableOpenAnswer? {
    let opened: UInt64
    switch backing {
    case .had: opened = handle
    case .none: opened = OpenHandle.asCached(handle)
    case .failed: return nil
    }
    let answer = engine.empty(NodeID(node), openedBy: opened, clearsSetID: context.clearsSetID, by: caller)
    guard let obstacle = answer else { return nil }
    if case .had = backing { backings.release(NodeID(node)) }
    engine.release(NodeID(node), handle: opened)
    return obstacle
  }
}
