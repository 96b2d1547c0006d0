internal import CFuse3
internal import Glibc
internal import Synchronization
internal import SystemPackage

/// What libfuse hands back to every callback of a session: the file system, and the session's own state.
///
/// Retained once when the session is created and never released after a mount, because libfuse's requests, which may
/// outlive everything else in a parked reply, point to it.
final class Dispatcher: Sendable {
  let operations: any FuseOperations
  let options: FuseSessionOptions
  let counters = SessionCounters()
  let onInterrupt: @Sendable (UInt64) -> Void
  let negotiation: Mutex<InitNegotiation>
  /// False until the INIT reply has been sent: spares every later request the negotiation's lock.
  let isInitialized = Atomic<Bool>(false)
  /// Readable once INIT is done or the loop has ended: an eventfd, so that waiting for it has a time limit.
  let readiness: Int32

  init(
    operations: any FuseOperations, options: FuseSessionOptions, onInterrupt: @escaping @Sendable (UInt64) -> Void
  ) {
    self.operations = operations
    self.options = options
    self.onInterrupt = onInterrupt
    negotiation = Mutex(InitNegotiation(wishes: .init(passthrough: options.passthrough)))
    readiness = cfuse_event()
  }

  deinit {
    if readiness >= 0 { close(readiness) }
  }

  @inline(__always)
  static func of(_ request: fuse_req_t) -> Dispatcher {
    from(fuse_req_userdata(request))
  }

  @inline(__always)
  static func from(_ userdata: UnsafeMutableRawPointer?) -> Dispatcher {
    guard let userdata else { preconditionFailure("libfuse lost the userdata of a session") }
    // SAFETY: The pointer is the one `FuseSession.init` retained, and outlives every request.
    return Unmanaged<Dispatcher>.fromOpaque(userdata).takeUnretainedValue()
  }

  /// Those of the request that the calling thread serves.
  var hiddenFields: HiddenFields { options.readOnly ? .none : .kept }

  var features: NegotiatedFeatures? { negotiation.withLock { $0.features } }

  /// Wakes those who wait for the volume to answer, or to fail at it.
  func endWaitForReadiness() {
    var one: UInt64 = 1
    _ = write(readiness, &one, 8)
  }

  /// Reads one request from the kernel.
  ///
  /// - Returns: Its size; -EINTR, -EAGAIN or -ENOENT (the request was aborted): read again; -ENODEV: the end of the
  ///   session.
  func receive(from device: Int32, into buffer: UnsafeMutableRawPointer, capacity: Int) -> Int {
    let count = read(device, buffer, capacity)
    if count >= MemoryLayout<fuse_in_header>.size {
      let bytes = UnsafeRawBufferPointer(start: buffer, count: count)
      counters.addRequest(opcode: bytes.load(fromByteOffset: 4, as: UInt32.self))
      if !options.readOnly {
        HiddenFields(takenFrom: UnsafeMutableRawBufferPointer(start: buffer, count: count)).keep()
      }
      if !isInitialized.load(ordering: .relaxed) {
        negotiation.withLock { $0.received(request: bytes) }
      }
      return count
    }
    let code = count < 0 ? errno : ENODEV
    switch code {
    case EINTR, EAGAIN, ENOENT, ENODEV: return -Int(code)
    default:
      if code != ECONNABORTED {
        FuseLog.emit(.error, "cannot read from /dev/fuse: \(Errno(rawValue: code))")
      }
      return -Int(ENODEV)
    }
  }

  /// Gives the kernel what libfuse has answered before the session was initialized: its reply to INIT, completed.
  @inline(__always)
  func passOnInit(_ channel: ReplyChannel, to device: Int32) {
    if !isInitialized.load(ordering: .acquiring) { passOn(channel, to: device) }
  }

  private func passOn(_ channel: ReplyChannel, to device: Int32) {
    channel.drain { message in
      let headerSize = min(MemoryLayout<fuse_out_header>.size, message.count)
      let isInit = negotiation.withLock { negotiation in
        negotiation.edit(
          header: UnsafeRawBufferPointer(rebasing: message[..<headerSize]),
          body: UnsafeMutableRawBufferPointer(rebasing: message[headerSize...]))
      }
      if isInit, let features {
        // Before the reply: the kernel sends nothing else until it has it, and then at once, to all threads.
        operations.initialized(features)
        channel.open(to: device)
      }
      guard write(device, message.baseAddress, message.count) >= 0 else { return noteReply(-errno) }
      if isInit {
        isInitialized.store(true, ordering: .releasing)
        endWaitForReadiness()
      }
    }
  }

  /// Counts an answer that the kernel did not take. - Parameter result: 0 or -errno, as libfuse's reply functions say
  /// it.
  func noteReply(_ result: Int32) {
    switch -result {
    case 0: break
    case ENOENT, ENODEV, ECONNABORTED, EBADF, EPIPE: counters.add(.refusedReplies)
    default:
      counters.add(.failedWrites)
      FuseLog.emit(.error, "cannot write to /dev/fuse: \(Errno(rawValue: -result))")
    }
  }
}
