import DatalessControl
import DatalessCore
import DatalessState
import DatalessStores
import FuseKit

/// The volume's numbers, for the log and for `status`: one source, two forms.
extension Volume {
  /// Requests by kind, without those that only serve the protocol.
  private var requests: [(name: String, count: UInt64)] {
    session.requestCounts.filter { $0.key != .initialize && $0.key != .destroy }
      .map { ($0.key.logName, $0.value) }.sorted { $0.0 < $1.0 }
  }

  private var items: [(name: String, count: Int64)] {
    let counts = engine.counts
    return [
      ("files", Int64(counts.files)), ("files_dataless", Int64(counts.filesDataless)),
      ("files_materializing", Int64(counts.filesMaterializing)), ("files_partial", Int64(counts.filesPartial)),
      ("files_resident", Int64(counts.filesResident)), ("files_empty", Int64(counts.filesEmpty)),
      ("directories", Int64(counts.directories)),
      ("directories_dataless", Int64(counts.directoriesDataless)),
      ("directories_listed", Int64(counts.directoriesListed)), ("others", Int64(counts.others)),
      ("bytes", counts.bytes), ("bytes_resident", counts.bytesResident), ("local_bytes", content.allocatedBytes),
      ("other_file_systems", Int64(store.otherFileSystems)),
    ]
  }

  /// The counters of `volume.counters`, `volume.unmounted` and `mark` records.
  func counters() -> VolumeCounters {
    let totals = engine.totals
    let opens = engine.opens
    return VolumeCounters(
      requests: .object(requests.map { LogField(key: $0.name, value: .unsigned($0.count)) }),
      items: .object(items.map { LogField(key: $0.name, value: .integer($0.count)) }),
      materialized: .object([
        LogField(key: "files", value: .integer(totals.files)),
        LogField(key: "directories", value: .integer(totals.directories)),
        LogField(key: "bytes", value: .integer(totals.bytes)),
        LogField(key: "failures", value: .integer(totals.failures)),
        LogField(key: "refusals", value: .integer(totals.refusals)),
      ]),
      opens: .object([
        LogField(key: "now", value: LogValue(opens.now)),
        LogField(key: "since_mount", value: LogValue(opens.sinceMount)),
      ]), rules: LogValue(ruleCounts()), changes: changes.map(LogValue.init))
  }

  /// What was changed and is nowhere else; nil where nothing can be.
  var changes: ChangeCounts? {
    guard configuration.writing != .readOnly else { return nil }
    let changes = engine.changes
    return ChangeCounts(
      dirtyFiles: Int64(changes.dirtyFiles), dirtyBytes: changes.dirtyBytes, namesMade: Int64(changes.namesMade),
      namesRemoved: Int64(changes.namesRemoved), otherAttributes: Int64(changes.otherAttributes))
  }

  func status() -> VolumeStatus {
    let counts = engine.counts
    let totals = engine.totals
    let opens = engine.opens
    let simulation = engine.simulation
    let logStatus = log.status
    // What waits for a disk that refuses it is not in the log either.
    let missing = logStatus.dropped + (logStatus.failure == nil ? 0 : UInt64(logStatus.waiting))
    return VolumeStatus(
      pid: ownPID, session: configuration.session, mountpoint: configuration.mountpoint, socket: socketPath,
      source: configuration.sourceBytes, readOnly: configuration.writing == .readOnly,
      options: options.mapValues(JSONValue.init),
      log: configuration.log, logDropped: Int64(clamping: missing), cache: configuration.sessionCache,
      uptimeNanoseconds: (timer.now - startedAt).rawValue, started: startedText,
      kernel: MachineExamination.kernelRelease,
      libfuse: libfuseVersion,
      fastPaths: fastPaths.mapValues(JSONValue.init),
      items: ItemCounts(
        files: Int64(counts.files), filesDataless: Int64(counts.filesDataless),
        filesMaterializing: Int64(counts.filesMaterializing), filesPartial: Int64(counts.filesPartial),
        filesResident: Int64(counts.filesResident), filesEmpty: Int64(counts.filesEmpty),
        directories: Int64(counts.directories),
        directoriesDataless: Int64(counts.directoriesDataless), directoriesListed: Int64(counts.directoriesListed),
        others: Int64(counts.others), bytes: counts.bytes, bytesResident: counts.bytesResident,
        localBytes: content.allocatedBytes, otherFileSystems: Int64(store.otherFileSystems)),
      changes: changes, conflicts: conflictCount, room: roomCounts, trash: trashCounts,
      requestsReachingTheVolume: Dictionary(
        requests.map { ($0.name, Int64(clamping: $0.count)) }, uniquingKeysWith: { first, _ in first }),
      materialized: MaterializedCounts(
        files: totals.files, directories: totals.directories, bytes: totals.bytes, failures: totals.failures,
        refusals: totals.refusals),
      opens: OpenCounts(now: OpenModeCounts(opens.now), sinceMount: OpenModeCounts(opens.sinceMount)),
      isOffline: simulation.isOffline, profile: ProfileStatus(simulation.profile),
      present: PresentationStatus(simulation.presentation, subtype: configuration.subtype), seed: simulation.seed,
      ruleCount: Int64(simulation.rules.rules.count),
      gates: engine.gates(heldEach: 0).map { gate in
        GateSummary(
          name: gate.name, isOpen: gate.isOpen, callers: Int64(gate.callers), attemptCount: Int64(gate.attemptCount),
          accessCount: Int64(gate.accessCount))
      },
      inFlight: engine.attemptsInFlight().map(describe), access: accessStatus(),
      budget: configuration.run == nil ? nil : budgetStatus(),
      warnings: configuration.warnings + store.warnings + stateWarnings)
  }

  /// nil when nothing is left to be given back. Of trees that only the state directory knows directories are counted.
  private var trashCounts: TrashCounts? {
    // Before what is being removed, as that is found by it: in between, nothing is counted nowhere.
    let (left, searched) = (state?.trashCount ?? 0, state?.searchedItems)
    let trash = engine.trashStatus
    let items = trash.items + left
    guard items > 0 || searched != nil else { return nil }
    return TrashCounts(items: Int64(items), bytes: trash.bytes, searchedItems: searched)
  }

  /// nil where nothing can be changed on the volume.
  private var conflictCount: Int64? {
    configuration.writing == .readOnly ? nil : Int64(engine.conflictCount)
  }

  /// nil where local content has no limit.
  private var roomCounts: RoomCounts? {
    let room = engine.roomStatus
    return room.quota.map { quota in
      RoomCounts(
        quotaBytes: quota, usedBytes: room.used, pendingBytes: room.pending, removingBytes: room.removing,
        waiting: Int64(room.waiting))
    }
  }

  /// nil where no call is delayed and none was.
  private func accessStatus() -> AccessStatus? {
    let sums = engine.accessTotals.sums
    let (waiting, calls) = engine.accessesUnderWay()
    guard !engine.delayedOperations.isEmpty || waiting > 0 || !sums.isEmpty else { return nil }
    return AccessStatus(
      waiting: Int64(waiting), calls: calls.map(wire),
      operations: AccessOperation.allCases.compactMap { operation in
        sums[operation].map { sum in
          AccessCount(
            operation: operation.rawValue, calls: sum.calls, failures: sum.failures,
            blockedNanoseconds: sum.blocked.rawValue)
        }
      })
  }

  private func describe(_ attempt: AttemptSnapshot) -> InFlightAttempt {
    InFlightAttempt(
      attempt: attempt.attempt, path: attempt.path, kind: attempt.kind.rawValue, stage: attempt.stage,
      ageNanoseconds: attempt.age.rawValue, process: attempt.waiters.first.flatMap { wire($0.caller) },
      waiterCount: Int64(attempt.waiterCount), waiters: attempt.waiters.map(wire))
  }

  func wire(_ call: Event.AccessRecord) -> DelayedCall {
    DelayedCall(
      number: call.access, path: call.path, kind: call.kind.rawValue, gate: call.gate,
      waiter: wire(call.caller, waitsFor: call.operation.rawValue, blockedNanoseconds: (timer.now - call.time).rawValue)
    )
  }

  func wire(_ waiter: AttemptSnapshot.WaitingCaller) -> InFlightWaiter {
    wire(waiter.caller, waitsFor: waiter.trigger.rawValue, blockedNanoseconds: waiter.blocked.rawValue)
  }

  private func wire(_ caller: Caller, waitsFor operation: String, blockedNanoseconds: Int64) -> InFlightWaiter {
    let process = processes.info(caller.process)
    var waiter = InFlightWaiter(
      pid: caller.pid, tid: caller.threadID, mainThread: caller.isMainThread, comm: Self.text(process?.comm),
      exe: process?.exe, trigger: operation, blockedNanoseconds: blockedNanoseconds)
    let group = process?.cgroup.map { ControlGroup(path: $0) }
    waiter.script = Self.text(process.flatMap { $0.arguments.script($0.executable) })
    waiter.threadName = caller.threadName.isEmpty ? nil : Self.text(caller.threadName.bytes)
    waiter.unit = Self.text(group?.unit)
    waiter.container = Self.text(group?.container)
    return waiter
  }

  func wire(_ caller: Caller) -> WireProcess? {
    processes.info(caller.process).map { wire($0, pid: caller.pid) }
  }

  func wire(_ process: ProcessRecord, pid: Int32) -> WireProcess {
    var wire = WireProcess(pid: pid, comm: Self.text(process.comm), exe: process.exe)
    wire.script = Self.text(process.arguments.script(process.executable))
    return wire
  }

  private static func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  func budgetStatus() -> BudgetStatus {
    let (totals, inFlight) = engine.budgetUse
    let budget = engine.budget
    return BudgetStatus(
      maxFiles: budget.maxFiles, maxBytes: budget.maxBytes, files: totals.budgetedFiles, bytes: totals.budgetedBytes,
      inFlight: Int64(inFlight),
      exceeded: totals.exceeded.map { excess in
        BudgetExcess(
          budget: excess.budget, limit: excess.limit, used: excess.used, path: excess.path,
          process: wire(excess.caller))
      })
  }

  /// The budgets as `run.finished` records them.
  static func budgetValue(_ budget: BudgetStatus) -> LogValue {
    var fields: [LogField] = []
    if let limit = budget.maxFiles { fields.append(LogField(key: "max_files", value: .integer(limit))) }
    if let limit = budget.maxBytes { fields.append(LogField(key: "max_bytes", value: .integer(limit))) }
    fields.append(LogField(key: "files", value: .integer(budget.files)))
    fields.append(LogField(key: "bytes", value: .integer(budget.bytes)))
    fields.append(LogField(key: "in_flight", value: .integer(budget.inFlight)))
    fields.append(
      LogField(
        key: "exceeded",
        value: .array(
          budget.exceeded.map { excess in
            .object([
              LogField(key: "budget", value: .string(excess.budget)),
              LogField(key: "limit", value: .integer(excess.limit)),
              LogField(key: "used", value: .integer(excess.used)),
              LogField(key: "path", value: .bytes(excess.pathBytes)),
            ])
          })))
    return .object(fields)
  }
}

extension LogValue {
  fileprivate init(_ changes: ChangeCounts) {
    self = .object([
      LogField(key: "dirty_files", value: .integer(changes.dirtyFiles)),
      LogField(key: "dirty_bytes", value: .integer(changes.dirtyBytes)),
      LogField(key: "names_made", value: .integer(changes.namesMade)),
      LogField(key: "names_removed", value: .integer(changes.namesRemoved)),
      LogField(key: "other_attributes", value: .integer(changes.otherAttributes)),
    ])
  }

  /// What `run` says about the processes that its command left.
  fileprivate init(_ child: RunChild) {
    var fields = [LogField(key: "pid", value: .integer(Int64(child.process.pid)))]
    if let comm = child.process.comm { fields.append(LogField(key: "comm", value: .string(comm))) }
    if let exe = child.process.exeBytes { fields.append(LogField(key: "exe", value: .bytes(exe))) }
    if let holds = child.holds { fields.append(LogField(key: "holds", value: .array(holds.map { .string($0) }))) }
    fields.append(LogField(key: "ended", value: .bool(child.ended)))
    self = .object(fields)
  }

  init(_ children: RunChildren) {
    self = .object([
      LogField(key: "waited_ns", value: .integer(children.waitedNanoseconds)),
      LogField(key: "end", value: .string(children.end)),
      LogField(key: "left", value: .array(children.left.map { LogValue($0) })),
      LogField(key: "left_count", value: .integer(children.leftCount)),
      LogField(key: "not_looked_at", value: .integer(children.notLookedAt)),
      LogField(key: "outsiders", value: .array(children.outsiders.map { LogValue($0) })),
    ])
  }
}

extension LogValue {
  fileprivate init(_ modes: OpenModes) {
    self = .object([
      LogField(key: "direct", value: .integer(modes.direct)),
      LogField(key: "page_cache", value: .integer(modes.pageCache)),
      LogField(key: "passthrough", value: .integer(modes.passthrough)),
    ])
  }
}

extension OpenModeCounts {
  fileprivate init(_ modes: OpenModes) {
    self.init(direct: modes.direct, pageCache: modes.pageCache, passthrough: modes.passthrough)
  }
}

extension FuseRequestKind {
  /// The kind's name in `requests_reaching_the_volume`, in snake case.
  var logName: String {
    switch self {
    case .batchForget: "batch_forget"
    case .copyFileRange, .copyFileRange64: "copy_file_range"
    default: "\(self)"
    }
  }
}
