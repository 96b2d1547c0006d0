import DatalessCore
import TestSupport
import Testing

@testable import DatalessDaemon

@Suite struct LogRingTests {
  private let time = MonotonicTime(nanoseconds: 5)

  private func push(_ ring: inout LogRing, _ count: Int) -> Int {
    (0..<count).filter { _ in ring.push(.runStarted(command: [], isWithheld: false, pid: 1), time: time) != nil }.count
  }

  private func pop(_ ring: inout LogRing, _ limit: Int) -> [(number: UInt64, lost: UInt64)] {
    var batch: [LogRing.Entry] = []
    ring.pop(into: &batch, limit: limit)
    return batch.map { entry in
      if case .dropped(let count) = entry.record { return (entry.number, count) }
      return (entry.number, 0)
    }
  }

  @Test func numbersFollowEachOther() {
    var ring = LogRing(capacity: 4)
    for round in 0..<10 {
      #expect(push(&ring, 3) == 3)
      #expect(pop(&ring, 10).map(\.number) == (1...3).map { UInt64(round * 3 + $0) })
    }
    #expect(ring.dropped == 0 && ring.count == 0 && ring.lastNumber == 30)
  }

  @Test func aLossStandsInItsPlace() {
    var ring = LogRing(capacity: 4)
    #expect(push(&ring, 10) == 4)
    #expect(ring.dropped == 6)
    #expect(pop(&ring, 2).map(\.number) == [1, 2])
    #expect(push(&ring, 2) == 1)
    let rest = pop(&ring, 10)
    #expect(rest.map(\.number) == [3, 4, 10, 11, 12])
    #expect(rest.map(\.lost) == [0, 0, 6, 0, 1])
    #expect(ring.dropped == 7)
  }

  /// For any order of pushes and pops: numbers only grow, and every missing number is counted by the loss behind it.
  @Test(arguments: TestSeed.first(50)) func everyNumberIsAccountedFor(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var ring = LogRing(capacity: Int.random(in: 1...5, using: &random))
    var last: UInt64 = 0
    var lost: UInt64 = 0
    func check(_ popped: [(number: UInt64, lost: UInt64)]) {
      for (number, count) in popped {
        #expect(number == last + max(count, 1), "seed \(seed)")
        last = number
        lost += count
      }
    }
    for _ in 0..<500 {
      if Bool.random(using: &random) {
        _ = push(&ring, Int.random(in: 1...4, using: &random))
      } else {
        check(pop(&ring, Int.random(in: 1...4, using: &random)))
      }
    }
    check(pop(&ring, 100))
    #expect(last == ring.lastNumber && lost == ring.dropped && ring.count == 0, "seed \(seed)")
  }
}
