import DatalessControl

/// One value of every wire type with all fields, and one with as few as there can be.
enum WireSamples {
  static let odd: [UInt8] = [0x61, 0xff]
  static let process: WireProcess = {
    var process = WireProcess(pid: 7, comm: "tar", exe: odd, argv: ["tar"])
    process.script = "a.py"
    return process
  }()
  private static let counts = ItemCounts(
    files: 1, filesDataless: 1, filesMaterializing: 0, filesPartial: 0, filesResident: 0,
    filesEmpty: 0, directories: 1,
    directoriesDataless: 0, directoriesListed: 1, others: 0, bytes: 5, bytesResident: 0, localBytes: 0,
    otherFileSystems: 0)
  static let changes = ChangeCounts(
    dirtyFiles: 1, dirtyBytes: 2, namesMade: 3, namesRemoved: 4, otherAttributes: 5)
  private static let materialized = MaterializedCounts(files: 1, directories: 1, bytes: 5, failures: 0, refusals: 0)
  private static let modes = OpenModeCounts(direct: 1, pageCache: 2, passthrough: 3)
  private static let opens = OpenCounts(now: modes, sinceMount: modes)
  private static let waiter: InFlightWaiter = {
    var waiter = InFlightWaiter(
      pid: 7, tid: 8, mainThread: false, comm: "tar", exe: odd, trigger: "read", blockedNanoseconds: 9)
    (waiter.script, waiter.threadName) = ("a.py", "io")
    (waiter.unit, waiter.container) = ("a.service", "docker:0123456789ab")
    return waiter
  }()
  private static let attempt = InFlightAttempt(
    attempt: 1, path: odd, kind: "file", stage: "latency", ageNanoseconds: 5, process: process, waiterCount: 1,
    waiters: [waiter])
  private static let frame: CallerFrame = {
    var frame = CallerFrame(
      module: odd, buildID: "ab12", offset: 0x1139, symbol: odd, file: odd, line: 42, foundBy: "tables")
    frame.isInlined = true
    return frame
  }()
  private static let function = InterpretedFrame(function: odd, file: odd, line: 42)
  private static let interpreted: InterpretedCaller = {
    var caller = InterpretedCaller(language: "node", isReadable: true, isComplete: true, frames: [function])
    caller.hasFunctionLines = true
    return caller
  }()
  static let stack = CallerStack(
    isComplete: true, end: "outermost", frames: [frame], interpreted: interpreted, problem: "p")
  static let blocked = BlockedCaller(attempt: 1, path: odd, kind: "file", waiter: waiter, stack: stack)
  private static let call = DelayedCall(number: 1, path: odd, kind: "file", gate: "g", waiter: waiter)
  private static let count = AccessCount(operation: "read", calls: 3, failures: 1, blockedNanoseconds: 9)
  private static let access = AccessStatus(waiting: 1, calls: [call], operations: [count])
  private static let asked = AskedPresenter(number: 6, path: odd, process: process)
  private static let coordinated = CoordinatedIntent(
    number: 1, stage: "waiting", reads: 1, writes: 2, options: ["moving"], within: 3, path: odd, ageNanoseconds: 4,
    waitsFor: [5], waitsAt: odd, asks: [6], presenters: [asked], process: process)
  private static let coordinatedSums = CoordinationTotals(granted: 1, refused: 2, deadlocks: 3, takenAway: 4)
  static let coordination = CoordinationStatus(
    waiting: 1, granted: 2, preparing: 4, presenters: 3, totals: coordinatedSums, intents: [coordinated])
  private static let excess = BudgetExcess(budget: "files", limit: 1, used: 2, path: odd, process: process)
  static let children = RunChildren(
    waitedNanoseconds: 1, end: "time_up", left: [RunChild(process: process, ended: false)], notLookedAt: 1,
    outsiders: [RunChild(process: process, holds: ["mapping"], ended: false)])
  static let budget = BudgetStatus(maxFiles: 1, maxBytes: 2, files: 3, bytes: 4, inFlight: 5, exceeded: [excess])
  private static let item = VolumeItem(
    path: odd, kind: "symlink", state: "other", sizeBytes: 1, localBytes: 0, mode: 0o120777, inode: .max,
    openHandles: 0, isKept: true, isDirty: true, policy: "eager")
  private static let failure = PathFailure(path: odd, errno: "EBUSY", message: "is open", reason: "open")
  private static let room = RoomCounts(quotaBytes: 1, usedBytes: 2, pendingBytes: 3, removingBytes: 4, waiting: 5)
  static let reset = ResetAnswer(seq: 9, files: 1, directories: 2, bytes: 3)
  static let capacity = CapacityAnswer(
    totalBytes: 1, freeBytes: 2, temporaryBytes: 3, cachesBytes: 4, evictableBytes: 5, reserveBytes: 6,
    importantBytes: 7, opportunisticBytes: 8)
  private static let sum = InventorySum(
    files: 1, storedBytes: 2, residentBytes: 3, datalessBytes: 4, dirtyBytes: 5, purgeableBytes: 6, evictableBytes: 7,
    backupBytes: 8, countedBytes: 9)
  private static let area = InventoryArea(
    area: "tmp", category: "temporary", app: odd, isBackedUp: false, isPurged: true, isCounted: false, sum: sum)
  private static let noArea = InventoryArea(
    area: nil, category: nil, app: nil, isBackedUp: true, isPurged: false, isCounted: true, sum: sum)
  private static let stored = InventoryFile(
    path: odd, sizeBytes: 1, residentBytes: 2, isDirty: true, area: "tmp", category: "temporary", purge: "temporary",
    backup: "area", isCounted: false)
  private static let exclusion = InventoryExclusion(reason: "mark", files: 1, bytes: 2)
  private static let untouched = InventoryUntouched(since: "x", files: 1, bytes: 2, largest: [stored])
  private static let move = InventoryMove(path: odd, from: "a", to: "b")
  private static let group = InventoryGroup(sizeBytes: 1, paths: [WirePath(odd)])
  private static let repeats = InventoryRepeats(
    files: 1, bytes: 2, groups: [group], unknownFiles: 3, unknownBytes: 4)
  private static let branch = InventoryDirectory(path: odd, storedBytes: 1, residentBytes: 2, category: "caches")
  private static let counting = InventoryProgress(items: 1, comparedBytes: 2, totalItems: 3)
  static let inventory = InventoryReport(
    path: odd, total: sum, directories: 1, unlistedDirectories: 2, areas: [area, noArea],
    categories: [InventoryCategory(category: "caches", sum: sum)], excluded: [exclusion], largest: [stored],
    untouched: untouched, moved: InventoryMoves(count: 1, items: [move]), repeated: repeats, tree: [branch])
  private static let emptyInventory = InventoryReport(
    path: [], total: sum, directories: 0, unlistedDirectories: 0, areas: [], categories: [], excluded: [], largest: [],
    untouched: InventoryUntouched(since: nil, files: 0, bytes: 0, largest: []),
    moved: InventoryMoves(count: 0, items: []),
    repeated: InventoryRepeats(files: 0, bytes: 0, groups: [], unknownFiles: 0, unknownBytes: 0), tree: [])
  private static let progress = TransferProgress(
    files: 1, directories: 2, bytes: 3, totalFiles: 4, totalBytes: 5)
  private static let trash = TrashCounts(items: 1, bytes: 2, searchedItems: 3)
  private static let result = {
    var result = TransferResult(
      files: 1, directories: 0, bytes: 5, failures: [failure], failureCount: 1, refused: failure,
      isInterrupted: true, unfinished: [odd])
    (result.purgedFiles, result.purgedBytes, result.lostBytes) = (1, 5, 4)
    return result
  }()
  static let refreshed = RefreshResult(
    added: 1, changed: 2, gone: 3, renamed: 4, kept: 5, unchanged: 6, directories: 7, failures: [failure],
    failureCount: 1)
  private static let refreshing = RefreshProgress(directories: 1, entries: 2, totalDirectories: 3)
  private static let side = ConflictSide(
    kind: "file", inode: .max, sizeBytes: 1, mode: 0o644, uid: 1, gid: 2, modified: "2026-01-02T03:04:05.000000000Z")
  private static let conflict = ConflictItem(path: odd, conflict: "changed", mine: side, theirs: side)
  private static let resolved = ResolvedItem(path: odd, conflict: "made", copy: odd)
  static let conflicts = ConflictAnswer(
    conflicts: [conflict], count: 1, resolved: [resolved], resolvedCount: 1, failures: [failure], failureCount: 1)
  static let rules = RuleCounts([RuleCount(name: "r", attempts: 2, decided: 1)])
  static let problem = WireProblem(file: "s.yaml", line: 1, column: 2, message: "unknown field")
  private static let error = WireError(code: "busy", errno: "EBUSY", message: "is open", problems: [problem])
  private static let summary = GateSummary(name: "g", isOpen: false, callers: 1, attemptCount: 1)
  private static let held = HeldAttempt(
    attempt: 1, path: odd, kind: "directory", heldNanoseconds: 5, waiterCount: 1, waiters: [waiter], blocks: ["b"],
    warning: "w")
  static let gate = GateStatus(
    name: "g", isOpen: false, callers: 1, attemptCount: 1, rules: ["r"], held: [held], accessCount: 1, accesses: [call])
  static let change = ScenarioChange(rules: 1, rule: "r", warnings: [problem])
  private static let profile = ProfileStatus(
    name: "macos", files: ["read"], directories: ["readdir", "lookup"], errnos: ["refused": "EDEADLK"],
    directoryErrnos: ["refused": "EDEADLK"], residentChanges: "stale")
  private static let present = PresentationStatus(
    blocks: "zero", ctime: "stable", seek: "data", state: "user.dataless.state", stateListed: false, subtype: "dataless"
  )
  private static let part = ExplainedPart(part: "latency", value: "1s", rule: "r")
  private static let rule = ExplainedRule(name: "r", verdict: "decides", reason: "latency")
  static let explanation = ExplainAnswer(
    path: odd, kind: "file", state: "dataless", sizeBytes: 1, trigger: "read", attempt: 1, isOffline: false,
    process: process, parts: [part], rules: [rule], ruleCount: 1)

  static let status = VolumeStatus(
    pid: 42, session: "0123456789ab", mountpoint: odd, socket: "/run/s", source: odd, readOnly: true,
    options: ["latency_ns": 5],
    log: odd, logDropped: 0, cache: odd, uptimeNanoseconds: 1, started: "2026-01-02T03:04:05.000000000Z",
    kernel: "6.18.0", libfuse: "3.14.0", fastPaths: ["passthrough": true], items: counts,
    changes: changes, conflicts: 3, room: room, trash: trash, requestsReachingTheVolume: ["lookup": 3],
    materialized: materialized,
    opens: opens,
    isOffline: true,
    profile: profile,
    present: present, seed: 7,
    ruleCount: 1,
    gates: [summary], inFlight: [attempt], access: access, coordination: coordination, budget: budget,
    warnings: ["w"])

  /// By the schema's name in docs/openapi.yaml: with everything, with what is required only.
  static let all: [String: (full: any Encodable & Sendable, least: any Encodable & Sendable)] = [
    "VolumeStatus": (
      status,
      VolumeStatus(
        pid: 42, session: "0123456789ab", mountpoint: bytes("/m"), source: bytes("/s"), readOnly: true, options: [:],
        log: bytes("/l"), logDropped: 0, cache: bytes("/c"), uptimeNanoseconds: 1,
        started: "2026-01-02T03:04:05.000000000Z", kernel: "6.18.0", libfuse: "3.14.0", fastPaths: [:], items: counts,
        requestsReachingTheVolume: [:], materialized: materialized, opens: opens, profile: profile, present: present,
        inFlight: [], warnings: [])
    ),
    "VersionAnswer": (VersionAnswer.current, VersionAnswer(version: "0", api: 1, features: [])),
    "ProfileStatus": (profile, profile),
    "PresentationStatus": (
      present,
      PresentationStatus(blocks: "one", ctime: "bump", seek: "hole", state: nil, stateListed: false, subtype: "x")
    ),
    "ItemCounts": (counts, counts), "MaterializedCounts": (materialized, materialized),
    "OpenCounts": (opens, opens), "OpenModeCounts": (modes, modes),
    "AccessStatus": (access, AccessStatus(waiting: 0, calls: [], operations: [])),
    "CoordinationStatus": (
      coordination, CoordinationStatus(waiting: 0, granted: 0, presenters: 0, totals: coordinatedSums, intents: [])
    ),
    "CoordinationTotals": (coordinatedSums, coordinatedSums),
    "AskedPresenter": (asked, AskedPresenter(number: 6, path: [])),
    "CoordinatedIntent": (
      coordinated,
      CoordinatedIntent(number: 1, stage: "granted", reads: 1, writes: 0, path: [], ageNanoseconds: 1)
    ),
    "DelayedCall": (call, DelayedCall(number: 1, path: [], kind: "file", waiter: waiter)),
    "AccessCount": (count, count),
    "InFlightAttempt": (
      attempt,
      InFlightAttempt(
        attempt: 1, path: [], kind: "file", stage: "latency", ageNanoseconds: 5, waiterCount: 0, waiters: [])
    ),
    "InFlightWaiter": (
      waiter, InFlightWaiter(pid: 0, tid: 0, mainThread: false, trigger: "read", blockedNanoseconds: 9)
    ),
    "WireProcess": (process, WireProcess(pid: 7)),
    "BudgetStatus": (budget, BudgetStatus(files: 0, bytes: 0, exceeded: [])),
    "BudgetExcess": (excess, BudgetExcess(budget: "files", limit: 1, used: 2, path: [])),
    "VolumeItem": (
      item,
      VolumeItem(
        path: [], kind: "file", state: "dataless", sizeBytes: 1, localBytes: 0, mode: 0o100644, inode: 1,
        openHandles: 0)
    ),
    "ItemPage": (ItemPage(items: [item], next: "x"), ItemPage(items: [])),
    "WirePath": (WirePath(odd), WirePath([])),
    "PathsRequest": (PathsRequest(paths: [WirePath(odd)]), PathsRequest(paths: [])),
    "EvictRequest": (EvictRequest(paths: [WirePath(odd)], stop: true), EvictRequest(paths: [])),
    "PinRequest": (PinRequest(paths: [WirePath(odd)], policy: "lazy"), PinRequest(paths: [])),
    "PressureRequest": (PressureRequest(bytes: 1), PressureRequest(bytes: 1)),
    "RoomCounts": (room, room),
    "CapacityAnswer": (capacity, capacity), "ResetAnswer": (reset, reset),
    "InventoryRequest": (
      InventoryRequest(path: WirePath(odd), since: "x"), InventoryRequest(path: WirePath([]))
    ),
    "InventoryLine": (InventoryLine(progress: counting, result: inventory, error: error), InventoryLine()),
    "InventoryProgress": (counting, InventoryProgress(items: 1, comparedBytes: 2)),
    "InventoryReport": (inventory, emptyInventory),
    "InventorySum": (sum, sum), "InventoryArea": (area, noArea),
    "InventoryCategory": (InventoryCategory(category: "caches", sum: sum), InventoryCategory(category: nil, sum: sum)),
    "InventoryExclusion": (exclusion, exclusion),
    "InventoryFile": (
      stored,
      InventoryFile(path: [], sizeBytes: 1, residentBytes: 0, isDirty: false, backup: "included", isCounted: true)
    ),
    "InventoryUntouched": (untouched, InventoryUntouched(since: nil, files: 0, bytes: 0, largest: [])),
    "InventoryMoves": (InventoryMoves(count: 1, items: [move]), InventoryMoves(count: 0, items: [])),
    "InventoryMove": (move, InventoryMove(path: [], from: nil, to: nil)),
    "InventoryRepeats": (repeats, repeats), "InventoryGroup": (group, group),
    "InventoryDirectory": (branch, InventoryDirectory(path: [], storedBytes: 1, residentBytes: 0, category: nil)),
    "TrashCounts": (trash, TrashCounts(items: 1, bytes: 2)),
    "RemoveAnswer": (
      RemoveAnswer(items: 1, directories: 2, bytes: 3, dirtyItems: 4, dirtyBytes: 5, dropped: [odd]),
      RemoveAnswer(items: 1, directories: 2, bytes: 3)
    ),
    "InterruptRequest": (InterruptRequest(request: 1), InterruptRequest(request: 1)),
    "TransferProgress": (progress, TransferProgress(files: 1, directories: 2, bytes: 3)),
    "PathFailure": (failure, PathFailure(path: [], errno: "EIO", message: "m")),
    "TransferResult": (result, TransferResult(files: 0, directories: 0, bytes: 0)),
    "TransferLine": (TransferLine(progress: progress, result: result, error: error), TransferLine()),
    "RefreshProgress": (refreshing, RefreshProgress(directories: 1, entries: 2)),
    "RefreshResult": (refreshed, RefreshResult()),
    "RefreshLine": (RefreshLine(progress: refreshing, result: refreshed, error: error), RefreshLine()),
    "ConflictRequest": (
      ConflictRequest(paths: [WirePath(odd)], keep: "both"), ConflictRequest(paths: [])
    ),
    "ConflictAnswer": (conflicts, ConflictAnswer()),
    "ConflictItem": (conflict, ConflictItem(path: bytes("p"), conflict: "made", mine: nil, theirs: nil)),
    "ConflictSide": (side, side), "ResolvedItem": (resolved, ResolvedItem(path: bytes("p"), conflict: "made")),
    "WireError": (error, WireError(code: "failed", message: "m")),
    "ErrorAnswer": (ErrorAnswer(error: error), ErrorAnswer(error: error)),
    "MarkRequest": (MarkRequest(label: "x"), MarkRequest(label: "x")),
    "SequenceAnswer": (SequenceAnswer(seq: 1), SequenceAnswer(seq: 1)),
    "FlushAnswer": (FlushAnswer(log: odd, lost: 0), FlushAnswer(log: bytes("/l"), lost: 0)),
    "RunFinishedRequest": (
      RunFinishedRequest(
        exitStatus: 127, signal: "SIGKILL", notStarted: "ENOENT", interruptedBy: "SIGTERM", children: children),
      RunFinishedRequest()
    ),
    "RunChildren": (children, children),
    "RunChild": (
      RunChild(process: process, holds: ["open_file"], ended: true), RunChild(process: process, ended: false)
    ),
    "RunFinishedAnswer": (
      RunFinishedAnswer(seq: 1, budget: budget, rules: rules),
      RunFinishedAnswer(seq: 1, budget: budget, rules: RuleCounts([]))
    ),
    "RuleCounts": (rules, RuleCounts([])),
    "RuleCount": (rules.rules[0], rules.rules[0]),
    "WireProblem": (problem, problem), "GateSummary": (summary, summary),
    "StackList": (StackList(callers: [blocked]), StackList(callers: [])),
    "BlockedCaller": (
      blocked, BlockedCaller(attempt: nil, path: [], kind: "directory", waiter: waiter, outcome: "thread_ran")
    ),
    "CallerStack": (stack, CallerStack(isComplete: false, end: "no_tables", frames: [])),
    "CallerFrame": (frame, CallerFrame(module: [], offset: 1, foundBy: "guess")),
    "InterpretedCaller": (
      interpreted, InterpretedCaller(language: "python", isReadable: true, isComplete: true, frames: [])
    ),
    "InterpretedFrame": (function, InterpretedFrame(function: [], file: [])),
    "GateList": (GateList(gates: [gate]), GateList(gates: [])), "GateStatus": (gate, gate),
    "HeldAttempt": (
      held,
      HeldAttempt(
        attempt: 1, path: [], kind: "file", heldNanoseconds: 5, waiterCount: 0, waiters: [], blocks: [])
    ),
    "GateRequest": (GateRequest(gate: "g"), GateRequest(gate: "g")),
    "GateReleaseRequest": (
      GateReleaseRequest(gate: "g", count: 1, attempt: 2, path: odd, errno: "EIO"), GateReleaseRequest(gate: "g")
    ),
    "GateAnswer": (GateAnswer(gate: "g", released: 1), GateAnswer(gate: "g", released: 1)),
    "GateWaitRequest": (
      GateWaitRequest(gate: "g", callers: 2, timeoutMilliseconds: 10), GateWaitRequest(gate: "g")
    ),
    "GateWaitAnswer": (
      GateWaitAnswer(gate: "g", isReached: true, callers: 1), GateWaitAnswer(gate: "g", isReached: true, callers: 1)
    ),
    "ScenarioChange": (change, ScenarioChange(rules: 0)),
    "SettingsRequest": (SettingsRequest(settings: ["seed": 1]), SettingsRequest(settings: [:])),
    "RuleRequest": (RuleRequest(rule: "{}", position: "last"), RuleRequest(rule: "{}")),
    "ExplainAnswer": (
      explanation,
      ExplainAnswer(
        path: [], kind: "file", state: "dataless", sizeBytes: 1, trigger: "read", attempt: 1, parts: [], rules: [],
        ruleCount: 0)
    ),
    "ExplainedPart": (part, ExplainedPart(part: "gate", value: "none")), "ExplainedRule": (rule, rule),
    "AcceptedAnswer": (AcceptedAnswer(pid: 1, dropped: changes, kept: changes), AcceptedAnswer(pid: 1)),
    "ChangeCounts": (changes, changes),
  ]
}
