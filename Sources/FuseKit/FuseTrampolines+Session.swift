internal import CFuse3
internal import Glibc

// C function pointers must be file-scope functions that capture nothing: what they need comes in the userdata.

/// fuse_lowlevel_ops.init: called while libfuse answers INIT.
func fuseInit(_ userdata: UnsafeMutableRawPointer?, _ connection: UnsafeMutablePointer<fuse_conn_info>?) {
  guard let connection else { return }
  let options = Dispatcher.from(userdata).options
  cfuse_want_defaults(connection, options.readdirPlus ? 1 : 0)
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
