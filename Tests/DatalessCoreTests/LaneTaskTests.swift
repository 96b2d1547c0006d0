@testable import DatalessCore
import Synchronization
import Testing

/// Tasks on a lane: they run there and nowhere else, and whoever cancels meets them before, in and between their steps.
@Suite struct LaneTaskTests {
  /// Whether each task that ran was cancelled when it began.
  private final class Log: Sendable {
    private let entries = Mutex<[Bool]>([])
    var began: [Bool] { entries.withLock { $0 } }
    func note() { entries.withLock { $0.append(Task.isCancelled) } }
  }

  private final class Holder: Sendable {
    let task = LaneTask()
  }

  @Test func aTaskRunsOnItsLaneAndLeavesItWhereItWaits() {
    let (lane, log, holder) = (ManualLane(), Log(), Holder())
    holder.task.begin(on: LaneExecutor(lane)) {
      log.note()
      await Task.yield()
      log.note()
    }
    #expect(lane.waiting == 1 && log.began == [])
    #expect(lane.runOne() && log.began == [false])
    #expect(lane.runAll() >= 1 && log.began == [false, false])
    #expect(lane.waiting == 0)
  }

  @Test func whatIsCancelledBeforeItBeginsBeginsCancelled() {
    let (lane, log, holder) = (ManualLane(), Log(), Holder())
    holder.task.cancel()
    for _ in 0..<2 { holder.task.begin(on: LaneExecutor(lane)) { log.note() } }
    lane.runAll()
    #expect(log.began == [true, true])
  }

  @Test func whatIsCancelledBeforeItRunsAndBetweenItsStepsIsCancelled() {
    let (lane, log, holder) = (ManualLane(), Log(), Holder())
    holder.task.begin(on: LaneExecutor(lane)) { log.note() }
    lane.runAll()
    holder.task.begin(on: LaneExecutor(lane)) {
      log.note()
      await Task.yield()
      log.note()
    }
    lane.runOne()
    holder.task.cancel()
    lane.runAll()
    #expect(log.began == [false, false, true])
  }
}
