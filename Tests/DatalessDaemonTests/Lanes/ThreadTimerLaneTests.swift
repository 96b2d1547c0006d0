import DatalessCore
import TestSupport
import Testing

@testable import DatalessDaemon

@Suite struct ThreadTimerLaneTests {
  @Test func manyDeadlinesRunInOrderAndNeverEarly() throws {
    let lane = ThreadTimerLane()
    defer { lane.stop() }
    var random = TestRandom(seed: 7)
    let start = lane.now
    let fired = TestSignal<(deadline: MonotonicTime, time: MonotonicTime)>()
    let deadlines = (0..<5000).map { _ in start + Nanoseconds(.random(in: 50_000_000...60_000_000, using: &random)) }
    for deadline in deadlines {
      lane.schedule(at: deadline) { fired.send((deadline, .current)) }
    }
    let inserted = MonotonicTime.current
    let values = try #require(fired.wait(count: deadlines.count))
    #expect(values.allSatisfy { $0.time >= $0.deadline })
    // On a machine so slow that inserting took longer, the order of what was due meanwhile is that of insertion.
    if inserted < start + 50_000_000 { #expect(values.map(\.deadline) == deadlines.sorted()) }
  }

  @Test func whatIsCancelledNeverRunsAndIsNotKept() throws {
    let lane = ThreadTimerLane()
    defer { lane.stop() }
    let fired = TestSignal<Int>()
    let far = lane.now + 3_600_000_000_000
    let tokens = (0..<20_000).map { index in lane.schedule(at: far) { fired.send(index) } }
    let kept = lane.schedule(at: far) {}
    #expect(tokens.allSatisfy { lane.cancel($0) })
    #expect(!lane.cancel(tokens[0]), "once")
    #expect(lane.counts.actions == 1)
    #expect(lane.counts.places < 2000)
    let soon = lane.schedule(at: lane.now) { fired.send(-1) }
    #expect(try #require(fired.wait(count: 1)) == [-1])
    #expect(!lane.cancel(soon), "it has run")
    #expect(lane.cancel(kept))
  }

  @Test func equalDeadlinesRunInOrderOfInsertion() throws {
    let lane = ThreadTimerLane()
    defer { lane.stop() }
    let deadline = lane.now + 20_000_000
    let fired = TestSignal<Int>()
    for index in 0..<1000 { lane.schedule(at: deadline) { fired.send(index) } }
    #expect(try #require(fired.wait(count: 1000)) == Array(0..<1000))
  }

  @Test func anEarlierInsertWakesTheSleepingThread() throws {
    let lane = ThreadTimerLane()
    defer { lane.stop() }
    let late = TestSignal<Void>()
    lane.schedule(at: lane.now + 3_600_000_000_000) { late.send() }
    // Whether the thread sleeps already is for the scheduler to say: in some of the rounds it does.
    for round in 0..<50 {
      let soon = TestSignal<Void>()
      lane.schedule(at: lane.now + 1_000_000) { soon.send() }
      guard soon.wait() != nil else {
        Issue.record("nobody woke the thread in round \(round)")
        return
      }
    }
    #expect(late.values.isEmpty)
  }

  @Test func anActionMaySchedule() throws {
    let lane = ThreadTimerLane()
    defer { lane.stop() }
    let fired = TestSignal<Void>()
    lane.schedule(at: lane.now) { lane.schedule(at: lane.now) { fired.send() } }
    #expect(fired.wait() != nil)
  }

  @Test func nothingRunsAfterStop() throws {
    let lane = ThreadTimerLane()
    let fired = TestSignal<Int>()
    // The batch that is running ends; what it finds due afterwards does not run.
    lane.schedule(at: lane.now) {
      lane.stop()
      lane.schedule(at: lane.now) { fired.send(2) }
      fired.send(1)
    }
    #expect(try #require(fired.wait()) == [1])
    let other = ThreadTimerLane()
    defer { other.stop() }
    let passed = TestSignal<Void>()
    other.schedule(at: other.now + 5_000_000) { passed.send() }
    #expect(passed.wait() != nil)
    #expect(fired.values == [1])
  }
}
