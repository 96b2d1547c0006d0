import Synchronization
import SystemPackage

@testable import FuseKit

/// A file system that notes what it is asked to change, as text, and says yes to all of it.
final class WritingOperations: FuseOperations {
  private let notes = Mutex<[String]>([])

  var noted: [String] { notes.withLock { $0 } }

  private func note(_ text: String, _ context: RequestContext) {
    notes.withLock { $0.append(text + (context.clearsSetID ? " clears" : "")) }
  }

  private static func text(_ name: FuseName) -> String { String(decoding: name.bytes, as: UTF8.self) }

  static let entry = FuseEntry(
    node: FuseNode(rawValue: 42), attributes: FuseAttributes(inode: 4711, mode: 0o100644),
    entryTimeout: .forever, attributeTimeout: .forever)

  func mknod(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, device: UInt64, context: RequestContext,
    reply: consuming EntryReply
  ) {
    note("mknod \(Self.text(name)) \(String(mode, radix: 8)) \(device) umask \(context.umask)", context)
    _ = reply.entry(Self.entry)
  }

  func mkdir(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, context: RequestContext, reply: consuming EntryReply
  ) {
    note("mkdir \(Self.text(name)) \(String(mode, radix: 8)) umask \(context.umask)", context)
    _ = reply.entry(Self.entry)
  }

  func unlink(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    note("unlink \(Self.text(name))", context)
    reply.succeed()
  }

  func rmdir(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EmptyReply) {
    note("rmdir \(Self.text(name))", context)
    reply.succeed()
  }

  func symlink(
    _ name: FuseName, in parent: FuseNode, target: FuseName, context: RequestContext, reply: consuming EntryReply
  ) {
    note("symlink \(Self.text(name)) -> \(Self.text(target))", context)
    _ = reply.entry(Self.entry)
  }

  func rename(
    _ name: FuseName, in parent: FuseNode, to newName: FuseName, in newParent: FuseNode, flags: RenameFlags,
    context: RequestContext, reply: consuming EmptyReply
  ) {
    note("rename \(Self.text(name)) \(newParent.rawValue)/\(Self.text(newName)) \(flags.rawValue)", context)
    reply.succeed()
  }

  func link(
    _ node: FuseNode, as name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply
  ) {
    note("link \(node.rawValue) \(parent.rawValue)/\(Self.text(name))", context)
    _ = reply.entry(Self.entry)
  }

  func setattr(
    _ node: FuseNode, changes: AttributeChanges, context: RequestContext, reply: consuming AttributesReply
  ) {
    let handle = changes.handle.map { " handle \($0.rawValue)" } ?? ""
    note(
      "setattr \(String(changes.fields.rawValue, radix: 16)) size \(changes.size)" + handle
        + (changes.clearsSetID ? " and set-id" : ""), context)
    reply.attributes(Self.entry.attributes, timeout: .forever)
  }

  func open(_ node: FuseNode, flags: Int32, context: RequestContext, reply: consuming OpenReply) {
    note("open \(flags)", context)
    _ = reply.opened(FuseHandle(rawValue: 7), options: .keepCache)
  }

  func create(
    _ name: FuseName, in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext,
    reply: consuming CreateReply
  ) {
    note("create \(Self.text(name)) \(String(mode, radix: 8)) \(flags) umask \(context.umask)", context)
    _ = reply.created(Self.entry, handle: FuseHandle(rawValue: 7), options: .keepCache)
  }

  func tmpfile(
    in parent: FuseNode, mode: UInt32, flags: Int32, context: RequestContext, reply: consuming CreateReply
  ) {
    note("tmpfile \(String(mode, radix: 8)) \(flags) umask \(context.umask)", context)
    _ = reply.created(Self.entry, handle: FuseHandle(rawValue: 7), options: .keepCache)
  }

  func write(_ node: FuseNode, _ request: WriteRequest, context: RequestContext, reply: consuming WriteReply) {
    let kind = request.isWriteback ? "pages" : request.isDirect ? "direct" : "cached"
    note(
      "write \(request.offset)+\(request.bytes.count) \(kind)" + (request.mustBeDurable ? " durable" : ""), context)
    reply.written(request.bytes.count)
  }

  func fsync(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    note("fsync \(handle.rawValue) \(dataOnly)", context)
    reply.succeed()
  }

  func fsyncdir(
    _ node: FuseNode, handle: FuseHandle, dataOnly: Bool, context: RequestContext, reply: consuming EmptyReply
  ) {
    note("fsyncdir \(handle.rawValue) \(dataOnly)", context)
    reply.succeed()
  }

  func copyFileRange(_ request: CopyRequest, context: RequestContext, reply: consuming WriteReply) {
    note(
      "copy \(request.source.rawValue)@\(request.sourceOffset) \(request.destination.rawValue)"
        + "@\(request.destinationOffset) \(request.length)", context)
    reply.written(request.length)
  }

  func fallocate(
    _ node: FuseNode, handle: FuseHandle, mode: Int32, offset: Int64, length: Int64, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    note("fallocate \(mode) \(offset)+\(length)", context)
    reply.succeed()
  }

  func setxattr(
    _ node: FuseNode, name: FuseName, value: UnsafeRawBufferPointer, flags: Int32, context: RequestContext,
    reply: consuming EmptyReply
  ) {
    note("setxattr \(Self.text(name))=\(String(decoding: value, as: UTF8.self)) \(flags)", context)
    reply.succeed()
  }

  func removexattr(_ node: FuseNode, name: FuseName, context: RequestContext, reply: consuming EmptyReply) {
    note("removexattr \(Self.text(name))", context)
    reply.succeed()
  }
}
