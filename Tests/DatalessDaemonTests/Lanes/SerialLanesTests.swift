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
