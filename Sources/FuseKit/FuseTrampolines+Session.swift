internal import CFuse3
internal import Glibc

// C function pointers must be file-scope functions that capture nothing: what they need comes in the userdata.

/// fuse_lowlevel_ops.init: called while libfuse answers INIT.
func fuseInit(_ userdata: UnsafeMutableRawPointer?, _ connection: UnsafeMutablePointer<fuse_conn_info>?) {
  guard let connection else { return }
  let options = Dispatcher.from(userdata).options
  cfuse_want_defaults(connection, options.readdirPlus ? 1 : 0)
  cfuse_want_unmasked_modes(connection, options.readOnly ? 0 : 1)
  connection.pointee.max_background = UInt32(options.maxBackground)
  // Above this many the kernel calls the device congested, which only ever slows readahead down.
  connection.pointee.congestion_threshold = UInt32(options.maxBackground)
  connection.pointee.max_write = min(connection.pointee.max_write, max(options.maxWrite, 4096))
  connection.pointee.max_readahead = min(connection.pointee.max_readahead, options.maxReadahead)
  connection.pointee.time_gran = 1
}

/// fuse_interrupt_func_t: runs with the request's mutex held; see `FuseReply.setInterruptToken(_:)`.
func fuseInterrupted(_ request: fuse_req_t?, _ token: UnsafeMutableRawPointer?) {
  guard let request else { return }
  Dispatcher.of(request).onInterrupt(UInt64(UInt(bitPattern: token)))
}

// What every trampoline does with the arguments libfuse gives it.

extension RequestContext {
  @inline(__always)
  init(_ request: fuse_req_t) {
    guard let context = fuse_req_ctx(request)?.pointee else {
      self.init(threadID: 0, uid: 0, gid: 0)
      return
    }
    self.init(
      threadID: Int32(context.pid), uid: UInt32(context.uid), gid: UInt32(context.gid), umask: UInt32(context.umask))
  }
}

extension FuseName {
  /// Borrows a NUL-terminated string of libfuse.
  @inline(__always)
  init(_ string: UnsafePointer<CChar>?) {
    guard let string else {
      self.init(bytes: UnsafeBufferPointer(start: nil, count: 0))
      return
    }
    let bytes = UnsafeRawPointer(string).assumingMemoryBound(to: UInt8.self)
    self.init(bytes: UnsafeBufferPointer(start: bytes, count: strlen(string)))
  }
}

extension FuseHandle {
  @inline(__always)
  init(_ info: UnsafeMutablePointer<fuse_file_info>?) {
    self.init(rawValue: info?.pointee.fh ?? 0)
  }
}

extension FuseTime {
  init(_ time: timespec) {
    self.init(seconds: Int64(time.tv_sec), nanoseconds: UInt32(truncatingIfNeeded: time.tv_nsec))
  }
}

extension AttributeChanges {
  init(_ attributes: UnsafeMutablePointer<stat>, fields: Int32, info: UnsafeMutablePointer<fuse_file_info>?) {
    let values = attributes.pointee
    self.init(
      fields: Fields(rawValue: UInt32(bitPattern: fields)), mode: UInt32(values.st_mode), uid: UInt32(values.st_uid),
      gid: UInt32(values.st_gid), size: Int64(values.st_size), accessTime: FuseTime(values.st_atim),
      modificationTime: FuseTime(values.st_mtim), changeTime: FuseTime(values.st_ctim),
      handle: info.map { FuseHandle($0) })
  }
}
