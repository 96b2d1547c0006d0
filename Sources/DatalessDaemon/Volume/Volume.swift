import DatalessControl
import DatalessCore
import DatalessScenario
import DatalessState
import DatalessStores
import FuseKit
import Glibc
import Synchronization
import SystemPackage

/// One volume: the composition of engine, kernel session, lanes, log and control server, and its beginning and end.
final class Volume: VolumeRunning {
  let configuration: VolumeConfiguration
  let timer = ThreadTimerLane()
  let log: EventLog
  let stacks: StackLane
  let watchdog: Watchdog
  let processes: ProcessTable
  let store: VolumeStore
  let content: DiskContentStore
  /// Where the volume is kept; nil if it is not.
  let state: StateVolume?
  let engine: Engine
  let scenario: LiveScenario
  let adapter: FilesystemAdapter
  let session: FuseSession
  let startedAt: MonotonicTime
  let startedText: String
  let kernel: SessionKernelCache
  let mounts: MountsBelow
  let capacity: CapacityReader
  let uses: UseMarks
  let coordination = CoordinationServer()
  let isResetting = Atomic<Bool>(false)
  private let control = ControlLane()
  private let cacheDirectory: SessionDirectory
  private let serving = Mutex<Serving?>(nil)
  /// Why the volume ends; nil while it serves.
  let ending = Monitor<String?>(nil)

  private struct Serving {
    var directory: VolumeDirectory
    var server: ControlServer
  }

  /// Opens everything but the mount: SOURCE, cache and log. Blocks on SOURCE; the launcher watches the time.
  ///
  /// - Throws: `FSError` or `LifecycleError`, ready to be shown.
  init(configuration: VolumeConfiguration) throws {
    self.configuration = configuration
    var document = try Self.document(configuration)
    // Before the log, which may lie in it.
    let stateDirectory = try KeptState.take(configuration)
    log = try Self.openLog(configuration)
    cacheDirectory = try SessionDirectory(
      cache: VolumeStore.filePath(configuration.cacheDirectory), session: configuration.session)
    // After our own directories are there: where they lie in SOURCE, they are left out by what they are, not by name.
    store = try VolumeStore(configuration)
    let isWritable = configuration.writing != .readOnly
    state = try stateDirectory.map { [store, timer] in
      try KeptState.open($0, configuration, root: store.root, timer: timer)
    }
    if let state { document = try KeptState.scenario(document, state) }
    content =
      try state?.content
      ?? DiskContentStore(in: cacheDirectory.descriptor, path: cacheDirectory.path, lifetime: .session)
    let statistics = try SpaceReport.make(store, isWritable ? content : nil)
    processes = ProcessTable(capture: CaptureLane(), sink: log, policy: configuration.argumentPolicy)
    mounts = MountsBelow(mountpoint: configuration.mountpoint)
    kernel = SessionKernelCache(
      lane: NotifierLane(), usesEpoch: !configuration.without.contains(.nameEpoch), mounts: mounts)
    let start = Self.engineConfiguration(configuration, simulation: document.simulation, state: state)
    let share = RequestThreadShare(limit: FuseSession.defaultThreadCount / 2)
    stacks = StackLane(policy: start.simulation.stacks, byRules: start.simulation.rules.wantsStacks, log: log)
    watchdog = Watchdog(
      policy: start.simulation.watchdog, stacks: stacks, log: log, timer: timer, processes: processes,
      authority: AbortAuthority(
        root: configuration.run.map { .init(pid: $0.rootPid, startTicks: ProcessTable.startTicks(of: $0.rootPid)) }))
    let blocking = ThreadBlockingLane(timer: timer, share: share)
    let engine = Engine(
      configuration: start, store: store.store, content: content, timer: timer, blocking: blocking,
      metadata: ThreadBlockingLane(timer: timer, name: "dl-meta", share: share),
      trash: ThreadBlockingLane(timer: timer, name: "dl-trash", threads: 1, limit: 1),
      kernel: kernel, events: coordination.watch(watchdog), signals: ProcSignalProbe(), processes: processes,
      holders: FileHolders(processes: processes, mountpoint: configuration.mountpoint), presenters: coordination)
    self.engine = engine
    try engine.restoreRoot()
    uses = UseMarks(mount: engine.lastUse)
    capacity = CapacityReader(engine: engine, timer: timer, space: try SpaceReport.make(store, content))
    scenario = LiveScenario(document, configuration, engine: engine, log: log, stacks: stacks, watchdog: watchdog)
    adapter = FilesystemAdapter(
      engine: engine, processes: processes, statistics: statistics, capacity: capacity, kernel: kernel,
      accessLane: AccessLane(timer: timer), contentLane: blocking,
      keptWrites: KeptWrites(directory: cacheDirectory.descriptor, lane: blocking),
      mayReadDirectly: !configuration.without.contains(.directMapping), mountpoint: configuration.mountpoint)
    startedAt = timer.now
    startedText = Self.wallClock()
    let (timer, ending) = (timer, ending)
    session = try FuseSession(
      operations: adapter, options: Self.sessionOptions(configuration, passthrough: start.passthrough),
      onInterrupt: { token in
        timer.schedule(at: timer.now) { engine.interrupt(WaiterID(rawValue: token)) }
      },
      onLoopEnd: { Self.end(ending, Self.endedOutside) })
    if let run = configuration.run {
      processes.setBudgetRoot(pid: run.rootPid, startTicks: ProcessTable.startTicks(of: run.rootPid))
    }
  }

  // MARK: - Beginning

  func start() throws {
    do {
      try session.mount(at: VolumeStore.filePath(configuration.mountpoint))
    } catch {
      abandon()
      throw LifecycleError(error.description)
    }
    // Before the kernel has the answer to INIT: it sends requests at once, and what ends then is told to it. And the
    // first record of the log comes before any process can be seen.
    adapter.whenInitialized { [weak self] in self?.attach() }
    do {
      try session.startLoop()
      guard session.waitUntilReady(timeout: .seconds(10)) != nil else {
        throw LifecycleError("cannot mount: the kernel did not answer within 10 s. See dmesg.", exitCode: 4)
      }
      try serve()
    } catch {
      endSession()
      log.recordUnmounted(reason: "start_failed", counters: counters())
      abandon()
      throw error
    }
    engine.schedulePoll()
    engine.visitSaved()
    flushRegularly()
    keepUsesRegularly()
    removeLeftovers()
    if let run = configuration.run {
      let (words, isWithheld) = configuration.argumentPolicy.words(of: run.command)
      log.recordRunStarted(command: words, isWithheld: isWithheld, pid: run.rootPid)
    }
  }

  private func attach() {
    if let features = adapter.negotiated { kernel.attach(session.notifier, features) }
    adapter.backings.attach(session)
    recordMounted()
  }

  private func recordMounted() {
    log.recordMounted(
      VolumeMounted(
        source: configuration.sourceBytes, mountpoint: configuration.mountpoint, options: LogValue(options),
        pid: ownPID, kernel: MachineExamination.kernelRelease, libfuse: libfuseVersion, fastPaths: LogValue(fastPaths),
        readOnly: configuration.writing == .readOnly, tellsTogether: configuration.writing != .readOnly))
  }

  /// Opens the control socket in the directory that is named for the mount's device.
  private func serve() throws {
    // Its record, by which others know a volume of another subtype, is not there yet.
    let type = MountEntry.type(subtype: configuration.subtype)
    let covering = try MountTable.current().mount(containing: configuration.mountpoint)
    guard let mount = covering, mount.mountPoint == configuration.mountpoint, mount.fileSystemType == type else {
      throw LifecycleError("the mount of \(ErrorText.quoted(configuration.mountpoint)) is not in the mount table.")
    }
    let directory = try VolumeDirectory.claim(runtime: configuration.runtimeDirectory, device: mount.device)
    let server = ControlServer(backend: VolumeBackend(volume: self), socketPath: directory.socketPath, lane: control)
    let failure = Monitor<(any Error)??>(nil)
    Task(executorPreference: control) {
      do {
        try await server.start()
        failure.set(.some(nil))
      } catch {
        failure.set(.some(error))
      }
    }
    // The main thread may wait: it belongs to no lane.
    let started = failure.wait { $0.map { .done($0) } ?? .wait(until: nil) }
    if let started { throw LifecycleError("cannot open the control socket '\(directory.socketPath)': \(started).") }
    serving.withLock { $0 = Serving(directory: directory, server: server) }
    try coordinate(at: directory.coordinationPath)
    try directory.write(
      SessionRecord(
        pid: ownPID, session: configuration.session, mountpoint: configuration.mountpoint,
        source: configuration.sourceBytes, log: configuration.log, cache: configuration.sessionCache,
        started: startedText, subtype: configuration.subtype))
  }

  /// Gives back what was opened before a failed start.
  private func abandon() {
    _ = log.close(timeout: .milliseconds(100))
    try? cacheDirectory.removeAll()
  }

  /// Where the control API is reached, for others; nil before it is.
  var socketPath: String? { serving.withLock { $0.map { "\($0.directory.path)/\(SessionPaths.socketName)" } } }

  // MARK: - End

  /// The loop ended by itself: an unmount from outside, or the connection was aborted.
  private static let endedOutside = "unmounted"

  func requestEnd(reason: String) { Self.end(ending, reason) }

  private static func end(_ ending: Monitor<String?>, _ reason: String) {
    ending.update { if $0 == nil { $0 = reason } }
  }

  func runUntilEnded() -> Int32 {
    let reason = ending.wait { reason in reason.map { .done($0) } ?? .wait(until: nil) }
    // Whoever still waited when the connection ended has had ECONNABORTED from the kernel; the log says the same.
    let error =
      reason == Self.endedOutside
      ? FSError(.connectionAbort, VolumeEndMessage.aborted.rawValue)
      : FSError(.timedOut, VolumeEndMessage.unmounting.rawValue)
    coordination.stop(within: .milliseconds(200))
    engine.end(error)
    endSession()
    engine.end(error)
    // No RELEASE comes any more for what is open.
    engine.recordOpenHandles(isFinal: true)
    let failure = closeState()
    stacks.end(within: .seconds(2))
    log.recordUnmounted(reason: reason, counters: counters())
    _ = log.close(timeout: .seconds(1))
    if let serving = serving.withLock({ $0.take() }) {
      boundedAsync(milliseconds: 200) { await serving.server.stop() }
      serving.directory.remove()
    }
    removeContent()
    return failure == nil ? 0 : 1
  }

  /// Ends the kernel's side in bounded steps (docs/ARCHITECTURE.md, R13). Every parked reply is answered already, and
  /// the loop serves on until the mount is out of the name space, so that readers that ask once more are answered too.
  /// A loop that does not end is left behind: the process ends anyway, and with it the device.
  private func endSession() {
    let session = session
    if geteuid() == 0 {
      try? session.unmountLazily()
    } else {
      // Runs fusermount3.
      bounded(milliseconds: 500) { try? session.unmountLazily() }
    }
    session.beginExit()
    _ = session.joinLoop(timeout: .milliseconds(300))
    session.closeDevice()
  }

  /// Deletes the content, but waits for it only a moment: a large tree is renamed away at once, and what is left of it
  /// when the process ends is removed by the next command.
  private func removeContent() {
    let directory = cacheDirectory
    bounded(milliseconds: 400) { try? directory.removeAll() }
  }

  /// Runs work that may block on a thread of its own, waiting for it for a limited time.
  private func bounded(milliseconds: Int64, _ work: @escaping @Sendable () -> Void) {
    let done = Monitor<Bool>(false)
    DetachedThread.start {
      work()
      done.set(true)
    }
    wait(done, milliseconds)
  }

  private func wait(_ done: Monitor<Bool>, _ milliseconds: Int64) {
    let deadline = MonotonicTime.current + .milliseconds(milliseconds)
    _ = done.wait { $0 || MonotonicTime.current >= deadline ? .done($0) : .wait(until: deadline) }
  }

  /// Runs async work from the main thread, waiting for a limited time.
  private func boundedAsync(milliseconds: Int64, _ body: @escaping @Sendable () async -> Void) {
    let done = Monitor<Bool>(false)
    Task(executorPreference: control) {
      await body()
      done.set(true)
    }
    wait(done, milliseconds)
  }
}
