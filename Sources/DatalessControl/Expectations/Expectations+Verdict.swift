import DatalessCore

/// The verdict.
extension Expectations {
  mutating func conclude(log: [UInt8], gaps: [String], _ files: FileTable?) -> Verdict {
    var verdict = Verdict()
    verdict.session = ending.session ?? ""
    verdict.log = String(decoding: log, as: UTF8.self)
    verdict.earlierSessions = ending.earlierSessions
    verdict.gaps = gaps
    if let lines = ending.strayLines, gaps.isEmpty { verdict.warnings.append(lines) }
    if let words = runWarning { verdict.warnings.append(words) }
    countWaitsUnderWay()
    settleLookups()
    for index in states.indices {
      let isAuthoritative = settle(index, files)
      var result = result(index, gaps: (isAuthoritative ? [] : gaps) + untold(index))
      result.warning = warning(index)
      verdict.expectations.append(result)
      verdict.violations += states[index].violations.violations(
        stacks, of: states[index].expectation.measure, option: stackOption)
      if let warning = result.warning { verdict.warnings.append("\(result.name): \(warning)") }
    }
    let outcomes = verdict.expectations.map(\.outcome)
    verdict.outcome = outcomes.contains(.violated) ? .violated : outcomes.contains(.unknown) ? .unknown : .held
    verdict.baseline = baseline?.result(isComplete: gaps.isEmpty)
    return verdict
  }

  /// Why the log tells nothing of what is expected, whatever else it tells.
  private func untold(_ index: Int) -> [String] {
    guard states[index].expectation.measure == .maxTogether, let together, !together.isTold else { return [] }
    return ["the log does not tell who has files open at the same time: it is of an older version"]
  }

  /// Counts waits that have not ended in a log that has no end: up to its last record, or to the end of the attempt
  /// that was waited for, where the record of the wait's own end is missing.
  private mutating func countWaitsUnderWay() {
    guard !ending.isUnmounted else { return }
    for wait in waits.underWay {
      let attempt = attempts[wait.attempt] ?? Attempt(item: LoggedItem(), isRange: false)
      let caller = LoggedCaller(
        process: wait.process, threadID: wait.threadID, isMainThread: wait.isMainThread,
        trigger: Trigger(rawValue: wait.trigger))
      var evidence = evidence(attempt, wait.attempt, by: caller, record: nil)
      evidence.monotonic = wait.start
      let end = attempt.finishedAt ?? ending.lastMonotonic
      waited(max(0, end.minus(wait.start)), evidence)
    }
  }

  /// Measures what only the whole log tells. - Returns: Whether it is known whatever the log lacks.
  private mutating func settle(_ index: Int, _ files: FileTable?) -> Bool {
    let expectation = states[index].expectation
    switch expectation.measure {
    case .minParallel: settleParallel(index)
    case .maxNeedless: settleNeedless(index, files)
    case .maxFiles, .maxBytes:
      // Budgets of the run: the daemon has counted them itself.
      guard expectation.name == expectation.measure.rawValue, expectation.match == RuleMatch(),
        let counted = expectation.measure == .maxFiles ? ending.runFiles : ending.runBytes
      else { return false }
      states[index].replace(measured: counted)
      return ending.isCountWhole
    default: break
    }
    return false
  }

  private mutating func settleParallel(_ index: Int) {
    let bound = states[index].expectation.bound
    let several = states[index].parallelism.processes.filter {
      $0.value.attempts > 1 && $0.value.attempts * 100 >= bound
    }
    .map { (id: $0.key, mean: $0.value.meanHundredths) }.sorted { ($0.mean, $0.id) < ($1.mean, $1.id) }
    states[index].setMeasured(several.first?.mean ?? 0)
    for process in several where process.mean < bound {
      states[index].violated(
        ExpectationState.Evidence(
          item: LoggedItem(),
          caller: LoggedCaller(process: process.id, threadID: nil, isMainThread: nil, trigger: nil)),
        measured: process.mean, processes)
    }
  }

  private mutating func settleNeedless(_ index: Int, _ files: FileTable?) {
    let callers = needlessCallers[index] ?? [:]
    var needless: Int64 = 0
    guard let files, !callers.isEmpty else { return states[index].setMeasured(0) }
    for row in files.first(files.count, by: .needless) {
      guard let found = callers[row] else { continue }
      let file = files[row]
      if file.use == FileUse.unknown.rawValue || (!found.isKnown && file.isNeedless) {
        states[index].add(possible: 1)
      } else if file.isNeedless {
        needless += 1
        states[index].count(1, isKnown: true, evidence(found), processes: processes)
      }
    }
    states[index].setMeasured(needless)
  }

  private func evidence(_ found: Fetched) -> ExpectationState.Evidence {
    withLateStack(
      ExpectationState.Evidence(
        item: found.item, caller: found.caller, attempt: found.attempt, stack: found.stack, time: found.time,
        monotonic: found.monotonic))
  }

  /// With the stack that was told when its wait was over.
  func withLateStack(_ evidence: ExpectationState.Evidence) -> ExpectationState.Evidence {
    guard evidence.stack?.id == nil, let late = evidence.wait.flatMap({ lateStacks[$0] }) else { return evidence }
    var evidence = evidence
    evidence.stack = late
    return evidence
  }

  private mutating func result(_ index: Int, gaps: [String]) -> ExpectationResult {
    let expectation = states[index].expectation
    var result = ExpectationResult(
      name: expectation.name, measure: expectation.measure.rawValue,
      words: ExpectationWords.words(expectation, measured: states[index].measured), unit: expectation.unit,
      bound: expectation.bound)
    result.place = expectation.place
    result.measured = states[index].measured
    result.isMeasuredIncompletely = !gaps.isEmpty || states[index].possible > 0
    let isBeyond =
      states[index].violations.count > 0
      || (expectation.measure != .minParallel && expectation.isFirm && states[index].measured > expectation.bound)
    if isBeyond, expectation.isFirm || gaps.isEmpty {
      result.outcome = .violated
      result.violationCount = max(1, states[index].violations.count)
    } else if !gaps.isEmpty {
      let withdrawn = states[index].withdrawViolations()
      result.outcome = .unknown
      result.reason =
        gaps.joined(separator: "; ")
        + (withdrawn > 0 ? " (what looks like \(HumanText.count(withdrawn, "violation")) may be none)" : "")
    } else if states[index].possible > 0, mayBeBeyond(index) {
      result.outcome = .unknown
      result.reason = Self.possible(states[index])
    }
    return result
  }

  /// Whether what may count, too, would violate the bound.
  private func mayBeBeyond(_ index: Int) -> Bool {
    let state = states[index]
    return switch state.expectation.measure {
    case .maxFiles, .maxBytes, .maxDirectories, .maxNeedless, .maxRefusals, .maxSerialWaits, .forbidUnneededBlocking,
      .maxTogether:
      state.measured.plus(state.possible) > state.expectation.bound
    default: true
    }
  }

  private static func possible(_ state: ExpectationState) -> String {
    let count = state.possible.minus(state.cutShort)
    let unit = state.expectation.unit == .parallelHundredths ? .paths : state.expectation.unit
    let cut = "the end of the volume cut short \(ExpectationWords.amount(state.cutShort, unit))"
    guard state.cutShort > 0 else { return untold(state.expectation, count, in: state.possibleFiles) }
    return count > 0 ? "\(cut); \(untold(state.expectation, count, in: state.possibleFiles))" : cut
  }

  private static func untold(
    _ expectation: Expectation, _ count: Int64, in untold: WritesTogether.Untold
  ) -> String {
    switch expectation.measure {
    case .maxNeedless:
      "of \(HumanText.count(count, "file")) nobody knows how much was read, or for whom (--observe reads tells)"
    case .forbidUnneededBlocking:
      "of \(HumanText.count(count, "lookup")) nobody knows whether anything followed: opens that leave no record "
        + "(--observe reads), directories that may be working directories, links, empty files, or callers of which the "
        + "log does not tell enough"
    case .maxTogether:
      untold.files
        + " written to beside others: who they are, who stores to a mapping, or whether one holds a lock, is not in the "
        + "log (--observe reads tells more)"
    case .maxMainThread, .maxWait:
      "\(HumanText.count(count, "long wait")) of a caller of which the log does not tell enough"
    default:
      "\(ExpectationWords.amount(count, expectation.unit == .parallelHundredths ? .paths : expectation.unit)) of callers of "
        + "which the log does not tell enough"
    }
  }

  /// Why what a run expects may hold although it was meant to be violated.
  private var runWarning: String? {
    guard ending.runRoot != nil else { return nil }
    if ending.isUntouched {
      return "the command has asked the volume for nothing, so nothing could be violated. Is {} among its arguments?"
    }
    guard othersAttempts > 0 else { return nil }
    let count = HumanText.count(othersAttempts, "attempt")
    return "\(count) of processes that the command has not started count for nothing. If they work for it (a build "
      + "daemon, an indexer), mount a volume instead, and hold its log against what you expect (check-log)."
  }

  /// Why nothing could have violated an expectation; nil if something could.
  private func warning(_ index: Int) -> String? {
    let state = states[index]
    let expectation = state.expectation
    if state.conditions.asksForCaller, !state.conditions.hasMetCaller, state.possible == 0 {
      return "no caller in the log is the one that is meant, so nothing was looked at. Check 'process' and 'ancestor'."
    }
    // Of a scenario, who reads it says that, and where it stands.
    if expectation.place == nil, let words = Self.harmless(expectation) { return words }
    if expectation.measure == .minParallel, state.violations.count == 0, state.measured == 0, state.possible == 0 {
      return "no process materialized several files, so there is nothing to be done at the same time."
    }
    if expectation.measure == .maxTogether, together?.isReadOnly == true {
      return "nothing can violate it: nothing on the volume can be written to. Mount it with --scratch or --state."
    }
    guard let volume = ending.volume, volume.isKnownWhole, !ending.hasEvictions else { return nil }
    let most: Int64? =
      switch expectation.measure {
      case .maxFiles, .maxNeedless: volume.files
      case .maxDirectories: volume.directories
      case .maxBytes: volume.bytes
      default: nil
      }
    guard let most, expectation.bound >= most else { return nil }
    return "nothing can violate it: the whole volume has \(ExpectationWords.amount(most, Self.unit(expectation)))."
  }

  /// Why nothing can violate a bound, whatever the log tells; nil if something can.
  private static func harmless(_ expectation: Expectation) -> String? {
    switch expectation.measure {
    case .minParallel where expectation.bound <= 100:
      "nothing can violate it: whatever is materialized is at least 1 at a time. Write 2 or so."
    case .allow where expectation.paths.contains(where: { $0.alternatives.contains(where: \.meansAll) }):
      "nothing can violate it: one of its globs means every path. Narrow it, or leave it out."
    default: nil
    }
  }

  private static func unit(_ expectation: Expectation) -> ExpectationResult.Unit {
    expectation.measure == .maxNeedless ? .files : expectation.unit
  }
}
