internal import SystemPackage

/// Local content of a file that came, or comes, in ranges.
///
/// What is in `ranges` was read from the listed version, and is never written with other bytes: a transfer checks the
/// version after it has read and before it writes. So transfers of one content may overlap, and may outlive their
/// attempt; only the space may not be given to another file before the last of them has ended.
struct RangedContent {
  /// The unit of partial content: a page, and what the Cloud Files API rounds to.
  static let unit: Int64 = 4096

  let id: UInt64
  let reference: ContentID
  let size: Int64
  var ranges = ByteRangeSet()
  /// Transfers that may write.
  var transfers = 0
  /// Whether its file is counted: among all that was materialized, and against the budgets.
  var isCounted = false
  var isCharged = false

  /// Whether all is there.
  var isComplete: Bool { ranges.contains(0..<size) }
}

/// A transfer's hold on a ranged content, which keeps its space from being used for another.
struct TransferLease {
  let id: UInt64
  let node: NodeIndex
  let reference: ContentID
}

extension Engine {
  /// What is missing of an attempt's range, in the order in which it is to come; nil when the attempt has ended.
  func missingRanges(_ id: AttemptID) -> [Range<Int64>]? {
    var missing: [Range<Int64>] = []
    var first: Int64?
    var cursor: Int64? = 0
    while let from = cursor {
      // LIMIT: ranges looked at under one lock; there may be as many as the file has pages.
      let isThere: Bool = state.withLock { state in
        guard let attempt = state.attempts[id] else { return false }
        let range = attempt.range ?? 0..<attempt.size
        let rest = max(from, range.lowerBound)..<range.upperBound
        let part = state.contents.parts(of: attempt.node)?.ranges.missing(in: rest, limit: Self.missingStep) ?? [rest]
        missing += part
        cursor = part.count == Self.missingStep ? part.last.map { min($0.upperBound, range.upperBound) } : nil
        if attempt.range == nil, attempt.plan.hydration == .progressive { first = attempt.reach.firstOffset }
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
  func leaseContent(_ id: AttemptID, made: ContentID?, generation: UInt32 = 0) -> TransferLease? {
    state.withLock { state in
      guard let attempt = state.attempts[id] else { return nil }
      let number = state.contents.makeNumber()
      let shared = state.updateContent(of: attempt.node) { content in
        content.lease(generation: generation) {
          made.map { RangedContent(id: number, reference: $0, size: attempt.size) }
        }
      }
      return shared.map { TransferLease(id: $0.id, node: attempt.node, reference: $0.reference) }
    }
  }

  /// A range has arrived and is written.
  ///
  /// - Returns: False when the attempt has ended meanwhile: the transfer stops.
  func arrived(_ range: Range<Int64>, of id: AttemptID, in lease: TransferLease) -> Bool {
    let due: [Set<WaiterID>]? = state.withLock { state in
      guard let attempt = state.attempts[id], state.updateContent(of: lease.node, { $0.arrived(range, in: lease.id) })
      else {
        return nil
      }
      state.countArrival(attempt, bytes: Int64(range.count), now: timer.now)
      return state.attempts.takeWaiters(for: range, of: lease.node)
    }
    guard let due else { return false }
    for waiters in due {
      var rest = waiters.sorted { $0.rawValue < $1.rawValue }[...]
      while !rest.isEmpty {
        let part = rest.prefix(Self.servedAtOnce)
        rest = rest.dropFirst(Self.servedAtOnce)
        perform(state.withLock { $0.serve(part, of: lease.node, timer.now) })
      }
    }
    return true
  }

  /// Everything the attempt asked for is there.
  func rangesArrived(_ id: AttemptID, storeTime: Nanoseconds) {
    let actions: [Action] = state.withLock { state in
      guard let attempt = state.attempts[id] else { return [] }
      let now = timer.now
      state.charge(attempt, bytes: 0, now)
      return state.finish(attempt, AttemptEnd(outcome: .ok, storeTime: storeTime), now: now)
    }
    perform(actions)
  }

  /// A transfer will not write any more.
  func endTransfer(_ lease: TransferLease) {
    let actions: [Action] = state.withLock { state in
      if state.updateContent(of: lease.node, { $0.endTransfer(in: lease.id) }) { return [] }
      let left = state.contents.endTransfer(in: lease.id)
      return left.flatMap { state.removable($0.reference, of: lease.node) }.map { [.remove($0)] } ?? []
    }
    perform(actions)
  }
}

extension TriggerRequest {
  /// Whether the caller asked for some bytes of a file; if not, for the file.
  var namesRange: Bool { (offset ?? -1) >= 0 && (length ?? 0) > 0 }

  /// What the caller asked for, within a file: all of it for whatever names no range, its last byte for a range beyond
  /// the end.
  func range(inSize size: Int64) -> Range<Int64> {
    guard namesRange, let offset, let length else { return 0..<size }
    let end = min(offset.addingReportingOverflow(length).partialValue, size)
    return end > offset ? offset..<end : size - 1..<size
  }
}

extension Range<Int64> {
  /// The range in whole units of partial content, within a file.
  func aligned(inSize size: Int64) -> Range<Int64> {
    let unit = RangedContent.unit
    let rest = upperBound % unit
    // Sizes may be absurd, up to the largest number: no sum that could be larger.
    let isLast = rest > 0 && size - upperBound <= unit - rest
    let end = isLast ? size : rest == 0 ? upperBound : upperBound - rest + unit
    return lowerBound / unit * unit..<end
  }

  /// Whether another range lies in this one.
  func contains(_ other: Range<Int64>) -> Bool {
    lowerBound <= other.lowerBound && other.upperBound <= upperBound
  }
}
