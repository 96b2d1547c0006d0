public import DatalessControl
public import DatalessCore

/// What the control server asks of a volume. Implemented over the engine; a test implements it by hand.
///
/// The methods run on Swift's cooperative pool: they may await, and never block a thread. An `FSError` becomes an
/// answer with its errno; a `ControlFailure` one with any status. When a client goes away, the task that runs its
/// request is cancelled; the long ones return what they have done until then.
public protocol ControlBackend: Sendable {
  func status() async throws -> VolumeStatus

  /// One page of a listing, from the namespace alone: nothing is materialized, listed or counted as a request.
  ///
  /// The first page starts with the item at `query.path` itself. If that is a listed directory, its children follow,
  /// and with `query.recursive` what is below them. A dataless directory is one item. - Throws: ENOENT, ENOTDIR;
  /// EINVAL for a cursor that is not one of ours.
  func items(_ query: ItemQuery) async throws -> ItemPage

  /// Materializes paths (relative, bytes), directories with all that is below them, and says how far it is from time to
  /// time. A failure of one item goes into the result and does not stop the others.
  func materialize(
    _ paths: [[UInt8]], progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult

  /// Evicts paths, directories with all that is below them. What is refused goes into the result and does not stop the
  /// others, unless `stops` says so.
  func evict(
    _ paths: [[UInt8]], stops: Bool, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult

  /// Gives items a content policy, and begins to fetch what it wants to be here. Directories on the way to a path are
  /// listed. What fails goes into the result; `files` and `directories` count the items.
  func pin(_ paths: [[UInt8]], policy: ContentPolicy) async throws -> TransferResult

  /// Ends that items are pinned. As `pin`.
  func unpin(_ paths: [[UInt8]]) async throws -> TransferResult

  /// Evicts what was used least recently, until so many bytes have gone or nothing can go any more.
  func press(
    _ bytes: Int64, progress: @escaping @Sendable (TransferProgress) async throws -> Void
  ) async throws -> TransferResult

  /// How much room there is.
  func capacity() async throws -> CapacityAnswer

  /// Adds up what is stored below a path. Lists and fetches nothing.
  ///
  /// - Parameter mark: What was not opened since counts as untouched; nil: since the mount.
  /// - Throws: ENOENT (no such path, or mark).
  func inventory(
    _ path: [UInt8], since mark: String?, progress: @escaping @Sendable (InventoryProgress) async throws -> Void
  ) async throws -> InventoryReport

  /// Removes paths, directories with all that is below them, as `rm -rf` of the peer would: all of it, or nothing.
  /// Returns when the names are gone. - Throws: The first thing that rm could not remove: ENOENT, ENOTDIR, EACCES,
  /// EPERM, EBUSY, EROFS.
  func remove(_ paths: [[UInt8]], by peer: ControlPeer) async throws -> RemoveAnswer

  /// Lists known directories again: those that hold the paths, and what is listed below them. What cannot be listed
  /// goes into the result and does not stop the others. - Throws: ETIMEDOUT when the store is offline, EINTR.
  func refresh(
    _ paths: [[UInt8]], by: ChangeOrigin, progress: @escaping @Sendable (RefreshProgress) async throws -> Void
  ) async throws -> RefreshResult

  /// What was changed on the volume and in SOURCE, at paths and below them; and, with a choice, resolves that first.
  /// What cannot be resolved goes into the answer. - Throws: ENOSPC, EDQUOT, EIO: it cannot be kept.
  func conflicts(_ paths: [[UInt8]], keep: ConflictChoice?) async throws -> ConflictAnswer

  /// Makes the volume as if it were freshly mounted. - Throws: EBUSY, with the names of what stands in the way: then
  /// scenario, gates and counters are as they were. EOPNOTSUPP: a kept volume, or one of `dataless run`.
  func reset(by: ChangeOrigin) async throws -> ResetAnswer

  /// Writes a `mark` record.
  func mark(_ label: String) async throws -> SequenceAnswer

  /// Writes a `volume.counters` record and returns when it, and all before it, is in the file.
  func flushLog() async throws -> FlushAnswer

  /// Lines of the event log from now on, without their newlines. The stream's buffer is bounded; it ends after
  /// `volume.unmounted`, or when a reader is too slow to keep up.
  func events() async throws -> AsyncStream<[UInt8]>

  /// The stacks of everybody who waits right now, or of one process.
  func stacks(pid: Int32?) async throws -> StackList

  /// Who coordinates accesses now, and who waits for whom.
  func coordination() async throws -> CoordinationStatus

  func gates() async throws -> GateList

  /// Lets held attempts go on, or fail. - Throws: ENOENT: no such gate; ESRCH: it holds nothing of the kind.
  func releaseGate(_ release: GateReleaseOrder, by: ChangeOrigin) async throws -> GateAnswer

  /// Opens a gate, or closes it again. - Throws: ENOENT.
  func setGate(_ name: String, isOpen: Bool, by: ChangeOrigin) async throws -> GateAnswer

  /// Answers when so many callers are blocked at a gate, or the time is over. - Throws: ENOENT, also when the gate goes
  /// away.
  func waitForGate(_ name: String, callers: Int, timeout: Nanoseconds) async throws -> GateWaitAnswer

  /// The scenario in force as JSON.
  func scenario() async throws -> [UInt8]

  /// Changes the scenario, or throws a `ScenarioError` and leaves it as it is.
  func changeScenario(_ edit: ScenarioEdit, by: ChangeOrigin) async throws -> ScenarioChange

  /// What the rules would decide, from the namespace alone. - Throws: ENOENT, ESRCH for the process.
  func explain(_ query: ExplainQuery) async throws -> ExplainAnswer

  /// Writes `run.finished`. - Throws: EINVAL when no run was started.
  func runFinished(_ request: RunFinishedRequest) async throws -> RunFinishedAnswer

  /// What an unmount will forget; nil where nothing can be changed.
  /// What is forgotten, and what is kept, when the volume ends. - Throws: Why it cannot be kept: ENOSPC, EDQUOT, EIO.
  func changesAtEnd() async throws -> (dropped: ChangeCounts?, kept: ChangeCounts?)

  /// Begins to end the daemon, and returns at once. Called when the client has its answer.
  func unmount() async
}

/// Who is at the other end of a connection, by the kernel's word.
public struct ControlPeer: Sendable, Equatable {
  public var pid: Int32
  public var uid: UInt32
  public var gid: UInt32
  /// Supplementary ones.
  public var groups: Set<UInt32>

  public init(pid: Int32, uid: UInt32, gid: UInt32, groups: Set<UInt32> = []) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
  }
}

/// Who asked for a change, as the log says it.
public enum ChangeOrigin: String, Sendable {
  /// A command of ours.
  case command
  /// Another client of the control API.
  case api
}

/// A checked request to release what a gate holds.
public struct GateReleaseOrder: Sendable {
  public var gate: String
  public var selection: GateSelection
  public var release: GateRelease
}

/// A change of the scenario. Texts are YAML or JSON.
public enum ScenarioEdit: Sendable {
  /// Another scenario in the place of this one. `name`: what messages call it.
  case replace([UInt8], name: String)
  case settings([(key: String, value: String)])
  case addRule([UInt8], first: Bool)
  case removeRule(name: String)
}

/// A checked question about what would be decided.
public struct ExplainQuery: Sendable {
  /// Relative to the volume's root.
  public var path: [UInt8]
  /// nil: `read` for a file, `readdir` for a directory.
  public var trigger: Trigger?
  /// nil: a process of which nothing is known.
  public var pid: Int32?
}
