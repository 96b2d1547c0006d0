internal import CFuse3
internal import Glibc
internal import SystemPackage

// Requests about names and attributes. See FuseTrampolines+Session.swift for why these are file-scope functions.

func fuseLookup(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.lookup(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), context: RequestContext(request),
    reply: EntryReply(PendingRequest(request)))
}

func fuseForget(_ request: fuse_req_t?, _ node: fuse_ino_t, _ lookups: UInt64) {
  guard let request else { return }
  let one = ForgottenNode(node: FuseNode(rawValue: UInt64(node)), lookups: lookups)
  withUnsafePointer(to: one) {
    Dispatcher.of(request).operations.forget(UnsafeBufferPointer(start: $0, count: 1))
  }
  fuse_reply_none(request)
}

func fuseForgetMany(_ request: fuse_req_t?, _ count: Int, _ nodes: UnsafeMutablePointer<fuse_forget_data>?) {
  guard let request else { return }
  if let nodes, count > 0 {
    // SAFETY: ForgottenNode is two 64 bit integers like fuse_forget_data; a test compares the layouts.
    let start = UnsafeRawPointer(nodes).assumingMemoryBound(to: ForgottenNode.self)
    Dispatcher.of(request).operations.forget(UnsafeBufferPointer(start: start, count: count))
  }
  fuse_reply_none(request)
}

func fuseReadlink(_ request: fuse_req_t?, _ node: fuse_ino_t) {
  guard let request else { return }
  Dispatcher.of(request).operations.readlink(
    FuseNode(rawValue: UInt64(node)), context: RequestContext(request), reply: LinkReply(PendingRequest(request)))
}

func fuseMknod(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t, _ device: dev_t
) {
  guard let request else { return }
  Dispatcher.of(request).operations.mknod(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), mode: UInt32(mode), device: UInt64(device),
    context: RequestContext(request), reply: EntryReply(PendingRequest(request)))
}

func fuseMkdir(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t) {
  guard let request else { return }
  Dispatcher.of(request).operations.mkdir(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), mode: UInt32(mode), context: RequestContext(request),
    reply: EntryReply(PendingRequest(request)))
}

func fuseUnlink(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.unlink(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), context: RequestContext(request),
    reply: EmptyReply(PendingRequest(request)))
}

func fuseRmdir(_ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.rmdir(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), context: RequestContext(request),
    reply: EmptyReply(PendingRequest(request)))
}

func fuseSymlink(
  _ request: fuse_req_t?, _ target: UnsafePointer<CChar>?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.symlink(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), target: FuseName(target),
    context: RequestContext(request), reply: EntryReply(PendingRequest(request)))
}

func fuseRename(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ newParent: fuse_ino_t,
  _ newName: UnsafePointer<CChar>?, _ flags: UInt32
) {
  guard let request else { return }
  Dispatcher.of(request).operations.rename(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), to: FuseName(newName),
    in: FuseNode(rawValue: UInt64(newParent)), flags: RenameFlags(rawValue: flags),
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseLink(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ newParent: fuse_ino_t, _ newName: UnsafePointer<CChar>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.link(
    FuseNode(rawValue: UInt64(node)), as: FuseName(newName), in: FuseNode(rawValue: UInt64(newParent)),
    context: RequestContext(request), reply: EntryReply(PendingRequest(request)))
}

func fuseGetattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.getattr(
    FuseNode(rawValue: UInt64(node)), handle: info.map { FuseHandle($0) }, context: RequestContext(request),
    reply: AttributesReply(PendingRequest(request)))
}

func fuseSetattr(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ attributes: UnsafeMutablePointer<stat>?, _ fields: Int32,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let reply = AttributesReply(PendingRequest(request))
  guard let attributes else {
    reply.fail(.invalidArgument)
    return
  }
  let dispatcher = Dispatcher.of(request)
  var changes = AttributeChanges(attributes, fields: fields, info: info)
  if !dispatcher.options.readOnly { changes.fields = .init(valid: dispatcher.hiddenFields.flags) }
  guard !changes.fields.contains(.size) || changes.size >= 0 else {
    reply.fail(.fileTooLarge)
    return
  }
  dispatcher.operations.setattr(
    FuseNode(rawValue: UInt64(node)), changes: changes, context: RequestContext(request), reply: reply)
}

func fuseAccess(_ request: fuse_req_t?, _ node: fuse_ino_t, _ mask: Int32) {
  guard let request else { return }
  Dispatcher.of(request).operations.access(
    FuseNode(rawValue: UInt64(node)), mask: mask, context: RequestContext(request),
    reply: EmptyReply(PendingRequest(request)))
}

func fuseStatfs(_ request: fuse_req_t?, _ node: fuse_ino_t) {
  guard let request else { return }
  Dispatcher.of(request).operations.statfs(
    FuseNode(rawValue: UInt64(node)), context: RequestContext(request),
    reply: StatisticsReply(PendingRequest(request)))
}
