internal import CFuse3
internal import Glibc
internal import SystemPackage

// Requests about directories and extended attributes, and the table of all trampolines.

func fuseOpendir(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.opendir(
    FuseNode(rawValue: UInt64(node)), flags: info?.pointee.flags ?? 0, context: RequestContext(request),
    reply: OpenReply(PendingRequest(request)))
}

func fuseReaddir(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int, _ cookie: off_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.readdir(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), cookie: Int64(cookie),
    context: RequestContext(request), reply: DirectoryReply(PendingRequest(request), size: size, isPlus: false))
}

func fuseReaddirplus(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int, _ cookie: off_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.readdirplus(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), cookie: Int64(cookie),
    context: RequestContext(request), reply: DirectoryReply(PendingRequest(request), size: size, isPlus: true))
}

func fuseReleasedir(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.releasedir(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), flags: info?.pointee.flags ?? 0,
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseFsyncdir(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ dataOnly: Int32, _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.fsyncdir(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), dataOnly: dataOnly != 0,
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseSetxattr(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?,
  _ size: Int, _ flags: Int32
) {
  guard let request else { return }
  Dispatcher.of(request).operations.setxattr(
    FuseNode(rawValue: UInt64(node)), name: FuseName(name), value: UnsafeRawBufferPointer(start: value, count: size),
    flags: flags, context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseGetxattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ size: Int) {
  guard let request else { return }
  Dispatcher.of(request).operations.getxattr(
    FuseNode(rawValue: UInt64(node)), name: FuseName(name), context: RequestContext(request),
    reply: XattrReply(PendingRequest(request), size: size))
}

func fuseListxattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int) {
  guard let request else { return }
  Dispatcher.of(request).operations.listxattr(
    FuseNode(rawValue: UInt64(node)), context: RequestContext(request),
    reply: XattrReply(PendingRequest(request), size: size))
}

func fuseRemovexattr(_ request: fuse_req_t?, _ node: fuse_ino_t, _ name: UnsafePointer<CChar>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.removexattr(
    FuseNode(rawValue: UInt64(node)), name: FuseName(name), context: RequestContext(request),
    reply: EmptyReply(PendingRequest(request)))
}

extension fuse_lowlevel_ops {
  /// Every trampoline in its place. Locks, poll and bmap are left out: the kernel then does them itself.
  static func trampolines(readdirPlus: Bool) -> fuse_lowlevel_ops {
    var table = fuse_lowlevel_ops()
    table.`init` = fuseInit
    table.lookup = fuseLookup
    table.forget = fuseForget
    table.forget_multi = fuseForgetMany
    table.getattr = fuseGetattr
    table.setattr = fuseSetattr
    table.readlink = fuseReadlink
    table.mknod = fuseMknod
    table.mkdir = fuseMkdir
    table.unlink = fuseUnlink
    table.rmdir = fuseRmdir
    table.symlink = fuseSymlink
    table.rename = fuseRename
    table.link = fuseLink
    table.open = fuseOpen
    table.create = fuseCreate
    table.read = fuseRead
    table.write = fuseWrite
    table.flush = fuseFlush
    table.release = fuseRelease
    table.fsync = fuseFsync
    table.lseek = fuseLseek
    table.copy_file_range = fuseCopyFileRange
    table.fallocate = fuseFallocate
    table.ioctl = fuseIoctl
    table.opendir = fuseOpendir
    table.readdir = fuseReaddir
    if readdirPlus {
      table.readdirplus = fuseReaddirplus
    }
    table.releasedir = fuseReleasedir
    table.fsyncdir = fuseFsyncdir
    table.statfs = fuseStatfs
    table.access = fuseAccess
    table.setxattr = fuseSetxattr
    table.getxattr = fuseGetxattr
    table.listxattr = fuseListxattr
    table.removexattr = fuseRemovexattr
    return table
  }
}
