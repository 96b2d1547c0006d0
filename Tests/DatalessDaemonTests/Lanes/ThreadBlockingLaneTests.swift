import DatalessCore
import Testing

@testable import DatalessDaemon

@Suite struct ThreadBlockingLaneTests {
  private static let second = Nanoseconds.seconds(1)

  /// Work that hangs until it is let go.
  private struct Stuck {
    let started = TestSignal<Void>()
    let release = TestSignal<Void>()

    func submit(to lane: ThreadBlockingLane, count: Int) {
      for _ in 0..<count {
        lane.submit {
          started.send()
          _ = release.wait(count: 1, seconds: 120)
        }
      }
    }
  }

  @Test func workOfOneThreadRunsInOrder() throws {
    let lane = ThreadBlockingLane(timer: ManualTimerLane(), threads: 1)
    defer { lane.stop() }
    let done = TestSignal<Int>()
    for index in 0..<1000 { lane.submit { done.send(index) } }
    #expect(try #require(done.wait(count: 1000)) == Array(0..<1000))
  }

  /// A thread that is woken wakes the next: four pieces that wait for each other all get one.
  @Test func workThatWaitsForOtherWorkRunsBesideIt() throws {
    let lane = ThreadBlockingLane(timer: ManualTimerLane(), threads: 4)
    defer { lane.stop() }
    for round in 0..<200 {
      let stuck = Stuck()
      stuck.submit(to: lane, count: 4)
      #expect(stuck.started.wait(count: 4) != nil, "round \(round)")
      stuck.release.send()
    }
  }

  @Test func stuckThreadsDoNotStopTheOthers() throws {
    let timer = ManualTimerLane()
    let lane = ThreadBlockingLane(timer: timer, threads: 4, limit: 16)
    defer { lane.stop() }
    let stuck = Stuck()
    defer { stuck.release.send() }
    stuck.submit(to: lane, count: 4)
    #expect(stuck.started.wait(count: 4) != nil)
    let done = TestSignal<Void>()
    lane.submit { done.send() }
    #expect(timer.scheduledCount == 1)
    timer.advance(Self.second - 1)
    #expect(lane.threadCount == 4)
    timer.advance(1)
    #expect(done.wait() != nil)
    #expect(lane.threadCount == 5)
    // The fifth thread stays, since no other is idle: what comes next need not wait.
    lane.submit { done.send() }
    #expect(done.wait(count: 2) != nil)
  }

  @Test func growthIsBounded() throws {
    let timer = ManualTimerLane()
    let lane = ThreadBlockingLane(timer: timer, threads: 2, limit: 5)
    defer { lane.stop() }
    let stuck = Stuck()
    stuck.submit(to: lane, count: 20)
    #expect(stuck.started.wait(count: 2) != nil)
    timer.advance(Self.second)
    #expect(stuck.started.wait(count: 4) != nil)
    timer.advance(Self.second)
    #expect(stuck.started.wait(count: 5) != nil)
    timer.advance(100 * Self.second)
    #expect(lane.threadCount == 5)
    // At its limit it does not look at the queue again.
    #expect(timer.scheduledCount == 0)
    stuck.release.send()
    #expect(stuck.started.wait(count: 20) != nil)
  }

  @Test func shrinksWhenTheStuckOnesReturn() throws {
    let timer = ManualTimerLane()
    let lane = ThreadBlockingLane(timer: timer, threads: 2, limit: 8)
    defer { lane.stop() }
    let stuck = Stuck()
    stuck.submit(to: lane, count: 4)
    #expect(stuck.started.wait(count: 2) != nil)
    timer.advance(Self.second)
    #expect(stuck.started.wait(count: 4) != nil)
    #expect(lane.threadCount == 4)
    stuck.release.send()
    // The threads that end do so right after their work; nothing but their number tells.
    let deadline = MonotonicTime.current + 30 * Self.second
    while lane.threadCount > 2, MonotonicTime.current < deadline { ThreadYield.now() }
    #expect(lane.threadCount == 2)
    let done = TestSignal<Void>()
    lane.submit { done.send() }
    #expect(done.wait() != nil)
  }
}
