import DatalessCore
@testable import DatalessState
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// When changes are committed, together with which, and who is told.
@Suite struct CommitQueueTests {
  private static let change = StateChange.forgotten(own(node: 9, 9))

  private final class Told: Sendable {
    private let answers = Mutex<[String]>([])
    func completion(_ name: String) -> CommitQueue.Completion {
      { error in self.answers.withLock { $0.append(error == nil ? name : "\(name): \(error?.errno.rawValue ?? 0)") } }
    }
    func take() -> [String] {
      answers.withLock { answers in
        defer { answers = [] }; return answers
      }
    }
  }

  private static func number(_ value: UInt64) -> ChangeNumber { ChangeNumber(rawValue: value) }

  private static func answer(_ ended: (answers: [CommitQueue.Answer], step: CommitQueue.Step)) -> CommitQueue.Step {
    for answer in ended.answers { answer.completion(answer.error) }
    return ended.step
  }

  @Test func theFirstChangeStartsASecondAndTheOthersJoin() {
    var queue = CommitQueue()
    #expect(queue.append(Self.change, Self.number(1)) == .schedule)
    #expect(queue.append(Self.change, Self.number(2)) == .none)
    #expect(queue.timePassed() == .run)
    #expect(queue.append(Self.change, Self.number(3)) == .none)
    #expect(queue.begin().map(\.number.rawValue) == [1, 2, 3])
    #expect(Self.answer(queue.end(nil)) == .none)
    #expect(queue.count == 0)
    #expect(queue.append(Self.change, Self.number(4)) == .schedule)
  }

  @Test func whoWaitsHurriesAndThoseWhoComeMeanwhileShareTheNext() {
    var queue = CommitQueue()
    let told = Told()
    _ = queue.append(Self.change, Self.number(1))
    #expect(queue.wait(for: Self.number(1), isUrgent: true, told.completion("a")).step == .run)
    #expect(queue.begin().count == 1)
    _ = queue.append(Self.change, Self.number(2))
    #expect(queue.wait(for: Self.number(2), isUrgent: true, told.completion("b")).step == .none)
    _ = queue.append(Self.change, Self.number(3))
    #expect(queue.wait(for: Self.number(3), isUrgent: true, told.completion("c")).step == .none)
    #expect(Self.answer(queue.end(nil)) == .run)
    #expect(told.take() == ["a"])
    #expect(queue.begin().map(\.number.rawValue) == [2, 3])
    #expect(Self.answer(queue.end(nil)) == .none)
    #expect(told.take() == ["b", "c"])
    #expect(queue.wait(for: Self.number(3), isUrgent: true, told.completion("d")).isDone)
  }

  @Test func whoIsInNoHurryWaitsForTheSecond() {
    var queue = CommitQueue()
    let told = Told()
    _ = queue.append(Self.change, Self.number(1))
    #expect(queue.wait(for: Self.number(1), isUrgent: false, told.completion("a")).step == .none)
    #expect(queue.timePassed() == .run)
    _ = queue.begin()
    _ = Self.answer(queue.end(nil))
    #expect(told.take() == ["a"])
  }

  @Test func whatCouldBeCommittedBeforeAFailureIsDurable() {
    var queue = CommitQueue()
    let told = Told()
    for value in UInt64(1)...4 { _ = queue.append(Self.change, Self.number(value)) }
    for value in UInt64(1)...3 { _ = queue.wait(for: Self.number(value), isUrgent: true, told.completion("\(value)")) }
    _ = queue.begin()
    #expect(Self.answer(queue.end(FSError(.noSpace, "full"), committed: 2)) == .none)
    #expect(told.take() == ["1", "2", "3: 28"])
    #expect(queue.count == 2 && queue.durable == Self.number(2) && queue.failure?.errno == .noSpace)
    #expect(queue.timePassed() == .run)
    #expect(queue.begin().map(\.number.rawValue) == [3, 4])
    #expect(Self.answer(queue.end(nil)) == .none)
    #expect(queue.count == 0 && queue.failure == nil)
  }

  @Test func aFailureIsToldAndTriedAgainAndNothingIsLost() {
    var queue = CommitQueue()
    let told = Told()
    _ = queue.append(Self.change, Self.number(1))
    _ = queue.wait(for: Self.number(1), isUrgent: false, told.completion("removal"))
    _ = queue.wait(for: Self.number(1), isUrgent: true, told.completion("fsync"))
    _ = queue.begin()
    #expect(Self.answer(queue.end(FSError(.noSpace, "full"))) == .none)
    #expect(told.take() == ["fsync: 28"])
    #expect(queue.count == 1)
    #expect(queue.append(Self.change, Self.number(2)) == .none)
    #expect(queue.wait(for: Self.number(2), isUrgent: true, told.completion("again")).step == .run)
    #expect(queue.begin().map(\.number.rawValue) == [1, 2])
    #expect(Self.answer(queue.end(nil)) == .none)
    #expect(told.take() == ["removal", "again"])
  }

  @Test func manyChangesDoNotWaitForTheSecond() {
    var queue = CommitQueue()
    var steps: [CommitQueue.Step] = []
    for number in 1...UInt64(CommitQueue.batchLimit) { steps.append(queue.append(Self.change, Self.number(number))) }
    #expect(steps.first == .schedule && steps.last == .run && steps.filter { $0 == .none }.count == steps.count - 2)
    _ = queue.begin()
    // A full disk is not asked again and again.
    _ = Self.answer(queue.end(FSError(.noSpace, "full")))
    #expect(queue.append(Self.change, Self.number(20_000)) == .none)
  }

  @Test(arguments: TestSeed.seeds) func whoeverIsAnsweredIsDurable(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var queue = CommitQueue()
    let told = Told()
    var (last, committed, isRunning, isScheduled): (UInt64, UInt64, Bool, Bool) = (0, 0, false, false)
    var batch: [CommitQueue.Entry] = []
    var waiting = 0
    func obey(_ step: CommitQueue.Step) {
      if step == .schedule { isScheduled = true }
      if step == .run { #expect(!isRunning); isRunning = true }
    }
    for step in 0..<4000 {
      switch random.below(6) {
      case 0, 1:
        last += 1
        obey(queue.append(Self.change, Self.number(last)))
      case 2 where last > 0:
        let number = 1 + UInt64(random.below(Int(last)))
        let (isDone, next) = queue.wait(
          for: Self.number(number), isUrgent: random.oneIn(2), told.completion("\(number)"))
        #expect(isDone == (number <= committed), "seed \(seed), step \(step)")
        if !isDone { waiting += 1 }
        obey(next)
      case 3 where isScheduled:
        isScheduled = false
        obey(queue.timePassed())
      case 4 where isRunning && batch.isEmpty:
        batch = queue.begin()
        #expect(batch.map(\.number.rawValue) == (committed + 1...max(last, committed + 1)).filter { $0 <= last })
      case 5 where !batch.isEmpty:
        let fails = random.oneIn(4)
        if !fails { committed = batch.last?.number.rawValue ?? committed }
        batch = []
        isRunning = false
        obey(Self.answer(queue.end(fails ? FSError(.ioError, "broken") : nil)))
        for answer in told.take() {
          waiting -= 1
          if let number = UInt64(answer) { #expect(number <= committed, "seed \(seed)") } else { #expect(fails) }
        }
      default: break
      }
      #expect(queue.count == Int(last - committed), "seed \(seed), step \(step)")
      // Nobody is forgotten: something is always to come.
      if waiting > 0 || last > committed { #expect(isRunning || isScheduled, "seed \(seed), step \(step)") }
    }
  }
}
