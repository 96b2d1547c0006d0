import DatalessCore

/// What is expected of how programs use files: lists, lookups, and writes beside others.
extension Expectations {
  // MARK: - One file after the other

  /// A caller waits for a file.
  mutating func beginSerial(_ item: LoggedItem, by caller: LoggedCaller, _ record: LogRecord) {
    guard let path = item.path else { return }
    for (index, isKnown) in statesMeant(.maxSerialWaits, item, by: caller) {
      guard isKnown, let process = processes.alone(caller.process) else {
        states[index].add(possible: 1)
        continue
      }
      // That the list before is over is no matter: each of its files was looked at when it came.
      _ = states[index].serial.begin(
        PathHash.of(path), by: process, at: record.monotonicNanoseconds ?? ending.lastMonotonic)
    }
  }

  /// It has its answer.
  mutating func endSerial(_ evidence: ExpectationState.Evidence, blocked: Int64) {
    guard let path = evidence.item.path, let process = processes.alone(evidence.caller.process),
      evidence.caller.trigger != .coordinate
    else { return }
    let end = evidence.monotonic ?? ending.lastMonotonic
    guard evidence.item.kind == .file else {
      for index in states.indices where states[index].expectation.measure == .maxSerialWaits {
        states[index].serial.waited(by: process, until: end)
      }
      return
    }
    for (index, isKnown) in statesMeant(.maxSerialWaits, evidence.item, by: evidence.caller) where isKnown {
      let wait = SerialWaits.Wait(
        process: process, path: path, key: evidence.wait, start: end.minus(max(0, blocked)), end: end)
      guard let count = states[index].serial.end(wait) else { continue }
      states[index].note(count, isKnown: true, evidence, processes: processes)
    }
  }

  /// The expectations of one measure that may be about a caller and an item, and whether they are.
  private mutating func statesMeant(
    _ measure: Expectation.Measure, _ item: LoggedItem, by caller: LoggedCaller
  ) -> [(index: Int, isKnown: Bool)] {
    guard states.contains(where: { $0.expectation.measure == measure }), caller.trigger != .command,
      caller.trigger != .eager, caller.trigger != .coordinate
    else { return [] }
    let isOfRun = processes.isOfRun(caller.process, root: ending.runRoot)
    guard isOfRun != .no else { return [] }
    return states.indices.compactMap { index in
      guard states[index].expectation.measure == measure else { return nil }
      let isMeant = isOfRun.and(
        states[index].conditions.hold(item, caller, processes: processes, root: ending.runRoot))
      return isMeant == .no ? nil : (index, isMeant == .yes)
    }
  }

  // MARK: - Lookups

  /// A lookup that had to wait was answered.
  mutating func lookedUp(_ json: JSONObject, _ evidence: ExpectationState.Evidence, blocked: Int64) {
    guard lookups != nil else { return }
    var found = evidence
    let directory = evidence.item.path
    found.item = LoggedItem()
    found.item.kind =
      switch json.string("found") {
      case "directory": .directory
      case "file": .file
      default: nil
      }
    found.item.path = directory.flatMap { directory in
      json.name("name", "name_b64").map { directory.isEmpty ? $0 : directory + [PathBytes.slash] + $0 }
    }
    let meant = statesMeant(.forbidUnneededBlocking, found.item, by: evidence.caller)
    guard !meant.isEmpty else { return }
    guard found.item.kind != nil || json.string("found") == "absent" else {
      for (index, _) in meant { states[index].add(possible: 1) }
      return
    }
    lookups?.lookedUp(json, in: directory, blocked: blocked, LookupJudge.Asker(evidence: found, states: meant))
  }

  /// Counts what nothing has followed to the end.
  mutating func settleLookups() {
    guard let lookups else { return }
    for lookup in lookups.left {
      for (index, isKnown) in lookup.asker.states {
        states[index].count(
          lookup.count, isKnown: isKnown && !lookup.isDoubtful, withLateStack(lookup.asker.evidence),
          processes: processes)
      }
    }
    // What is beyond the limit of what is kept may be of any.
    guard lookups.untold > 0 else { return }
    for index in states.indices where states[index].expectation.measure == .forbidUnneededBlocking {
      states[index].add(possible: lookups.untold)
    }
  }

  // MARK: - Writes beside others

  /// A process wrote to a file that another one had open, or may have had.
  mutating func wroteTogether(_ write: WritesTogether.Write, _ record: LogRecord) {
    var (item, caller) = (LoggedItem(record.json), LoggedCaller(record.json))
    // The record has neither, as it can be of nothing else.
    item.kind = .file
    caller.trigger = .write
    let evidence = ExpectationState.Evidence(
      item: item, caller: caller, other: write.other, time: record.time, monotonic: record.monotonicNanoseconds)
    for (index, isKnown) in statesMeant(.maxTogether, item, by: caller) {
      states[index].count(1, isKnown: isKnown && write.isKnown, evidence, processes: processes)
    }
  }
}

/// Which lookups nothing has followed, and which expectations they may be about.
struct LookupJudge: Sendable {
  struct Asker: Sendable {
    var evidence: ExpectationState.Evidence
    /// By their indices, and whether they are known to be meant.
    var states: [(index: Int, isKnown: Bool)]
  }

  private var unfollowed = UnfollowedLookups<Asker>()
  private var opens = WatchedOpens()

  /// Takes note of a record. - Parameter path: Of the item of its attempt.
  mutating func note(_ record: LogRecord, path: [UInt8]?) {
    opens.note(record)
    unfollowed.note(record, path: path)
  }

  mutating func lookedUp(_ json: JSONObject, in directory: [UInt8]?, blocked: Int64, _ asker: Asker) {
    unfollowed.lookedUp(json, in: directory, blocked: blocked) { _ in asker }
  }

  var left: [UnfollowedLookups<Asker>.Lookup] { unfollowed.left(opensAreTold: opens.areAllTold) }

  /// Lookups that were told and not kept.
  var untold: Int64 { unfollowed.untold }
}
