import DatalessCore
import FuseKit
import SystemPackage

/// Names that callers make, move and remove, and attributes that they change. On a read-only volume the kernel answers
/// all of it with EROFS itself.
extension FilesystemAdapter {
  func mknod(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, device: UInt64, context: RequestContext,
    reply: consuming EntryReply
  ) {
    make(name.copy(), by: identify(context), reply: reply) { [engine] name, caller in
      engine.makeNode(name, in: NodeID(parent), mode: mode, umask: context.umask, device: device, by: caller)
    }
  }

  func mkdir(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, context: RequestContext, reply: consuming EntryReply
  ) {
    make(name.copy(), by: identify(context), reply: reply) { [engine] name, caller in
      engine.makeDirectory(name, in: NodeID(parent), mode: mode, umask: context.umask, by: caller)
    }
  }

  func symlink(
    _ name: FuseName, in parent: FuseNode, target: FuseName, context: RequestContext, reply: consuming EntryReply
  ) {
    let target = target.copy()
    make(name.copy(), by: identify(context), reply: reply) { [engine] name, caller in
      target.withUnsafeBufferPointer { engine.makeSymbolicLink(name, in: NodeID(parent), to: $0, by: caller) }
    }
  }

  func link(
    _ node: FuseNode, as name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply
  ) {
    make(name.copy(), by: identify(context), reply: reply) { [self] name, caller in
      let answer = engine.link(NodeID(node), as: name, in: NodeID(parent), by: caller)
      guard case .needsMaterialization(let file) = answer else { return answer }
      // The kernel holds the directory: the file comes, and nobody waits for it.
      let request = TriggerRequest(trigger: .link, caller: withPolicy(withThreadName(caller)))
      if let error = engine.beginMaterialization(file, request, waiter: makeWaiter(), mayFetch: true) {
        return .failed(Self.answerableChange(error.errno))
      }
      return engine.link(NodeID(node), as: name, in: NodeID(parent), isComing: true, by: caller)
    }
  }

  private func make(
    _ name: [UInt8], by caller: Caller, reply: consuming EntryReply,
    _ decide: @escaping @Sendable (UnsafeBufferPointer<UInt8>, Caller) -> MakeAnswer
  ) {
    change(reply, by: caller, name: name) { [self] reply in
      switch name.withUnsafeBufferPointer({ decide($0, caller) }) {
      case .made(let item):
        if !reply.entry(FuseEntry(item, delaying: engine.delayedOperations)) {
          engine.forget(CollectionOfOne((node: item.node, count: 1)))
        }
      case .needsListing(let directory): return UnansweredChange(reply: reply, obstacle: .listing(directory))
      // Of a link alone, which answers it itself.
      case .needsMaterialization: reply.fail(.ioError)
      case .failed(let errno): reply.fail(errno)
      }
      return nil
    }
  }

  func create(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext,
    reply: consuming CreateReply
  ) {
    let (name, caller) = (name.copy(), identify(context))
    create(named: name, by: caller, reply: reply) { [engine] in
      name.withUnsafeBufferPointer {
        engine.create($0, in: NodeID(parent), mode: mode, umask: context.umask, openFlags: flags, by: caller)
      }
    }
  }

  func tmpfile(
    in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext, reply: consuming CreateReply
  ) {
    let caller = identify(context)
    create(named: nil, by: caller, reply: reply) { [engine] in
      engine.makeTemporaryFile(in: NodeID(parent), mode: mode, umask: context.umask, openFlags: flags, by: caller)
    }
  }

  private func create(
    named name: [UInt8]?, by caller: Caller, reply: consuming CreateReply,
    _ decide: @escaping @Sendable () -> CreateAnswer
  ) {
    change(reply, by: caller, name: name) { [self] reply in
      switch decide() {
      case .made(let item, let handle):
        let entry = FuseEntry(item, delaying: engine.delayedOperations)
        if !reply.created(entry, handle: FuseHandle(rawValue: handle), options: .keepCache) {
          engine.release(item.node, handle: handle)
          engine.forget(CollectionOfOne((node: item.node, count: 1)))
        }
      case .needsListing(let directory): return UnansweredChange(reply: reply, obstacle: .listing(directory))
      case .failed(let errno): reply.fail(errno)
      }
      return nil
    }
  }

  func unlink(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    alter(name.copy(), by: identify(context), reply: reply) { [engine] name, caller in
      engine.unlink(name, in: NodeID(parent), by: caller)
    }
  }

  func rmdir(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    alter(name.copy(), by: identify(context), reply: reply, wait: Self.emptinessWait) { [engine] name, caller in
      engine.removeDirectory(name, in: NodeID(parent), by: caller)
    }
  }

  func rename(
    _ name: FuseName, in parent: FuseNode, to newName: FuseName, in newParent: FuseNode, flags: RenameFlags,
    context: RequestContext, reply: consuming EmptyReply
  ) {
    let newName = newName.copy()
    alter(name.copy(), by: identify(context), reply: reply) { [engine] name, caller in
      newName.withUnsafeBufferPointer { newName in
        engine.rename(
          name, in: NodeID(parent), to: newName, in: NodeID(newParent),
          options: RenameOptions(rawValue: flags.rawValue), by: caller)
      }
    }
  }

  /// LIMIT: how long rmdir(2) waits for the listing of what it removes, while the kernel holds the directory above;
  /// rename(2), for which it may hold the whole volume's renames, does not wait (docs/WRITING.md).
  private static let emptinessWait = Nanoseconds.milliseconds(500)

  /// - Parameter wait: As `ChangeObstacle.emptiness`.
  private func alter(
    _ name: [UInt8], by caller: Caller, reply: consuming EmptyReply, wait: Nanoseconds = 0,
    _ decide: @escaping @Sendable (UnsafeBufferPointer<UInt8>, Caller) -> ChangeAnswer
  ) {
    change(reply, by: caller, name: name) { reply in
      switch name.withUnsafeBufferPointer({ decide($0, caller) }) {
      case .done: reply.succeed()
      case .needsListing(let directory): return UnansweredChange(reply: reply, obstacle: .listing(directory))
      case .needsEmptiness(let directory):
        return UnansweredChange(reply: reply, obstacle: .emptiness(directory, limit: wait))
      case .failed(let errno): reply.fail(errno)
      }
      return nil
    }
  }

  // MARK: - Attributes

  func setattr(
    _ node: FuseNode, changes: AttributeChanges, context: RequestContext, reply: consuming AttributesReply
  ) {
    let caller = identify(context)
    let attributes = AttributeChange(changes)
    let (node, handle) = (NodeID(node), changes.handle?.rawValue)
    let attempt: @Sendable (consuming AttributesReply) -> UnansweredChange<AttributesReply>? = { [engine] reply in
      switch engine.setAttributes(attributes, of: node, handle: handle, by: caller) {
      case .changed(let item):
        reply.attributes(
          FuseAttributes(item.attributes), timeout: item.attributeTimeout(delaying: engine.delayedOperations))
      case .needsMaterialization: return UnansweredChange(reply: reply, obstacle: .content(node, .truncate))
      case .needsDurability(let number): return UnansweredChange(reply: reply, obstacle: .durability(number))
      case .needsRoom(let bytes): return UnansweredChange(reply: reply, obstacle: .room(bytes))
      case .failed(let error): reply.failed(error)
      }
      return nil
    }
    guard let size = attributes.size else { return change(reply, by: caller, attempt: attempt) }
    whereContentMoves(reply, bytes: bytesCut(from: node, to: size)) { [self] reply, thread in
      change(reply, by: caller, on: thread, attempt: attempt)
    }
  }

  /// How many bytes a file loses by a change of its size; what it gains is a hole.
  func bytesCut(from node: NodeID, to size: Int64) -> Int64 {
    guard let (left, overflow) = engine.size(of: node).map({ $0.subtractingReportingOverflow(size) }) else { return 0 }
    return overflow ? .max : max(0, left)
  }

  func setxattr(
    _ node: FuseNode, name: FuseName, value: UnsafeRawBufferPointer, flags: Int32, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    // XATTR_CREATE, XATTR_REPLACE.
    let how: AttributeExistence
    switch flags {
    case 0: how = .any
    case 1: how = .create
    case 2: how = .replace
    default:
      reply.fail(.invalidArgument)
      return
    }
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    engine.setExtendedAttribute(
      name.copy(), to: Array(value), how: how, of: NodeID(node), by: identify(context), waiter: waiter
    ) { Self.answer(box, $0) }
  }

  func removexattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming EmptyReply) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    engine.removeExtendedAttribute(name.copy(), of: NodeID(node), by: identify(context), waiter: waiter) {
      Self.answer(box, $0)
    }
  }

  static func answer(_ box: ParkedReply<EmptyReply>, _ error: FSError?) {
    guard let reply = box.take() else { return }
    if let error { reply.fail(answerableChange(error.errno)) } else { reply.succeed() }
  }
}

extension AttributeChange {
  init(_ changes: AttributeChanges) {
    self.init()
    let fields = changes.fields
    if fields.contains(.mode) { mode = changes.mode & 0o7777 }
    if fields.contains(.uid) { uid = changes.uid }
    if fields.contains(.gid) { gid = changes.gid }
    if fields.contains(.size) { size = changes.size }
    accessTime = Self.time(changes.accessTime, fields, set: .accessTime, now: .accessTimeNow)
    modificationTime = Self.time(changes.modificationTime, fields, set: .modificationTime, now: .modificationTimeNow)
    clearsSetID = changes.clearsSetID
  }

  private static func time(
    _ time: FuseTime, _ fields: AttributeChanges.Fields, set: AttributeChanges.Fields, now: AttributeChanges.Fields
  ) -> TimeChange? {
    if fields.contains(now) { return .now }
    return fields.contains(set) ? .at(Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds)) : nil
  }
}
