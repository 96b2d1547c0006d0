import DatalessCore

/// What becomes local, and what becomes of it.
extension Expectations {
  /// An attempt has ended.
  mutating func arrived(_ attempt: Attempt, _ id: UInt64, record: LogRecord) {
    let bytes = max(0, record.json.integer("bytes") ?? 0)
    let isOK = record.outcome ?? "ok" == "ok"
    let isDirectory = attempt.item.kind == .directory
    if !isOK, record.json.string("message").flatMap(VolumeEndMessage.init) != nil { cutShort(attempt, bytes: bytes) }
    // What came before a failure stays, and counts.
    guard isOK || (!isDirectory && bytes > 0) else { return }
    let path = attempt.item.path
    let isNew = isDirectory || path.map { history.arrived($0, isWhole: isOK && !attempt.isRange) } ?? true
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
        guard let path, isNew else { continue }
        states[index].note(max(1, history.times(path)) - 1, isKnown: isKnown, evidence, processes: processes)
      case .maxNeedless:
        guard let row = attempt.row, needlessCallers[index]?[row]?.isKnown != true else { continue }
        needlessCallers[index, default: [:]][row] = Fetched(
          item: attempt.item, caller: evidence.caller, isKnown: isKnown, attempt: id, stack: evidence.stack,
          time: evidence.time, monotonic: evidence.monotonic)
      case .baseline:
        guard let path, let kind = attempt.item.kind else {
          states[index].add(possible: 1)
          continue
        }
        guard baseline?.touch(kind, path, names: attempt.item.names) == false else { continue }
        states[index].count(1, isKnown: isKnown, evidence, processes: processes)
      default: break
      }
    }
  }

  /// The volume has ended before an attempt did: it might have brought what it was for, to whoever had waited for it.
  private mutating func cutShort(_ attempt: Attempt, bytes: Int64) {
    for index in states.indices where attempt.callers[index] != nil || attempt.possible.contains(index) {
      switch states[index].expectation.measure {
      case .maxFiles where attempt.item.kind != .directory && bytes == 0: states[index].add(cutShort: 1)
      case .maxDirectories where attempt.item.kind == .directory: states[index].add(cutShort: 1)
      case .maxBytes: states[index].add(cutShort: max(0, (attempt.item.size ?? 0).minus(bytes)))
      case .baseline where bytes == 0: states[index].add(cutShort: 1)
      default: break
      }
    }
  }

  /// SOURCE is not what the volume knew: what has the path now is another version, or another file.
  mutating func changed(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return }
    let change = json.string("change")
    if change == "kept" || (change == "changed" && json.bool("metadata_only") == true) { return }
    if change == "renamed", let old = json.name("old_path", "old_path_b64") {
      history.renamedInSource(old, to: path, isDirectory: json.string("kind") == "directory")
    } else {
      history.left(path)
    }
  }

  /// A program has made, removed or moved a name on the volume.
  mutating func changedHere(_ record: LogRecord) {
    let json = record.json
    guard let path = json.path else { return }
    guard let old = json.name("old_path", "old_path_b64") else { return history.left(path) }
    history.renamed(
      old, to: path, isExchange: json.bool("exchange") == true, isDirectory: json.string("kind") == "directory")
  }
}
