internal import CFuse3
internal import Glibc
internal import SystemPackage

// Requests about files. Offsets come from the caller of pread(2) and the like by way of the kernel: they are checked
// here once, so that no arithmetic on them can trap.

func fuseOpen(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  let dispatcher = Dispatcher.of(request)
  dispatcher.operations.open(
    FuseNode(rawValue: UInt64(node)), flags: info?.pointee.flags ?? 0,
    context: RequestContext(request, dispatcher, clearingSetIDIf: cfuse_open_kill_suidgid),
    reply: OpenReply(PendingRequest(request)))
}

func fuseCreate(
  _ request: fuse_req_t?, _ parent: fuse_ino_t, _ name: UnsafePointer<CChar>?, _ mode: mode_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let dispatcher = Dispatcher.of(request)
  let context = RequestContext(request, dispatcher, clearingSetIDIf: cfuse_open_kill_suidgid)
  let reply = CreateReply(PendingRequest(request))
  let flags = info?.pointee.flags ?? 0
  guard !dispatcher.hiddenFields.isTemporary else {
    return dispatcher.operations.tmpfile(
      in: FuseNode(rawValue: UInt64(parent)), mode: UInt32(mode), flags: flags, context: context, reply: reply)
  }
  dispatcher.operations.create(
    FuseName(name), in: FuseNode(rawValue: UInt64(parent)), mode: UInt32(mode), flags: flags, context: context,
    reply: reply)
}

func fuseRead(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ size: Int, _ offset: off_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let reply = DataReply(PendingRequest(request), size: size)
  guard offset >= 0 else {
    reply.fail(.invalidArgument)
    return
  }
  let read = ReadRequest(
    handle: FuseHandle(info), offset: Int64(offset), size: size, openFlags: info?.pointee.flags ?? 0,
    lockOwner: info?.pointee.lock_owner ?? 0)
  Dispatcher.of(request).operations.read(
    FuseNode(rawValue: UInt64(node)), read, context: RequestContext(request), reply: reply)
}

func fuseWrite(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ bytes: UnsafePointer<CChar>?, _ size: Int, _ offset: off_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let dispatcher = Dispatcher.of(request)
  let reply = WriteReply(PendingRequest(request))
  guard offset >= 0, !Int64(offset).addingReportingOverflow(Int64(size)).overflow else {
    reply.fail(.fileTooLarge)
    return
  }
  let write = WriteRequest(
    handle: FuseHandle(info), offset: Int64(offset), bytes: UnsafeRawBufferPointer(start: bytes, count: size),
    openFlags: info?.pointee.flags ?? 0, lockOwner: info?.pointee.lock_owner ?? 0,
    isWriteback: info?.pointee.writepage == 1)
  dispatcher.operations.write(
    FuseNode(rawValue: UInt64(node)), write,
    context: RequestContext(request, dispatcher, clearingSetIDIf: cfuse_write_kill_suidgid), reply: reply)
}

func fuseFlush(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.flush(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), lockOwner: info?.pointee.lock_owner ?? 0,
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseRelease(_ request: fuse_req_t?, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?) {
  guard let request else { return }
  Dispatcher.of(request).operations.release(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), flags: info?.pointee.flags ?? 0,
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseFsync(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ dataOnly: Int32, _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  Dispatcher.of(request).operations.fsync(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), dataOnly: dataOnly != 0,
    context: RequestContext(request), reply: EmptyReply(PendingRequest(request)))
}

func fuseLseek(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ offset: off_t, _ whence: Int32,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let reply = SeekReply(PendingRequest(request))
  guard offset >= 0 else {
    reply.fail(.noSuchAddressOrDevice)
    return
  }
  let target: SeekTarget
  switch whence {
  case 3: target = .data
  case 4: target = .hole
  default:
    reply.fail(.invalidArgument)
    return
  }
  Dispatcher.of(request).operations.lseek(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), offset: Int64(offset), target: target,
    context: RequestContext(request), reply: reply)
}

func fuseCopyFileRange(
  _ request: fuse_req_t?, _ source: fuse_ino_t, _ sourceOffset: off_t,
  _ sourceInfo: UnsafeMutablePointer<fuse_file_info>?, _ destination: fuse_ino_t, _ destinationOffset: off_t,
  _ destinationInfo: UnsafeMutablePointer<fuse_file_info>?, _ length: Int, _ flags: Int32
) {
  guard let request else { return }
  let reply = WriteReply(PendingRequest(request))
  guard sourceOffset >= 0, destinationOffset >= 0, length >= 0 else {
    reply.fail(.invalidArgument)
    return
  }
  let copy = CopyRequest(
    source: FuseNode(rawValue: UInt64(source)), sourceHandle: FuseHandle(sourceInfo),
    sourceOffset: Int64(sourceOffset), destination: FuseNode(rawValue: UInt64(destination)),
    destinationHandle: FuseHandle(destinationInfo), destinationOffset: Int64(destinationOffset), length: length,
    flags: flags)
  Dispatcher.of(request).operations.copyFileRange(copy, context: RequestContext(request), reply: reply)
}

func fuseFallocate(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ mode: Int32, _ offset: off_t, _ length: off_t,
  _ info: UnsafeMutablePointer<fuse_file_info>?
) {
  guard let request else { return }
  let reply = EmptyReply(PendingRequest(request))
  guard offset >= 0, length > 0, !Int64(offset).addingReportingOverflow(Int64(length)).overflow else {
    reply.fail(.fileTooLarge)
    return
  }
  Dispatcher.of(request).operations.fallocate(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), mode: mode, offset: Int64(offset),
    length: Int64(length), context: RequestContext(request), reply: reply)
}

func fuseIoctl(
  _ request: fuse_req_t?, _ node: fuse_ino_t, _ command: UInt32, _ argument: UnsafeMutableRawPointer?,
  _ info: UnsafeMutablePointer<fuse_file_info>?, _ flags: UInt32, _ input: UnsafeRawPointer?, _ inputSize: Int,
  _ outputSize: Int
) {
  guard let request else { return }
  Dispatcher.of(request).operations.ioctl(
    FuseNode(rawValue: UInt64(node)), handle: FuseHandle(info), command: command,
    input: UnsafeRawBufferPointer(start: input, count: input == nil ? 0 : inputSize), outputSize: outputSize,
    context: RequestContext(request), reply: IoctlReply(PendingRequest(request)))
}
