import DatalessCore

/// What becomes local, and what becomes of it.
extension Expectations {
  /// An attempt has ended.
  mutating func arrived(_ attempt: Attempt, _ id: UInt64, record: LogRecord) {
    let bytes = max(0, record.json.integer("bytes") ?? 0)
    let isOK = record.outcome ?? "ok" == "ok"
    let isDirectory = attempt.item.kind == .directory
    // What came before a failure stays, and counts.
    guard isOK || (!isDirectory && bytes > 0) else { return }
    let hash = attempt.item.path.map { PathHash.of($0) }
    let isNew = isDirectory || isFirst(hash, isWhole: isOK && !attempt.isRange)
    var evidence = evidence(
      attempt, id, by: LoggedCaller(process: nil, threadID: nil, isMainThread: nil, trigger: nil), record: record)
    for index in states.indices {
      let isKnown = attempt.callers[index] != nil
      guard isKnown || attempt.possible.contains(index) else { continue }
      if let caller = attempt.callers[index] { evidence = self.evidence(attempt, id, by: caller, record: record) }
      switch states[index].expectation.measure {
      case .maxFiles:
        // Where records are missing, there may have been some of it before.
        let isKnownNew = attempt.isFirst || !ending.hasGap
        states[index].count(isNew ? 1 : 0, isKnown: isKnown && isKnownNew, evidence, processes: processes)
      case .maxDirectories: states[index].count(1, isKnown: isKnown, evidence, processes: processes)
      case .maxBytes: states[index].count(bytes, isKnown: isKnown, evidence, processes: processes)
      case .maxRepeated:
        guard let hash, isNew else { continue }
        states[index].note((times[hash] ?? 1) - 1, isKnown: isKnown, evidence, processes: processes)
      case .maxNeedless:
        guard let hash, needlessCallers[index]?[hash]?.isKnown != true else { continue }
        needlessCallers[index, default: [:]][hash] = Fetched(
          item: attempt.item, caller: evidence.caller, isKnown: isKnown, attempt: id, stack: evidence.stack,
          time: evidence.time, monotonic: evidence.monotonic)
      case .baseline:
        guard let path = attempt.item.path, let kind = attempt.item.kind else {
          states[index].add(possible: 1)
          continue
        }
        guard baseline?.touch(kind, path) == false else { continue }
        states[index].count(1, isKnown: isKnown, evidence, processes: processes)
      default: break
      }
    }
  }

  /// Whether this is the first content of a file since it was dataless.
  private mutating func isFirst(_ hash: UInt64?, isWhole: Bool) -> Bool {
    guard let hash else { return true }
    if partial.contains(hash) { return false }
    if !isWhole { partial.insert(hash) }
    if states.contains(where: { $0.expectation.measure == .maxRepeated }) { times[hash, default: 0] += 1 }
    return true
  }

  /// SOURCE is not what the volume knew: what has the path now is another version, or another file.
  mutating func changed(_ record: LogRecord) {
    guard let path = record.json.path else { return }
    let change = record.json.string("change")
    if change == "kept" || (change == "changed" && record.json.bool("metadata_only") == true) { return }
    let hash = PathHash.of(path)
    if change == "renamed", let old = record.json.name("old_path", "old_path_b64") {
      let from = PathHash.of(old)
      times[hash] = times.removeValue(forKey: from)
      if partial.remove(from) != nil { partial.insert(hash) } else { partial.remove(hash) }
      for index in needlessCallers.keys {
        let caller = needlessCallers[index]?.removeValue(forKey: from)
        needlessCallers[index]?[hash] = caller
      }
      return
    }
    times[hash] = nil
    partial.remove(hash)
  }
}
