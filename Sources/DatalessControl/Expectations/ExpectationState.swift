import DatalessCore

/// One expectation while a log is read: what was measured, and what violated it.
struct ExpectationState: Sendable {
  let expectation: Expectation
  var conditions: ExpectationConditions
  /// In the expectation's unit; of files, bytes and the like that are known to count.
  private(set) var measured: Int64 = 0
  /// What may count, too: of callers and items of which the log does not tell enough.
  private(set) var possible: Int64 = 0
  /// How much of that would have come if the volume had not ended before.
  private(set) var cutShort: Int64 = 0
  /// The files of these; only of `max_together`.
  private(set) var possibleFiles = WritesTogether.Untold()
  private(set) var violations: ViolationList
  var parallelism = ProcessParallelism()
  var serial = SerialWaits()

  init(_ expectation: Expectation) {
    self.expectation = expectation
    conditions = ExpectationConditions(expectation.match)
    violations = ViolationList(of: expectation.measure)
  }

  /// What shows a violation: who, where, when.
  struct Evidence {
    var item: LoggedItem
    var caller: LoggedCaller
    /// Who had the file open, too; only of `max_together`.
    var other: UInt32?
    var attempt: UInt64?
    var access: UInt64?
    /// Of a delayed call, which no trigger is meant by.
    var operation: AccessOperation?
    /// nil where the log says nothing of one, yet.
    var stack: ToldStack?
    var time: String?
    var monotonic: Int64?

    var wait: ViolationList.Wait? {
      ViolationList.Wait(attempt: attempt, access: access, threadID: caller.threadID)
    }
  }

  /// Something of an amount counts. - Parameter isKnown: As the conditions say; `no` never comes here.
  mutating func count(_ amount: Int64, isKnown: Bool, _ evidence: Evidence, processes: SeenProcesses) {
    guard isKnown else {
      possible = possible.plus(amount)
      if expectation.measure == .maxTogether, let path = evidence.item.path { possibleFiles.add(path) }
      return
    }
    measured = measured.plus(amount)
    if amount > 0, measured > expectation.bound { violated(evidence, measured: measured, processes) }
  }

  /// One of several values was measured, of which the largest counts.
  mutating func note(_ value: Int64, isKnown: Bool, _ evidence: Evidence, processes: SeenProcesses) {
    guard isKnown else {
      if value > expectation.bound { possible = possible.plus(1) }
      return
    }
    measured = max(measured, value)
    if value > expectation.bound { violated(evidence, measured: value, processes) }
  }

  mutating func violated(_ evidence: Evidence, measured: Int64, _ processes: SeenProcesses) {
    let expectation = expectation
    violations.add(
      path: evidence.item.path, process: evidence.caller.process, isMainThread: evidence.caller.isMainThread,
      measured: measured, wait: evidence.wait, stack: evidence.stack
    ) {
      var violation = Violation(
        expectation: expectation.name, path: evidence.item.path, measured: measured,
        hint: "")
      violation.kind = evidence.item.kind?.rawValue
      violation.trigger = evidence.caller.trigger?.rawValue ?? evidence.operation?.rawValue
      if let told = processes.told(evidence.caller.process) {
        (violation.process, violation.ancestors) = (told.process, told.ancestors)
      }
      violation.other = processes.told(evidence.other)?.process
      violation.threadID = evidence.caller.threadID
      violation.threadName = evidence.caller.threadName.map { String(decoding: $0, as: UTF8.self) }
      violation.isMainThread = evidence.caller.isMainThread
      (violation.attempt, violation.access) = (evidence.attempt, evidence.access)
      (violation.time, violation.monotonicNanoseconds) = (evidence.time, evidence.monotonic)
      return violation
    }
  }

  mutating func told(stack: ToldStack, of wait: ViolationList.Wait) { violations.told(stack: stack, of: wait) }

  /// What the daemon has counted itself is in force instead of what was counted here.
  mutating func replace(measured: Int64) {
    self.measured = measured
    (possible, cutShort) = (0, 0)
    if measured <= expectation.bound { violations = ViolationList(of: expectation.measure) }
  }

  mutating func setMeasured(_ value: Int64) { measured = value }

  mutating func add(possible amount: Int64) { possible = possible.plus(amount) }

  mutating func add(cutShort amount: Int64) {
    cutShort = cutShort.plus(amount)
    add(possible: amount)
  }

  /// Takes back what looks like violations in a log that does not tell all. - Returns: How many there were.
  mutating func withdrawViolations() -> Int64 {
    defer { violations = ViolationList(of: expectation.measure) }
    return violations.count
  }
}

extension Expectation {
  var unit: ExpectationResult.Unit {
    switch measure {
    case .maxFiles, .maxSerialWaits, .maxTogether: .files
    case .maxBytes: .bytes
    case .maxDirectories: .directories
    case .maxWait, .maxMainThread: .nanoseconds
    case .maxNeedless: .needless
    case .maxRefusals: .refusals
    case .maxParallel, .minParallel: .parallelHundredths
    case .maxRepeated: .repetitions
    case .forbidUnneededBlocking: .lookups
    case .forbid, .allow, .baseline: .paths
    }
  }

  /// Whether a violation is one whatever else the log might have told: more records cannot make less of it.
  var isFirm: Bool {
    switch measure {
    case .maxParallel, .minParallel, .maxNeedless, .maxRepeated, .maxSerialWaits, .forbidUnneededBlocking: false
    case .maxTogether: false
    default: true
    }
  }

  /// Of which items attempts count.
  func counts(_ kind: MaterializationKind?) -> Bool {
    switch measure {
    case .maxParallel, .minParallel: kind == (match.kind ?? .file)
    case .maxFiles, .maxBytes, .maxNeedless, .maxRepeated, .maxSerialWaits, .maxTogether: kind != .directory
    case .maxDirectories: kind == .directory
    default: true
    }
  }
}
