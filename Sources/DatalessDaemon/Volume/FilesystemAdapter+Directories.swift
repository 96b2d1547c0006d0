import DatalessCore
import FuseKit
import SystemPackage

extension FilesystemAdapter {
  func opendir(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    if engine.delaysAccess(.open) {
      return openDirectoryDelayed(node, flags: flags, context: context, reply: reply)
    }
    guard let reply = answer(reply, to: node) else { return }
    if let error = engine.repeatedFailure(NodeID(node), threadID: context.threadID) { return reply.failed(error) }
    let request = TriggerRequest(trigger: .open, caller: identifyTrigger(context), openFlags: flags)
    park(node, request: request, reply: reply, mayFetch: true) { [self] reply in answer(reply, to: node) }
  }

  /// - Returns: The reply, if the directory has to be listed first.
  func answer(_ reply: consuming OpenReply, to node: FuseNode) -> OpenReply? {
    // A listing may be kept by the kernel only once it is complete (docs/ARCHITECTURE.md, R5), and unless each reading
    // is delayed.
    let options: OpenOptions
    switch engine.openDirectory(NodeID(node)) {
    case .listed: options = engine.delaysAccess(.read) ? [] : [.cacheDirectory, .keepCache]
    case .dataless: options = []
    case .needsListing: return reply
    case .failed(let errno):
      reply.fail(errno)
      return nil
    }
    if !reply.opened(FuseHandle(rawValue: 0), options: options) { engine.release(NodeID(node), handle: 0) }
    return nil
  }

  func releasedir(
    _ node: FuseNode, handle: FuseHandle, flags: Int32, context: RequestContext, reply: consuming EmptyReply
  ) {
    engine.release(NodeID(node), handle: 0)
    reply.succeed()
  }

  func readdir(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    list(node, cookie: cookie, context: context, reply: reply)
  }

  func readdirplus(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    list(node, cookie: cookie, context: context, reply: reply)
  }

  private func list(_ node: FuseNode, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply) {
    if engine.delaysAccess(.read) { return listDelayed(node, cookie: cookie, context: context, reply: reply) }
    guard let reply = answer(reply, to: node, from: cookie) else { return }
    let request = TriggerRequest(trigger: .readdir, caller: identifyTrigger(context))
    park(node, request: request, reply: reply, mayFetch: true) { [self] reply in answer(reply, to: node, from: cookie) }
  }

  /// - Returns: The reply, if the directory has to be listed first.
  func answer(
    _ reply: consuming DirectoryReply, to node: FuseNode, from cookie: Int64
  ) -> DirectoryReply? {
    var buffer = reply.makeBuffer()
    switch fill(&buffer, node: node, cookie: cookie) {
    case .filled(let nodes):
      if !reply.listing(buffer) { engine.forget(nodes.lazy.map { (node: $0, count: 1) }) }
    case .failed(let errno): reply.fail(errno)
    case .needsListing: return reply
    }
    return nil
  }

  /// LIMIT: 400 entries an answer keep the engine's lock for some tens of microseconds.
  private static let entriesMax = 400

  private enum Filling {
    /// With the nodes whose lookups are to be given back if the kernel does not take the answer.
    case filled([NodeID])
    case needsListing
    case failed(Errno)
  }

  private func fill(_ buffer: inout DirectoryBuffer, node: FuseNode, cookie: Int64) -> Filling {
    guard cookie >= 0 else { return .failed(.invalidArgument) }
    var left = Self.entriesMax
    var nodes: [NodeID] = []
    let isPlus = buffer.isPlus
    let delayed = engine.delayedOperations
    if isPlus { nodes.reserveCapacity(Self.entriesMax) }
    let read = engine.readDirectory(NodeID(node), from: UInt64(cookie), countsLookups: isPlus) { entry in
      guard left > 0 else { return false }
      left -= 1
      let next = Int64(bitPattern: entry.nextCookie)
      guard let child = entry.node else {
        return buffer.append(
          name: entry.name, inode: entry.attributes.inode, mode: entry.attributes.mode, nextCookie: next)
      }
      var item = ItemSnapshot(node: child, attributes: entry.attributes, isDataless: false)
      item.changesUnseen = entry.changesUnseen
      guard buffer.append(name: entry.name, entry: FuseEntry(item, delaying: delayed), nextCookie: next) else {
        return false
      }
      if isPlus { nodes.append(child) }
      return true
    }
    return switch read {
    case .filled: .filled(nodes)
    case .needsListing: .needsListing
    case .failed(let errno): .failed(errno)
    }
  }
}
