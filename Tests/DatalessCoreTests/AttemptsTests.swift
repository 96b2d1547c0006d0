@testable import DatalessCore
import TestSupport
import Testing

/// `Attempts` beside lists of who waits for what: each caller is found where he waits, and answered once.
@Suite struct AttemptsTests {
  private static let page = RangedContent.unit
  private static let pages: Int64 = 24

  private struct Model {
    /// By waiter: his attempt, his file, and the pages that he wants; nil: he waits for the end.
    struct Wait {
      let attempt: AttemptID
      let node: UInt32
      var wanted: ClosedRange<Int64>?
    }
    var waits: [UInt64: Wait] = [:]
    /// Of attempts that have ended, not yet recorded.
    var ended: [UInt64: Wait] = [:]
  }

  private struct Pair {
    var attempts = Attempts()
    var model = Model()
    var running: [Attempt] = []
    var content: [UInt32: RangedContent] = [:]
    var lastWaiter: UInt64 = 0

    mutating func start(_ node: UInt32) {
      let next = attempts.startedCount + 1
      let attempt = attempts.start { AttemptTests.attempt($0.rawValue, node: node) }
      #expect(attempt.id.rawValue == next)
      running.append(attempt)
      content[node] =
        content[node]
        ?? RangedContent(
          id: UInt64(node), reference: ContentID(rawValue: 1), size: pages * page)
    }

    mutating func join(_ attempt: Attempt, _ random: inout TestRandom) {
      lastWaiter += 1
      let first = Int64(random.below(Int(pages)))
      let wanted = first...min(first + Int64(random.below(5)), pages - 1)
      let range = wanted.lowerBound * page..<(wanted.upperBound + 1) * page
      let waiter = AttemptTests.waiter(lastWaiter, offset: range.lowerBound, length: Int64(range.count))
      let node = attempt.node.rawValue
      // Content that is there is never waited for.
      let missing = random.oneIn(4) ? nil : content[node]?.ranges.lastMissing(in: range)
      attempts.join(waiter, attempt, missing: missing)
      model.waits[lastWaiter] = Model.Wait(attempt: attempt.id, node: node, wanted: missing == nil ? nil : wanted)
    }

    mutating func arrive(_ node: UInt32, _ arrived: Range<Int64>) -> [UInt64] {
      // Who is only to be recorded is not filed again.
      for (waiter, wait) in model.ended where wait.node == node && filedPage(wait).map(arrived.contains) ?? false {
        model.ended[waiter]?.wanted = nil
      }
      content[node]?.ranges.insert(arrived.lowerBound * page..<arrived.upperBound * page)
      guard let parts = content[node] else { return [] }
      let range = arrived.lowerBound * page..<arrived.upperBound * page
      var served: [UInt64] = []
      for waiter in attempts.takeWaiters(for: range, of: NodeIndex(rawValue: node)).joined() {
        guard let (attempt, answered) = attempts.serve(waiter, from: parts, of: NodeIndex(rawValue: node)) else {
          continue
        }
        #expect(answered.id == waiter && attempt.id == model.waits[waiter.rawValue]?.attempt)
        served.append(waiter.rawValue)
      }
      return served.sorted()
    }

    func isThere(_ wait: Model.Wait) -> Bool {
      guard let wanted = wait.wanted, let parts = content[wait.node] else { return false }
      return parts.ranges.contains(wanted.lowerBound * page..<(wanted.upperBound + 1) * page)
    }

    mutating func end(_ attempt: Attempt) {
      attempts.end(attempt)
      running.removeAll { $0 === attempt }
      for case let waiter? in attempt.takeWaiters() {
        let wait = model.waits.removeValue(forKey: waiter.id.rawValue)
        #expect(wait?.attempt == attempt.id)
        model.ended[waiter.id.rawValue] = wait
      }
      #expect(model.waits.values.allSatisfy { $0.attempt != attempt.id })
    }

    /// The waits of what has ended are recorded.
    mutating func forget(_ seed: UInt64) {
      for (waiter, wait) in model.ended {
        #expect(attempts.waiter(WaiterID(rawValue: waiter)) == nil, "seed \(seed)")
        attempts.forget(WaiterID(rawValue: waiter), of: NodeIndex(rawValue: wait.node))
      }
      model.ended = [:]
      // What nobody works on is evicted, and comes anew.
      content = content.filter { file in running.contains { $0.node.rawValue == file.key } }
    }

    /// The page under which a caller is found: the last that he misses.
    private func filedPage(_ wait: Model.Wait) -> Int64? {
      guard let wanted = wait.wanted, let parts = content[wait.node] else { return nil }
      return parts.ranges.lastMissing(in: wanted.lowerBound * page..<(wanted.upperBound + 1) * page).map { $0 / page }
    }

    private func pageCount(_ node: UInt32) -> Int {
      let waits = Array(model.waits.values) + Array(model.ended.values)
      return Set(waits.compactMap { $0.node == node ? filedPage($0) : nil }).count
    }

    func check(_ seed: UInt64) {
      for node in 2...4 as ClosedRange<UInt32> {
        #expect(attempts.pageCount(of: NodeIndex(rawValue: node)) == pageCount(node), "seed \(seed)")
      }
      #expect(attempts.count == running.count && attempts.waiterCount == model.waits.count + model.ended.count)
      #expect(Set(attempts.ids) == Set(running.map(\.id)), "seed \(seed)")
      for (waiter, wait) in model.waits {
        #expect(attempts.waiter(WaiterID(rawValue: waiter))?.id.rawValue == waiter, "seed \(seed)")
        #expect(attempts[wait.attempt] != nil, "seed \(seed)")
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func everyCallerIsFoundAndAnsweredOnce(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    var pair = Pair()
    for _ in 0..<3_000 {
      let attempt = pair.running.isEmpty ? nil : random.element(of: pair.running)
      switch random.below(10) {
      case 0: pair.start(2 + UInt32(random.below(3)))
      case 1...4: if let attempt { pair.join(attempt, &random) }
      case 5:
        let id = UInt64(random.below(Int(pair.lastWaiter) + 2))
        let left = pair.attempts.leave(WaiterID(rawValue: id))
        let wait = pair.model.waits.removeValue(forKey: id)
        #expect(left?.waiter.id.rawValue == wait.map { _ in id } && left?.attempt.id == wait?.attempt, "seed \(seed)")
      case 6, 7:
        let node = 2 + UInt32(random.below(3))
        let first = Int64(random.below(Int(Self.pages)))
        let served = pair.arrive(node, first..<min(first + 1 + Int64(random.below(2)), Self.pages))
        let due = pair.model.waits.filter { $0.value.node == node && pair.isThere($0.value) }.keys.sorted()
        #expect(served == due, "seed \(seed)")
        for waiter in served { pair.model.waits[waiter] = nil }
      case 8:
        // All of them now and then, so that their files come anew.
        for attempt in random.oneIn(4) ? pair.running : attempt.map({ [$0] }) ?? [] { pair.end(attempt) }
      default: pair.forget(seed)
      }
      pair.check(seed)
    }
    for attempt in pair.running { pair.end(attempt) }
    pair.forget(seed)
    for node in 2...4 as ClosedRange<UInt32> {
      #expect(pair.attempts.pageCount(of: NodeIndex(rawValue: node)) == 0, "seed \(seed)")
      pair.attempts.forgetPages(of: NodeIndex(rawValue: node))
    }
    #expect(pair.attempts.isIdle, "seed \(seed)")
  }
}
