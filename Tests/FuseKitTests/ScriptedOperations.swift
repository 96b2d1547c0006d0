import Synchronization
import SystemPackage

@testable import FuseKit

/// A file system that does what a name says: the volume under test is the binding, not this.
final class ScriptedOperations: FuseOperations {
  struct Seen {
    var reads: [ReadRequest] = []
    var contexts: [RequestContext] = []
    var forgotten: [ForgottenNode] = []
    var delivered: [Bool] = []
    var parked: [ParkedReply<DataReply>] = []
    var destroyed = 0
  }

  let seen = Mutex(Seen())
  /// Called with each parked READ, on the session's thread.
  let onPark: @Sendable (ParkedReply<DataReply>) -> Void
  /// Called while INIT is being answered, on the session's thread.
  let onInitialized: @Sendable () -> Void

  init(
    onPark: @escaping @Sendable (ParkedReply<DataReply>) -> Void = { _ in },
    onInitialized: @escaping @Sendable () -> Void = {}
  ) {
    self.onPark = onPark
    self.onInitialized = onInitialized
  }

  func initialized(_ features: NegotiatedFeatures) { onInitialized() }

  static let attributes = FuseAttributes(
    inode: 4711, size: 100, blocks: 8, accessTime: FuseTime(seconds: -1, nanoseconds: 1),
    modificationTime: FuseTime(seconds: 2, nanoseconds: 3), changeTime: FuseTime(seconds: 4, nanoseconds: 5),
    mode: 0o100644, linkCount: 2, uid: 6, gid: 7)

  func lookup(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply) {
    seen.withLock { $0.contexts.append(context) }
    if name.equals("absent") {
      reply.absent(timeout: CacheTimeout(seconds: 9, nanoseconds: 10))
    } else if name.equals("dropped") {
      return
    } else if name.equals("odd errno") {
      reply.fail(Errno(rawValue: 512))
    } else if name.equals("no errno") {
      reply.fail(Errno(rawValue: 0))
    } else {
      let entry = FuseEntry(
        node: FuseNode(rawValue: 42), generation: 1, attributes: Self.attributes,
        entryTimeout: CacheTimeout(seconds: 1, nanoseconds: 2), attributeTimeout: .forever)
      let delivered = reply.entry(entry)
      seen.withLock { $0.delivered.append(delivered) }
    }
  }

  func forget(_ nodes: UnsafeBufferPointer<ForgottenNode>) {
    seen.withLock { $0.forgotten += Array(nodes) }
  }

  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    let backing = node.rawValue == 9 ? BackingID(rawValue: 3) : nil
    _ = reply.opened(FuseHandle(rawValue: 5), options: [.keepCache, .directIO, .noFlush], backing: backing)
  }

  func read(_ node: FuseNode, _ request: ReadRequest, context: RequestContext, reply: consuming DataReply) {
    seen.withLock { $0.reads.append(request) }
    if node.rawValue == 8 {
      let parked = ParkedReply(reply)
      seen.withLock { $0.parked.append(parked) }
      onPark(parked)
      return
    }
    // Not an array's closure: a reply cannot be consumed inside one.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 50, alignment: 1)
    defer { buffer.deallocate() }
    buffer.initializeMemory(as: UInt8.self, repeating: 7)
    reply.data(UnsafeRawBufferPointer(buffer))
  }

  func readdirplus(
    _ node: FuseNode, handle: FuseHandle, cookie: Int64, context: RequestContext, reply: consuming DirectoryReply
  ) {
    let buffer = reply.makeBuffer()
    _ = reply.listing(buffer)
  }

  func getxattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming XattrReply) {
    reply.value(Array("value".utf8))
  }

  func destroyed() { seen.withLock { $0.destroyed += 1 } }
}
