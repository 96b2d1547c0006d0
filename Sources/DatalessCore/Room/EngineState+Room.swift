internal import SystemPackage

/// What local content may be added, and what may go for it.
extension EngineState {
  // MARK: - Attempts

  /// Whether there is room for what an attempt brings in, which is kept for it then. If not, it waits.
  mutating func claimRoom(for attempt: Attempt, _ now: MonotonicTime) -> Bool {
    guard room.isLimited, attempt.kind == .file else { return true }
    return room.claim(
      attempt.id, missingBytes(of: attempt), isEager: attempt.isEager, used: localBytes(), at: now)
  }

  /// What an attempt adds at most, in bytes.
  private func missingBytes(of attempt: Attempt) -> Int64 {
    let parts = contents.parts(of: attempt.node)
    guard let range = attempt.range else { return Room.pages(attempt.size - (parts?.ranges.count ?? 0)) }
    // A slot is made in one piece; in a file of its own come the pages that are asked for.
    let isSmall = attempt.size <= Self.slotMax
    if isSmall { return parts == nil ? Room.pages(attempt.size) : 0 }
    return Room.pages(Int64(range.count))
  }

  /// Content up to this size lies in a slot, as `ContentStore` has it.
  static var slotMax: Int64 { 128 << 10 }

  /// An attempt has ended: what it has brought may go from now on, and the rest of its room is free.
  mutating func endRoom(of attempt: Attempt, _ end: AttemptEnd) -> [Action] {
    guard attempt.kind == .file else { return [] }
    // What a policy fetches early nobody has used.
    if end.outcome == .ok, !attempt.isEager { namespace.noteUse(room.nextUse(), of: attempt.node) }
    guard room.isLimited else { return [] }
    room.release(.attempt(attempt.id))
    room.noteEvictable()
    return room.isShort(used: localBytes()) ? [.settleRoom] : []
  }

  /// Somebody waits for an attempt by now.
  mutating func prefer(_ attempt: Attempt) {
    slots.prefer(attempt.id)
    room.prefer(attempt.id)
  }

  /// A file was closed. - Returns: Whether it may be what is waited for.
  mutating func noteClosed() -> Bool {
    guard room.isLimited, room.isShort(used: localBytes()) else { return false }
    room.noteEvictable()
    return true
  }

  /// Lets attempts go on for which there is room, and ends those for which there will be none.
  mutating func goOn(_ settlement: Room.Settlement, _ now: MonotonicTime) -> [Action] {
    var actions: [Action] = []
    for id in settlement.granted {
      guard let attempt = attempts[id], attempt.stage == .room else {
        room.release(.attempt(id))
        continue
      }
      attempt.fetch(now)
      actions.append(.fetch(id))
    }
    for id in settlement.failed {
      guard let attempt = attempts[id], attempt.stage == .room else { continue }
      let error = room.noRoom
      let end = AttemptEnd(outcome: .failed(error.errno), message: error.message, rule: "quota")
      actions += finish(attempt, end, now: now)
    }
    return actions + settlement.calls.map { .call($0) }
  }

  // MARK: - What may go

  /// Whether a file may be evicted for room: it is local and clean, and nobody uses it.
  func mayGo(_ node: NodeIndex) -> Bool {
    let record = namespace[node]
    guard record.kind == .file, record.canBeDataless, record.state == .resident || record.state == .partial,
      !record.isDirty, !record.isOrphan, record.linkCount <= 1, openFiles.count(of: node) == 0
    else { return false }
    guard !pageDrops.isUnderWay(of: namespace.id(of: node)), !content(of: node).isBeingWritten else { return false }
    guard writing == .readOnly || namespace.binding(of: node) != nil else { return false }
    return !policy(of: node).keepsContent
  }

  /// What can be done with a file for room now.
  func standing(of node: NodeIndex) -> PurgeOrder.Stage {
    let stage = stage(of: node)
    switch stage {
    case .keep: return .keep
    case .evict: return mayGo(node) ? stage : .keep
    // Names of a read-only volume are the store's: content goes in the same order.
    case .purge: return (writing == .readOnly ? mayGo(node) : mayPurge(node)) ? stage : .keep
    }
  }

  /// Where a file stands among those that may go for room; nil: it stays.
  private func rank(of node: NodeIndex) -> Int64? {
    switch standing(of: node) {
    case .keep: nil
    case .evict: PurgeOrder.evictionRank
    case .purge(_, let rank): rank
    }
  }

  /// What the eviction of a file gives back, in bytes.
  func localBytes(of node: NodeIndex) -> Int64 {
    let record = namespace[node]
    // What was written here may have holes, as files do that are made larger; a disk may have put aside more for it.
    if record.isDirty { return min(Room.pages(record.size), Room.pages(max(0, record.blocks) * 512)) }
    guard record.state != .resident else { return Room.pages(record.size) }
    return Room.pages(contents.parts(of: node)?.ranges.count ?? 0)
  }

  /// Looks at some items, from one on, and offers those that may go.
  ///
  /// - Returns: Where to go on; nil at the end.
  mutating func offerSome(from start: NodeIndex, limit: Int) -> NodeIndex? {
    if start == .root { room.beginScan() }
    let hasAreas = !simulation.areas.isEmpty
    var found: [NodeIndex] = []
    let next = namespace.visitNodes(from: start, limit: limit) { node, record in
      if record.kind == .file, record.isLocal, hasAreas || !record.isDirty { found.append(node) }
    }
    for node in found {
      guard let rank = rank(of: node) else { continue }
      room.offer(
        EvictionCandidates.Candidate(
          node: namespace.id(of: node), lastUse: namespace[node].lastUse, bytes: localBytes(of: node), rank: rank))
    }
    return next
  }

  /// Takes the files that go first, until their content is so much.
  ///
  /// - Parameter limit: Of files.
  mutating func takeFirst(_ bytes: Int64, limit: Int) -> [EvictionCandidates.Candidate] {
    var taken: [EvictionCandidates.Candidate] = []
    var left = bytes
    // LIMIT: candidates looked at under one lock.
    for _ in 0..<limit * 4 where left > 0 && taken.count < limit {
      guard let candidate = room.nextCandidate() else { break }
      guard let node = namespace.index(of: candidate.node), namespace[node].lastUse == candidate.lastUse,
        rank(of: node) == candidate.rank
      else { continue }
      taken.append(candidate)
      left -= candidate.bytes
    }
    return taken
  }

  // MARK: - Writes

  /// What a write to a range may add, in bytes.
  ///
  /// - Parameter hasOwnFile: As `ContentStore`.
  func growth(of node: NodeIndex, _ range: Range<Int64>, hasOwnFile: (ContentID) -> Bool) -> Int64 {
    let record = namespace[node]
    guard record.kind == .file else { return 0 }
    let isOwn = record.content == .none || hasOwnFile(record.content)
    // What lies in a slot is copied first.
    let copied = record.state == .resident && !isOwn ? Room.pages(record.size) : 0
    guard !range.isEmpty else { return copied }
    let start = range.lowerBound / Room.page * Room.page
    let isDense = record.isDirty && isOwn && record.blocks >= record.size / 512
    let first = isDense ? max(start, Room.pages(record.size)) : start
    return copied.saturatingAdd(max(0, Room.pages(range.upperBound) - first))
  }
}
