internal import SystemPackage

/// Local content of a file that came, or comes, in ranges.
///
/// What is in `ranges` was read from the listed version, and is never written with other bytes: a transfer checks the version
/// after it has read and before it writes. So transfers of one content may overlap, and may outlive their attempt; only the
/// space may not be given to another file before the last of them has ended.
struct RangedContent {
  let id: UInt64
  let reference: ContentReference
  let size: Int64
  var ranges = ByteRangeSet()
  /// Transfers that may write.
  var transfers = 0
  /// Whether its file is counted: among all that was materialized, and against the budgets.
  var isCounted = false
  var isCharged = false
}

/// A transfer's share of a ranged content.
struct RangedShare {
  let id: UInt64
  let node: Int
  let reference: ContentReference
}

extension EngineState {
  /// The unit of partial content: a page, and what the Cloud Files API rounds to.
  static let rangeUnit: Int64 = 4096

  /// What a caller asked for, within the file: all of it for whatever names no range, its last byte for a range beyond the end.
  static func wanted(_ request: TriggerRequest, size: Int64) -> Range<Int64> {
    guard let offset = request.offset, let length = request.length, offset >= 0, length > 0 else { return 0..<size }
    let end = min(offset.addingReportingOverflow(length).partialValue, size)
    return end > offset ? offset..<end : size - 1..<size
  }

  /// A range in whole units, within the file.
  static func aligned(_ range: Range<Int64>, size: Int64) -> Range<Int64> {
    let rest = range.upperBound % rangeUnit
    // Sizes may be absurd, up to the largest number: no sum that could be larger.
    let isLast = rest > 0 && size - range.upperBound <= rangeUnit - rest
    let end = isLast ? size : rest == 0 ? range.upperBound : range.upperBound - rest + rangeUnit
    return range.lowerBound / rangeUnit * rangeUnit..<end
  }

  /// The content that has a range of a file that is not resident; nil unless all of the range is there.
  func rangedContent(_ position: Int, has range: Range<Int64>) -> ContentReference? {
    // Nearly every volume has none.
    guard !ranged.isEmpty, let content = ranged[position], content.ranges.contains(range) else { return nil }
    return content.reference
  }

  /// The attempt in flight that a trigger joins.
  func attempt(for position: Int, _ request: TriggerRequest) -> UInt64? {
    if let whole = attemptOfNode[position] { return whole }
    guard !rangeAttempts.isEmpty, let parts = rangeAttempts[position] else { return nil }
    return parts.attempt(with: Self.wanted(request, size: catalog.inodes[position].size))
  }

  /// Files an attempt under its node.
  mutating func enter(_ attempt: Attempt) {
    if let range = attempt.range {
      rangeAttempts[attempt.node, default: RangeAttempts()].insert(attempt.id, range)
    } else {
      attemptOfNode[attempt.node] = attempt.id
    }
  }

  /// Puts a caller into an attempt, and under the page that he waits for, if he may be answered before its end.
  mutating func place(_ waiter: Waiter, at attempt: Attempt) {
    attemptOfWaiter[waiter.id] = WaiterPlace(attempt: attempt.id, slot: attempt.waiters.append(waiter))
    guard attempt.plan.hydration != .full else { return }
    let wanted = Self.wanted(waiter.request, size: attempt.size)
    let last = ranged[attempt.node].map { $0.ranges.lastMissing(in: wanted) } ?? wanted.upperBound - 1
    if let last { expect(last, waiter.id, attempt.node) }
  }

  /// Files a waiter under the page with an offset: he is looked at when it arrives.
  private mutating func expect(_ offset: Int64, _ waiter: WaiterID, _ node: Int) {
    let page = offset / Self.rangeUnit
    attemptOfWaiter[waiter]?.page = page
    pageWaiters[node, default: PageWaiters()].insert(waiter, at: page)
  }

  /// The attempt has ended: what its node is now, and what is to be removed.
  mutating func settle(_ attempt: Attempt, _ isOk: Bool) -> [Action] {
    let node = attempt.node
    if attemptOfNode[node] == attempt.id { attemptOfNode[node] = nil }
    if let range = attempt.range {
      rangeAttempts[node]?.remove(attempt.id, range)
      if rangeAttempts[node]?.isEmpty == true { rangeAttempts[node] = nil }
    }
    if attemptOfNode[node] == nil, rangeAttempts[node] == nil { pageWaiters[node] = nil }
    guard attempt.isRanged else {
      catalog.setState(isOk ? .resident : .dataless, of: node)
      return []
    }
    let isBusy = attemptOfNode[node] != nil || rangeAttempts[node] != nil
    guard let content = ranged[node] else {
      // Nothing has come yet, or an attempt beside this one has completed the file.
      if catalog.inodes[node].state != .resident { catalog.setState(isBusy ? .materializing : .dataless, of: node) }
      return []
    }
    if content.ranges.contains(0..<content.size) {
      // Not once more when an attempt beside this one has completed it: `present.ctime` would move again.
      if catalog.inodes[node].state != .resident { catalog.setState(.resident, of: node) }
      catalog.setPartialBlocks(nil, of: node)
      if content.transfers == 0, !isBusy { ranged[node] = nil }
      return []
    }
    if isBusy {
      catalog.setState(.materializing, of: node)
    } else if content.ranges.isEmpty {
      catalog.setState(.dataless, of: node)
      return retire(node)
    } else {
      catalog.setState(.partial, of: node)
    }
    return []
  }

  /// Takes the content from its file. It is removed when no transfer can write to it any more.
  mutating func retire(_ node: Int) -> [Action] {
    guard let content = ranged.removeValue(forKey: node) else { return [] }
    catalog.inodes[node].payload = 0
    catalog.setPartialBlocks(nil, of: node)
    guard content.transfers > 0 else { return [.remove(content.reference, size: content.size)] }
    retired[content.id] = content
    return []
  }

  /// Answers those of some waiters whose ranges are there; the others wait for the last page that they miss.
  mutating func serve(_ waiters: some Sequence<WaiterID>, of node: Int, _ now: MonotonicTime) -> [Action] {
    guard let content = ranged[node] else { return [] }
    var actions: [Action] = []
    for id in waiters {
      guard let place = attemptOfWaiter[id], let attempt = attempts[place.attempt],
        let waiter = attempt.waiters[place.slot], waiter.id == id
      else { continue }
      if let last = content.ranges.lastMissing(in: Self.wanted(waiter.request, size: content.size)) {
        expect(last, id, node)
        continue
      }
      attemptOfWaiter[id] = nil
      _ = attempt.waiters.remove(at: place.slot)
      actions += noteCallers(of: attempt, -1)
      // One that has not begun to fetch is spared its waiter by another one.
      if attempt.stage == .fetching { attempt.hasServed = true }
      if waiter.request.caller.isBudgeted { charge(attempt, 0, now) }
      let record = waitRecord(attempt.id, waiter, .ok, now)
      events.record(.waitFinished(record))
      if attempt.departed.count < 64 { attempt.departed.append(record) }
      actions.append(.complete(waiter, .ready))
      if attempt.waiters.isEmpty, !attempt.hasServed {
        if let job = attempt.job { actions.append(.cancel(job)) }
        let end = AttemptEnd(outcome: .cancelled, message: "another attempt has brought what was asked for")
        actions += finish(attempt, end, now)
      }
    }
    return actions
  }
}

extension Engine {
  /// What is missing of an attempt's range, in the order in which it is to come; nil when the attempt has ended.
  func missingRanges(_ id: UInt64) -> [Range<Int64>]? {
    var missing: [Range<Int64>] = []
    var first: Int64?
    var cursor: Int64? = 0
    while let from = cursor {
      // LIMIT: ranges looked at under one lock; there may be as many as the file has pages.
      let isThere: Bool = state.withLock { state in
        guard let attempt = state.attempts[id] else { return false }
        let range = attempt.range ?? 0..<attempt.size
        let rest = max(from, range.lowerBound)..<range.upperBound
        let part = state.ranged[attempt.node]?.ranges.missing(in: rest, limit: Self.missingStep) ?? [rest]
        missing += part
        cursor = part.count == Self.missingStep ? part.last.map { min($0.upperBound, range.upperBound) } : nil
        if attempt.range == nil, attempt.plan.hydration == .progressive { first = attempt.firstOffset }
        return true
      }
      guard isThere else { return nil }
    }
    guard let start = first else { return missing }
    // From the first caller's offset on, then from the start.
    let after = missing.compactMap { $0.upperBound > start ? max($0.lowerBound, start)..<$0.upperBound : nil }
    return after + missing.compactMap { $0.lowerBound < start ? $0.lowerBound..<min($0.upperBound, start) : nil }
  }

  private static let missingStep = 512
  /// LIMIT: waiters looked at under one hold of the lock.
  private static let servedAtOnce = 64

  /// Lets a transfer write to its file's ranged content.
  ///
  /// - Parameters:
  ///   - made: Room for the content, if the file had none; it becomes the file's, unless another transfer came first.
  ///   - generation: Of the item that it is fetched from.
  /// - Returns: nil when the attempt has ended, or when there is no content yet and `made` is nil.
  func shareContent(_ id: UInt64, made: ContentReference?, generation: UInt32 = 0) -> RangedShare? {
    state.withLock { state in
      guard let attempt = state.attempts[id] else { return nil }
      let node = attempt.node
      if state.ranged[node] == nil {
        guard let made else { return nil }
        state.ranged[node] = RangedContent(id: state.nextRanged, reference: made, size: attempt.size)
        state.nextRanged += 1
        state.catalog.inodes[node].payload = made.rawValue
        state.catalog.inodes[node].generation = generation
      }
      state.ranged[node]?.transfers += 1
      return state.ranged[node].map { RangedShare(id: $0.id, node: node, reference: $0.reference) }
    }
  }

  /// A range has arrived and is written.
  ///
  /// - Returns: False when the attempt has ended meanwhile: the transfer stops.
  func arrived(_ id: UInt64, _ share: RangedShare, _ range: Range<Int64>) -> Bool {
    let due: [Set<WaiterID>]? = state.withLock { state in
      guard let attempt = state.attempts[id], state.ranged[share.node]?.id == share.id else { return nil }
      state.ranged[share.node]?.ranges.insert(range)
      state.countArrival(attempt, Int64(range.count), timer.now)
      let count = state.ranged[share.node]?.ranges.count ?? 0
      state.catalog.setPartialBlocks((count / 4096 + (count % 4096 == 0 ? 0 : 1)) * 8, of: share.node)
      return state.pageWaiters[share.node]?.take(range) ?? []
    }
    guard let due else { return false }
    for waiters in due {
      var rest = waiters.sorted { $0.rawValue < $1.rawValue }[...]
      while !rest.isEmpty {
        let part = rest.prefix(Self.servedAtOnce)
        rest = rest.dropFirst(Self.servedAtOnce)
        perform(state.withLock { $0.serve(part, of: share.node, timer.now) })
      }
    }
    return true
  }

  /// Everything the attempt asked for is there.
  func rangesArrived(_ id: UInt64, storeNanoseconds: Int64) {
    let actions: [Action] = state.withLock { state in
      guard let attempt = state.attempts[id] else { return [] }
      let now = timer.now
      state.charge(attempt, 0, now)
      return state.finish(attempt, AttemptEnd(outcome: .ok, storeNanoseconds: storeNanoseconds), now)
    }
    perform(actions)
  }

  /// A transfer will not write any more.
  func endTransfer(_ share: RangedShare) {
    let actions: [Action] = state.withLock { state in
      if state.ranged[share.node]?.id == share.id {
        state.ranged[share.node]?.transfers -= 1
        let isIdle = state.attemptOfNode[share.node] == nil && state.rangeAttempts[share.node] == nil
        if state.ranged[share.node]?.transfers == 0, isIdle, state.catalog.inodes[share.node].state == .resident {
          state.ranged[share.node] = nil
        }
        return []
      }
      state.retired[share.id]?.transfers -= 1
      guard let content = state.retired[share.id], content.transfers == 0 else { return [] }
      state.retired[share.id] = nil
      return [.remove(content.reference, size: content.size)]
    }
    perform(actions)
  }
}

extension Range<Int64> {
  /// Whether another range lies in this one.
  func contains(_ other: Range<Int64>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}
