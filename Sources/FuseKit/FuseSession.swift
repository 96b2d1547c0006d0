internal import CFuse3
internal import Glibc
internal import Synchronization
public import SystemPackage

/// One mounted volume: the connection to the kernel, the threads that serve it, and the ways to end both.
///
/// In this order: `init`, `mount(at:)`, `startLoop(threads:)`, `waitUntilReady(timeout:)`. To end, after all parked
/// replies have been answered: `unmountLazily()`, `beginExit()`, `joinLoop(timeout:)`, `closeDevice()`. Each step is
/// safe to repeat, and to call from any thread but the session's own.
///
/// A session that was mounted keeps its file system and libfuse's state in memory until the process ends, because
/// replies that are still parked refer to them.
public final class FuseSession: Sendable {
  let dispatcher: Dispatcher
  // SAFETY: See `LoopThreads.session`.
  private nonisolated(unsafe) let raw: OpaquePointer
  let loop: LoopThreads
  private let state = Mutex(State())

  private struct State {
    var device: Int32 = -1
    var channel: ReplyChannel?
    var mountpoint: [UInt8] = []
    var isClosed = false
  }

  /// Makes a session; nothing is mounted yet.
  ///
  /// - Parameters:
  ///   - operations: The file system.
  ///   - options: How to mount.
  ///   - onInterrupt: Called with the token of a request whose caller got a signal, under the rules of
  ///     `FuseReply.setInterruptToken(_:)`.
  ///   - onLoopEnd: Called once, on one of the session's threads, when the last of them is about to end: after
  ///     `beginExit()`, or because the volume was unmounted or its connection aborted by somebody else.
  ///   - onLog: Called with what libfuse has to say, on any thread. The default drops it.
  /// - Throws: `FuseMountError` with reason `library`.
  public init(
    operations: any FuseOperations, options: FuseSessionOptions,
    onInterrupt: @escaping @Sendable (UInt64) -> Void = { _ in },
    onLoopEnd: @escaping @Sendable () -> Void = {},
    onLog: @escaping @Sendable (FuseLogLevel, String) -> Void = { _, _ in }
  ) throws(FuseMountError) {
    FuseLog.install(onLog)
    let dispatcher = Dispatcher(operations: operations, options: options, onInterrupt: onInterrupt)
    let retained = Unmanaged.passRetained(dispatcher)
    guard let raw = Self.makeSession(userdata: retained.toOpaque(), readdirPlus: options.readdirPlus) else {
      retained.release()
      throw FuseMountError(.library, "libfuse did not make a session")
    }
    self.dispatcher = dispatcher
    self.raw = raw
    loop = LoopThreads(session: raw, dispatcher: dispatcher) {
      dispatcher.endWaitForReadiness()
      onLoopEnd()
    }
  }

  deinit {
    guard state.withLock({ $0.device < 0 && !$0.isClosed }) else { return }
    // Never mounted: nothing refers to the session.
    fuse_session_destroy(raw)
    Unmanaged.passUnretained(dispatcher).release()
  }

  private static func makeSession(userdata: UnsafeMutableRawPointer, readdirPlus: Bool) -> OpaquePointer? {
    var table = fuse_lowlevel_ops.trampolines(readdirPlus: readdirPlus)
    guard let name = strdup("fuse") else { return nil }
    defer { free(name) }
    // The mount options are not libfuse's business, see `Mounting`: it gets a program name and nothing else.
    var arguments: [UnsafeMutablePointer<CChar>?] = [name, nil]
    return arguments.withUnsafeMutableBufferPointer { words in
      var list = fuse_args(argc: 1, argv: words.baseAddress, allocated: 0)
      return cfuse_session_new(&list, &table, MemoryLayout<fuse_lowlevel_ops>.size, userdata)
    }
  }

  /// Mounts the volume. Requests wait in the kernel until the loop is started.
  ///
  /// - Parameter mountpoint: An absolute path of a directory.
  /// - Throws: `FuseMountError` saying what stands in the way and what to do.
  public func mount(at mountpoint: FilePath) throws(FuseMountError) {
    let path = mountpoint.withPlatformString { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    let device = try Mounting.mount(MountRequest(mountpoint: path, options: dispatcher.options))
    do {
      try attach(device: device)
    } catch {
      try? Mounting.unmountLazily(path)
      throw error
    }
    state.withLock { $0.mountpoint = path }
  }

  /// Connects the session to a device: /dev/fuse, or in tests a socket with the test at its other end.
  func attach(device: Int32) throws(FuseMountError) {
    do throws(Errno) {
      let channel = try ReplyChannel()
      guard fuse_session_mount(raw, "/dev/fd/\(channel.descriptor)") == 0 else {
        close(channel.descriptor)
        throw .badFileDescriptor
      }
      state.withLock { state in
        state.device = device
        state.channel = channel
      }
      loop.attach(device: device, channel: channel)
    } catch {
      close(device)
      throw FuseMountError(.library, errno: error, "libfuse did not accept the device")
    }
  }

  /// Half the number of processors, at least 2 and at most 8.
  ///
  /// Not more: the kernel wakes the thread that has waited longest, so that the requests of one caller go round all of
  /// them, each on a processor that must be woken first (12 us a request with four threads on two processors, 8 us with
  /// two). They never wait for long, so few suffice.
  public static var defaultThreadCount: Int { min(max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)) / 2), 8) }

  /// Starts to serve requests.
  ///
  /// - Parameter threads: How many take requests at a time; nil means `defaultThreadCount`.
  /// - Throws: The errno with which no thread could be made (EAGAIN).
  public func startLoop(threads: Int? = nil) throws(Errno) {
    let failure = loop.start(count: threads ?? Self.defaultThreadCount)
    if failure != 0 { throw Errno(rawValue: failure) }
  }

  /// Waits until the kernel and the session have agreed, which is when the volume answers.
  ///
  /// - Returns: What they agreed on; nil if the time is over, or the loop ended before.
  public func waitUntilReady(timeout: Duration) -> NegotiatedFeatures? {
    let deadline = ContinuousClock.now + timeout
    while true {
      let left = deadline - ContinuousClock.now
      let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
      var wait = pollfd(fd: dispatcher.readiness, events: Int16(POLLIN), revents: 0)
      let result = poll(&wait, 1, Int32(clamping: max(milliseconds, 0)))
      if result < 0, errno == EINTR { continue }
      return result > 0 ? dispatcher.features : nil
    }
  }

  /// What INIT agreed on; nil before it.
  public var features: NegotiatedFeatures? { dispatcher.features }

  /// The way to make the kernel forget what it has cached; see `KernelNotifier`. Valid after `mount(at:)`.
  public var notifier: KernelNotifier { KernelNotifier(device: device) }

  /// The descriptor of /dev/fuse, close-on-exec; -1 before `mount(at:)`. Its number stays taken after `closeDevice()`.
  public var device: Int32 { state.withLock { $0.device } }

  // MARK: Ending

  /// Takes the mount out of the name space at once: umount2(2) with MNT_DETACH, or `fusermount3 -u -z`. Callers inside
  /// stay and are served on until the device is closed. No error if it is unmounted already.
  public func unmountLazily() throws(FuseMountError) {
    let mountpoint = state.withLock { $0.mountpoint }
    guard !mountpoint.isEmpty else { return }
    try Mounting.unmountLazily(mountpoint)
  }

  /// Aborts the connection, for when the loop does not end: every waiting caller gets ECONNABORTED. Root only, and only
  /// before `unmountLazily()`, since a detached mount has no name. C: umount2(2) with MNT_FORCE.
  ///
  /// - Returns: nil, or the errno: EPERM for ordinary users.
  public func abort() -> Errno? {
    let mountpoint = state.withLock { $0.mountpoint }
    return mountpoint.isEmpty ? nil : Mounting.abort(mountpoint)
  }

  /// Makes the threads end as soon as they have handed on the request they are at. Requests not yet read stay in the
  /// kernel and are ended by `closeDevice()`. Returns at once.
  public func beginExit() {
    fuse_session_exit(raw)
    loop.wake()
  }

  /// Waits for the threads to end, after `beginExit()` or after an unmount from outside.
  ///
  /// - Returns: Whether they did in time. False: some `FuseOperations` method does not return.
  public func joinLoop(timeout: Duration) -> Bool {
    loop.join(timeout: timeout)
  }

  /// Closes the device: the kernel ends the connection, and every caller of an unanswered request gets ECONNABORTED.
  ///
  /// Answers that come later fail like any to a request that is gone. To that end the descriptor's number stays taken
  /// by something harmless: a file opened later must not receive them. While a thread of the loop still reads from the
  /// device it stays open in the kernel, so join first; then `FuseOperations.destroyed()` is called.
  public func closeDevice() {
    let (device, channel) = state.withLock { state -> (Int32, ReplyChannel?) in
      guard state.device >= 0, !state.isClosed else { return (-1, nil) }
      state.isClosed = true
      return (state.device, state.channel)
    }
    guard device >= 0, let channel else { return }
    // Read-only: a write to it fails with EBADF.
    let placeholder = open("/dev/null", O_RDONLY | O_CLOEXEC)
    if placeholder >= 0 {
      channel.shut(placeholder)
      _ = cfuse_replace_descriptor(placeholder, device)
      close(placeholder)
    } else {
      close(channel.descriptor)
      close(device)
    }
    dispatcher.operations.destroyed()
  }
}

extension FuseSession {
  /// Registers an open file as the backing of passthrough opens.
  ///
  /// - Parameter file: A regular file on a file system that is not stacked itself. The kernel keeps it open by itself;
  ///   its own descriptor may be closed.
  /// - Throws: EPERM without CAP_SYS_ADMIN; EOPNOTSUPP if passthrough was not agreed on or the file is not suitable;
  ///   ELOOP if its file system is stacked; ENOTTY before Linux 6.9.
  ///
  /// C: ioctl FUSE_DEV_IOC_BACKING_OPEN.
  public func registerBacking(_ file: FileDescriptor) throws(Errno) -> BackingID {
    let result = cfuse_backing_open(device, file.rawValue)
    if result < 0 { throw Errno(rawValue: -result) }
    return BackingID(rawValue: result)
  }

  /// Gives a backing up. Opens that name it keep it until they are released. C: ioctl FUSE_DEV_IOC_BACKING_CLOSE.
  ///
  /// - Throws: ENOENT if there is no such backing.
  public func unregisterBacking(_ backing: BackingID) throws(Errno) {
    let result = cfuse_backing_close(device, backing.rawValue)
    if result < 0 { throw Errno(rawValue: -result) }
  }
}
