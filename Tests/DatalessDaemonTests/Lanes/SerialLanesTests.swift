import Glibc
import Testing

@testable import DatalessDaemon

@Suite struct SerialLanesTests {
  @Test func notifierRunsEverythingInOrder() throws {
    let lane = NotifierLane()
    defer { lane.stop() }
    let done = TestSignal<Int>()
    for index in 0..<10_000 { lane.submit { done.send(index) } }
    #expect(try #require(done.wait(count: 10_000)) == Array(0..<10_000))
  }

  /// A notification may wait in the kernel for a caller that is held at a gate: the others go on.
  @Test func aNotificationThatIsLateHoldsNoOther() throws {
    let lane = NotifierLane()
    defer { lane.stop() }
    let (started, release, done) = (TestSignal<Void>(), TestSignal<Void>(), TestSignal<Int>())
    for stuck in 0..<3 {
      lane.submit {
        started.send()
        _ = release.wait(seconds: 120)
      }
      for index in 0..<100 { lane.submit { done.send(stuck * 100 + index) } }
    }
    #expect(try #require(done.wait(count: 300)) == Array(0..<300))
    #expect(started.values.count == 3)
    release.send()
  }

  /// With very many that are late the lane waits, and loses nothing.
  @Test func noMoreThanSomeNotificationsAreLateAtATime() throws {
    let lane = NotifierLane()
    defer { lane.stop() }
    let (started, release, done) = (TestSignal<Void>(), TestSignal<Void>(), TestSignal<Int>())
    for _ in 0..<NotifierLane.lateMax + 5 {
      lane.submit {
        started.send()
        _ = release.wait(seconds: 120)
      }
    }
    lane.submit { done.send(1) }
    #expect(started.wait(count: NotifierLane.lateMax + 1) != nil)
    release.send()
    #expect(done.wait() != nil)
    #expect(started.values.count == NotifierLane.lateMax + 5)
  }

  @Test func aStuckCaptureDropsAndCounts() throws {
    let lane = CaptureLane(limit: 3)
    defer { lane.stop() }
    let started = TestSignal<Void>()
    let release = TestSignal<Void>()
    let done = TestSignal<Int>()
    #expect(
      lane.submit {
        started.send()
        _ = release.wait(seconds: 120)
      })
    #expect(started.wait() != nil)
    let accepted = (0..<5).map { index in lane.submit { done.send(index) } }
    #expect(accepted == [true, true, true, false, false])
    #expect(lane.dropped == 2)
    release.send()
    #expect(try #require(done.wait(count: 3)) == [0, 1, 2])
  }

  @Test func threadsAreNamedAndTakeNoSignals() throws {
    let lane = NotifierLane(name: "dl-notify-and-more")
    defer { lane.stop() }
    let seen = TestSignal<(comm: String, blocked: [Int32])>()
    lane.submit {
      var failure: Int32 = 0
      let id = LaneThread.currentThreadID ?? 0
      let comm = ProcReader.bytes(id, "comm", limit: 64, failure: &failure) ?? []
      let mask = UnsafeMutablePointer<sigset_t>.allocate(capacity: 1)
      defer { mask.deallocate() }
      pthread_sigmask(SIG_BLOCK, nil, mask)
      let signals = [SIGTERM, SIGINT, SIGPIPE, SIGCHLD, SIGUSR1, SIGALRM].filter { sigismember(mask, $0) == 1 }
      seen.send((String(decoding: comm, as: UTF8.self), signals))
    }
    let value = try #require(seen.wait()?.first)
    #expect(value.comm == "dl-notify-and-m\n")
    #expect(value.blocked.count == 6)
  }
}
