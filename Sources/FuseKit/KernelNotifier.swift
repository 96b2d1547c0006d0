internal import CFuse3
internal import Glibc
public import SystemPackage

/// Tells the kernel to drop what it has cached.
///
/// All calls block in the kernel, some on locks that requests parked by this very file system hold: never call them
/// from a FuseOperations method or with a lock held, but from a thread that may hang. Each method says which lock.
/// After the session's end they fail with ENODEV or EBADF.
///
/// Results: nil is success; ENOENT is normal and means the kernel has nothing of that node or name; ENOTDIR that the
/// parent is no directory; EINVAL that the kernel is too old to know the message.
public struct KernelNotifier: Sendable {
  private let device: Int32

  init(device: Int32) { self.device = device }

  /// Drops attributes, so that the next stat(2) sends getattr. No lock: never blocks. C:
  /// `fuse_lowlevel_notify_inval_inode` with offset -1.
  public func invalidateAttributes(_ node: FuseNode) -> Errno? {
    invalidate(node, offset: -1, length: 0)
  }

  /// Drops attributes and cached pages of a file, or the cached listing of a directory.
  ///
  /// Waits for every page that a parked READ fills: with such a READ outstanding it returns only after its answer.
  ///
  /// - Parameters:
  ///   - offset: First byte of the range, 0 or more.
  ///   - length: In bytes; 0 means to the end.
  public func invalidateContent(_ node: FuseNode, offset: Int64 = 0, length: Int64 = 0) -> Errno? {
    invalidate(node, offset: max(offset, 0), length: length)
  }

  /// Drops a name: the next use looks it up. Takes the parent directory's lock exclusively: waits for every lookup and
  /// listing parked in that directory, and while it waits all other lookups there wait too.
  public func invalidateEntry(_ name: [UInt8], in parent: FuseNode) -> Errno? {
    entry(name, in: parent, flags: 0)
  }

  /// Makes the kernel look a name up again at its next use without dropping what is below it. Takes the parent
  /// directory's lock like `invalidateEntry`. Older kernels than 6.2 do a full `invalidateEntry`.
  public func expireEntry(_ name: [UInt8], in parent: FuseNode) -> Errno? {
    entry(name, in: parent, flags: cfuse_entry_expire_only)
  }

  /// Tells that a name was removed, so that inotify says so too. Takes the parent directory's lock like
  /// `invalidateEntry`.
  public func delete(_ child: FuseNode, named name: [UInt8], in parent: FuseNode) -> Errno? {
    var body = fuse_notify_delete_out()
    body.parent = parent.rawValue
    body.child = child.rawValue
    body.namelen = UInt32(truncatingIfNeeded: name.count)
    return send(cfuse_notify_delete, body: body, tail: name + [0])
  }

  /// Makes the kernel look every name of the volume up again at its next use. No lock. Linux 6.16 (protocol 7.44).
  public func expireAllEntries() -> Errno? {
    send(cfuse_notify_inc_epoch, body: EmptyBody(), tail: [UInt8]())
  }

  /// Drops the names of nodes that nobody uses, which brings a forget for each; nodes in use are left alone. No lock
  /// of a directory. Linux 6.18 (protocol 7.45).
  ///
  /// - Parameter nodes: Up to 65,536; more fail with EINVAL. It takes about 3 us for each, and this bounds one call.
  public func prune(_ nodes: [FuseNode]) -> Errno? {
    guard !nodes.isEmpty else { return nil }
    guard nodes.count <= 65_536 else { return .invalidArgument }
    var body = cfuse_notify_prune_out()
    body.count = UInt32(nodes.count)
    return send(cfuse_notify_prune, body: body, tail: nodes.map(\.rawValue))
  }

  private struct EmptyBody: BitwiseCopyable {}

  private func invalidate(_ node: FuseNode, offset: Int64, length: Int64) -> Errno? {
    var body = fuse_notify_inval_inode_out()
    body.ino = node.rawValue
    body.off = offset
    body.len = length
    return send(cfuse_notify_inval_inode, body: body, tail: [UInt8]())
  }

  private func entry(_ name: [UInt8], in parent: FuseNode, flags: UInt32) -> Errno? {
    var body = cfuse_notify_inval_entry_out()
    body.parent = parent.rawValue
    body.namelen = UInt32(truncatingIfNeeded: name.count)
    body.flags = flags
    return send(cfuse_notify_inval_entry, body: body, tail: name + [0])
  }

  /// Writes one message: header with unique 0 and the code in place of the error, body, tail.
  ///
  /// Not by libfuse, which lacks half of the messages and writes to stderr when one fails.
  private func send<Body: BitwiseCopyable, Element: BitwiseCopyable>(
    _ code: Int32, body: Body, tail: [Element]
  ) -> Errno? {
    let bodyBytes = MemoryLayout<Body>.size
    var header = fuse_out_header()
    header.error = code
    let result = withUnsafeBytes(of: body) { body in
      tail.withUnsafeBytes { tail in
        header.len = UInt32(MemoryLayout<fuse_out_header>.size + bodyBytes + tail.count)
        return withUnsafeMutableBytes(of: &header) { header in
          var vectors = [
            iovec(iov_base: header.baseAddress, iov_len: header.count),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: body.baseAddress), iov_len: bodyBytes),
            iovec(iov_base: UnsafeMutableRawPointer(mutating: tail.baseAddress), iov_len: tail.count),
          ]
          return writev(device, &vectors, 3) < 0 ? errno : 0
        }
      }
    }
    return result == 0 ? nil : Errno(rawValue: result)
  }
}
