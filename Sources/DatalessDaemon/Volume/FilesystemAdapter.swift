import DatalessCore
import FuseKit
import Synchronization
import SystemPackage

/// Carries the kernel's requests to the engine and its answers back. No decisions: what is dataless, who waits and what
/// happens next is the engine's.
///
/// Runs on the session's request threads, which never wait: an answer that is not there yet is parked in a box, and
/// whoever completes the wait takes it out. Of a volume that is mounted read-only changes never arrive: the kernel
/// answers EROFS itself.
final class FilesystemAdapter: FuseOperations {
  let engine: Engine
  let processes: ProcessTable
  let backings = BackingRegistry()
  let accessLane: AccessLane
  /// Where changes of content wait for a content store that is not prompt.
  let contentLane: any BlockingLane
  /// Bytes of WRITEs that wait.
  let keptWrites: KeptWrites
  let isWritable: Bool
  let capacity: CapacityReader
  private let statistics: @Sendable () -> FuseKit.FileSystemStatistics
  private let nextWaiter = Atomic<UInt64>(1)
  private let features = Mutex<NegotiatedFeatures?>(nil)
  private let onInitialized = Mutex<(@Sendable () -> Void)?>(nil)
  /// Opens of dataless files are direct_io: one request per read(2), with its range and its errno. Not where the kernel
  /// cannot map such opens shared (before 6.6).
  private let canOpenDirectly = Atomic<Bool>(true)
  /// Absent names may be remembered by the kernel only if an eviction can make it forget them (see
  /// `SessionKernelCache`).
  private let cachesAbsence = Atomic<Bool>(false)

  private let kernel: SessionKernelCache
  private let mayReadDirectly: Bool
  private let mountpoint: [UInt8]

  /// - Parameters:
  ///   - mayReadDirectly: False to open dataless files through the page cache in any case.
  ///   - mountpoint: Where callers see the volume.
  init(
    engine: Engine, processes: ProcessTable, statistics: @escaping @Sendable () -> FuseKit.FileSystemStatistics,
    capacity: CapacityReader,
    kernel: SessionKernelCache, accessLane: AccessLane, contentLane: any BlockingLane, keptWrites: KeptWrites,
    mayReadDirectly: Bool, mountpoint: [UInt8]
  ) {
    self.engine = engine
    self.accessLane = accessLane
    self.contentLane = contentLane
    self.keptWrites = keptWrites
    isWritable = engine.writing != .readOnly
    self.processes = processes
    self.statistics = statistics
    self.capacity = capacity
    self.kernel = kernel
    self.mayReadDirectly = mayReadDirectly
    self.mountpoint = mountpoint
  }

  func initialized(_ features: NegotiatedFeatures) {
    canOpenDirectly.store(features.directIOMapping && mayReadDirectly, ordering: .releasing)
    cachesAbsence.store(kernel.canForgetAbsence(features), ordering: .releasing)
    self.features.withLock { $0 = features }
    if !features.passthrough { engine.withdrawPassthrough() }
    onInitialized.withLock { $0 }?()
  }

  /// Has `action` called before the kernel gets the answer to INIT, hence before any other request. Set before the loop
  /// starts.
  func whenInitialized(_ action: @escaping @Sendable () -> Void) {
    onInitialized.withLock { $0 = action }
  }

  /// What was negotiated; nil before INIT.
  var negotiated: NegotiatedFeatures? { features.withLock { $0 } }

  var cachesAbsentNames: Bool { cachesAbsence.load(ordering: .acquiring) }

  var opensDirectly: Bool { canOpenDirectly.load(ordering: .acquiring) }

  func makeWaiter() -> WaiterID { WaiterID(rawValue: nextWaiter.wrappingAdd(1, ordering: .relaxed).oldValue) }

  /// A waiter for a parked reply, which is interrupted by it from now on. To be given to the engine at once.
  func makeWaiter<Reply: FuseReply & ~Copyable>(for box: ParkedReply<Reply>) -> WaiterID {
    let waiter = makeWaiter()
    engine.expect(waiter)
    box.setInterruptToken(waiter.rawValue)
    return waiter
  }

  func identify(_ context: RequestContext) -> Caller {
    processes.caller(threadID: context.threadID, uid: context.uid, gid: context.gid)
  }

  /// As `identify`, with the name of the caller's thread: of a call that may have to wait.
  func identifyWaiter(_ context: RequestContext) -> Caller { withThreadName(identify(context)) }

  /// As `identifyWaiter`, with what the caller has set about materializing: asked only where that matters.
  func identifyTrigger(_ context: RequestContext) -> Caller { withPolicy(identifyWaiter(context)) }

  func withThreadName(_ caller: Caller) -> Caller {
    var caller = caller
    caller.threadName = processes.threadName(of: caller)
    return caller
  }

  func withPolicy(_ caller: Caller) -> Caller {
    var caller = caller
    caller.policy = PolicyProbe.policy(threadID: caller.threadID)
    return caller
  }

  /// By which of its names the caller has a file open, from the volume's root. Asked only where a file has several: it
  /// takes two looks into /proc.
  func openName(of node: FuseNode, _ threadID: Int32) -> [UInt8]? {
    guard engine.hasSeveralNames(NodeID(node)), let path = BlockedCall.openPath(threadID: threadID),
      path.count > mountpoint.count + 1, path.starts(with: mountpoint), path[mountpoint.count] == UInt8(ascii: "/")
    else { return nil }
    return Array(path[(mountpoint.count + 1)...])
  }

  /// Parks a reply until a node is materialized. Then, or at once if it is already, `answer` answers it; or gives it
  /// back, because the node was evicted in between: then the caller waits once more.
  ///
  /// - Parameters:
  ///   - mayFetch: Whether this is a request thread, which may do a short fetch itself.
  ///   - isChange: Whether the request changes something, whatever its trigger is.
  ///   - limit: How long it waits at most, of a directory, as `Engine.listBriefly`; nil: as long as it takes.
  ///   - answer: Called on the completing lane, or here.
  func park<Reply: FuseReply & ~Copyable>(
    _ node: FuseNode, request: TriggerRequest, reply: consuming Reply, mayFetch: Bool, isChange: Bool = false,
    limit: Nanoseconds? = nil, answer: @escaping @Sendable (consuming Reply) -> Reply?
  ) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    let complete: @Sendable (FSError?) -> Void = { [self] error in
      if let error {
        box.fail(
          isChange ? Self.answerableChange(error.errno) : Self.answerable(error.errno, request.trigger))
      } else if let reply = box.take(), let unanswered = answer(reply) {
        park(
          node, request: request, reply: unanswered, mayFetch: false, isChange: isChange, limit: limit, answer: answer)
      }
    }
    let completion: @Sendable (WaitResult) -> Void = { result in
      switch result {
      case .ready: complete(nil)
      case .failed(let error): complete(error)
      }
    }
    let admission =
      if let limit {
        engine.listBriefly(
          NodeID(node), request, waiter: waiter, background: makeWaiter(), limit: limit, mayFetch: mayFetch,
          completion: completion)
      } else {
        engine.materialize(NodeID(node), request, waiter: waiter, mayFetch: mayFetch, completion: completion)
      }
    switch admission {
    case .parked: break
    case .ready: complete(nil)
    case .failed(let error): complete(error)
    }
  }

  /// ENOSYS to one of these requests is no errno: the kernel never sends the request again while the volume is mounted,
  /// and lets an open succeed. A tester who stages it means that the call is not supported.
  static func answerable(_ errno: Errno, _ trigger: Trigger) -> Errno {
    guard errno == .noFunction else { return errno }
    switch trigger {
    case .open, .openTruncate, .xattr, .seek: return .notSupportedOnSocket
    default: return errno
    }
  }

  // MARK: - Names

  func lookup(_ name: FuseName, in parent: FuseNode, context: RequestContext, reply: consuming EntryReply) {
    if engine.delaysAccess(.lookup) {
      return lookUpDelayed(name.copy(), in: parent, context: context, reply: reply)
    }
    guard let reply = answer(reply, engine.lookup(name.bytes, in: NodeID(parent))) else { return }
    let bytes = name.copy()
    let request = TriggerRequest(trigger: .lookup, caller: identifyTrigger(context), name: bytes)
    park(parent, request: request, reply: reply, mayFetch: true) { [self] reply in
      answer(reply, bytes.withUnsafeBufferPointer { engine.lookup($0, in: NodeID(parent)) })
    }
  }

  /// - Returns: The reply, if the directory has to be listed first.
  func answer(_ reply: consuming EntryReply, _ found: NameLookup) -> EntryReply? {
    switch found {
    case .found(let item):
      if !reply.entry(FuseEntry(item, delaying: engine.delayedOperations)) {
        engine.forget(CollectionOfOne((node: item.node, count: 1)))
      }
    case .absent:
      if cachesAbsence.load(ordering: .relaxed), kernel.mayKeepAbsence {
        reply.absent(timeout: .forever)
      } else {
        reply.fail(.noSuchFileOrDirectory)
      }
    case .needsListing: return reply
    case .failed(let errno): reply.fail(errno)
    }
    return nil
  }

  func forget(_ nodes: UnsafeBufferPointer<ForgottenNode>) {
    engine.forget(nodes.lazy.map { (node: NodeID($0.node), count: $0.lookups) })
  }

  func getattr(_ node: FuseNode, handle: FuseHandle?, context: RequestContext, reply: consuming AttributesReply) {
    if engine.delaysAccess(.getattr) { return getAttributesDelayed(node, context: context, reply: reply) }
    answer(reply, ofAttributes: node)
  }

  func answer(_ reply: consuming AttributesReply, ofAttributes node: FuseNode) {
    guard let item = engine.attributes(of: NodeID(node)) else {
      reply.fail(.staleNFSFileHandle)
      return
    }
    reply.attributes(
      FuseAttributes(item.attributes), timeout: item.attributeTimeout(delaying: engine.delayedOperations))
  }

  func statfs(_ node: FuseNode, context: RequestContext, reply: consuming StatisticsReply) {
    // A read-only volume shows what it was told at the mount; a writable one asks its cache's disk.
    guard !isWritable || engine.writesPromptly else {
      return onContentLane(reply) { [self] reply in reply.statistics(room()) }
    }
    reply.statistics(room())
  }

  private func room() -> FuseKit.FileSystemStatistics {
    isWritable ? statistics().limited(by: engine.roomStatus) : statistics()
  }

  // MARK: - What the store is asked for

  func readlink(_ node: FuseNode, context: RequestContext, reply: consuming LinkReply) {
    let box = ParkedReply(reply)
    let waiter = makeWaiter(for: box)
    engine.readLink(NodeID(node), threadID: context.threadID, waiter: waiter) { result in
      guard let reply = box.take() else { return }
      switch result {
      case .success(let target): reply.target(target)
      case .failure(let error): reply.fail(error.errno)
      }
    }
  }
}
