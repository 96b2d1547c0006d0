import DatalessCore

/// Who waits, and who is not let wait.
extension Expectations {
  mutating func waitStarted(_ record: LogRecord) {
    waits.begin(record)
    guard let id = record.attempt, let attempt = attempts[id] else { return }
    attempts[id]?.waiting += 1
    let caller = LoggedCaller(record.json)
    asked(id, caller, record: record)
    if attempt.item.kind == .file { beginSerial(attempt.item, by: caller, record) }
  }

  mutating func waitFinished(_ record: LogRecord) {
    waits.end(record)
    if let blocked = record.json.integer("blocked_ns") {
      let attempt = record.attempt.flatMap { attempts[$0] } ?? Attempt(item: LoggedItem(), isRange: false)
      let evidence = evidence(attempt, record.attempt, by: LoggedCaller(record.json), record: record)
      waited(blocked, evidence)
      endSerial(evidence, blocked: blocked)
      if evidence.caller.trigger == .lookup, record.outcome == "ok" {
        lookedUp(record.json, evidence, blocked: blocked)
      }
    }
    guard let id = record.attempt else { return }
    attempts[id]?.waiting -= 1
    forget(id)
  }

  mutating func waited(_ nanoseconds: Int64, _ evidence: ExpectationState.Evidence) {
    let caller = evidence.caller
    let isOfRun = processes.isOfRun(caller.process, root: ending.runRoot)
    guard isOfRun != .no else { return }
    for index in states.indices {
      let measure = states[index].expectation.measure
      // An intent waits on a descriptor, and blocks no thread: it counts only for who asks for intents by name.
      if caller.trigger == .coordinate,
        measure != .maxWait || !states[index].expectation.match.triggers.contains(.coordinate)
      {
        continue
      }
      guard measure == .maxWait || (measure == .maxMainThread && caller.isMainThread != false) else { continue }
      let isMeant = isOfRun.and(
        states[index].conditions.hold(evidence.item, caller, processes: processes, root: ending.runRoot))
      guard isMeant != .no else { continue }
      let isThread = measure == .maxWait || caller.isMainThread == true
      states[index].note(nanoseconds, isKnown: isMeant == .yes && isThread, evidence, processes: processes)
    }
  }

  mutating func accessFinished(_ record: LogRecord) {
    if let number = record.json.unsigned("access") { accesses.remove(number) }
    guard let blocked = record.json.integer("blocked_ns") else { return }
    var evidence = evidence(
      Attempt(item: LoggedItem(record.json), isRange: false), nil, by: LoggedCaller(record.json), record: record)
    evidence.access = record.json.unsigned("access")
    evidence.operation = record.json.string("operation").flatMap { AccessOperation(rawValue: $0) }
    evidence.stack = evidence.wait.flatMap { accessStacks.removeValue(forKey: $0) }
    waited(blocked, evidence)
  }

  mutating func stackTold(_ record: LogRecord) {
    guard let stack = stacks.told(record), let wait = ViolationList.Wait(record.json) else { return }
    if wait.isAccess {
      if accesses.contains(wait.number) { accessStacks[wait] = stack }
    } else {
      if attempts[wait.number]?.stacks[wait.threadID]?.id == nil {
        attempts[wait.number]?.stacks[wait.threadID] = stack
      }
      let isAskedFor = !needlessCallers.isEmpty || lookups != nil
      if isAskedFor, attempts[wait.number]?.isFinished != false, lateStacks[wait]?.id == nil {
        lateStacks[wait] = stack
      }
    }
    for index in states.indices { states[index].told(stack: stack, of: wait) }
  }

  mutating func refused(_ record: LogRecord) {
    let caller = LoggedCaller(record.json)
    let isOfRun = processes.isOfRun(caller.process, root: ending.runRoot)
    guard isOfRun != .no else { return }
    let attempt = Attempt(item: LoggedItem(record.json), isRange: false)
    for index in states.indices where states[index].expectation.measure == .maxRefusals {
      let isMeant = isOfRun.and(
        states[index].conditions.hold(attempt.item, caller, processes: processes, root: ending.runRoot))
      guard isMeant != .no else { continue }
      states[index].count(
        1, isKnown: isMeant == .yes, evidence(attempt, nil, by: caller, record: record), processes: processes)
    }
  }
}
