import Glibc
import Testing

extension RealMounts {
  /// A signal for a caller that waits for content.
  @Suite struct Signals {
    @Test(arguments: ["restart", "norestart"])
    func aHandledSignalDoesNotEndTheWait(mode: String) async throws {
      try await withVolume(["--latency", "2s"], source: { try $0.file("file", size: 1000) }) { volume in
        let reader = try await volume.scratch.startProbe("signal", mode, volume.path("file"))
        #expect(await reader.line() == "reading")
        try await volume.log.waitForWaiters(1)
        for _ in 0..<3 { reader.signal(SIGUSR1) }
        let answer = Answer(try #require(await reader.wait().lines.last))
        #expect(answer.outcome == "ok")
        #expect(answer.bytes == 1000)
        #expect(try #require(answer.int("handled")) >= 1)
        #expect(answer.duration >= .milliseconds(500))
      }
    }

    @Test func aKilledCallerEndsAtOnceAndTheOthersGoOn() async throws {
      try await withVolume(["--latency", "5s"], source: { try $0.file("file", size: 1000) }) { volume in
        let victim = try await volume.scratch.startProbe("read", volume.path("file"))
        let other = try await volume.scratch.startProbe("read", volume.path("file"))
        try await volume.log.waitForWaiters(2)
        let started = ContinuousClock.now
        victim.signal(SIGKILL)
        #expect(await victim.wait().signal == SIGKILL)
        #expect(ContinuousClock.now - started < .seconds(20))
        #expect(Answer(try #require(await other.wait().lines.first)).outcome == "ok")
        let waits = try await volume.records().filter {
          $0["type"]?.string == "wait.finished" && $0["trigger"]?.string == "read"
        }
        #expect(waits.compactMap { $0["outcome"]?.string }.sorted() == ["EINTR", "ok"])
        #expect(try await volume.fileAttempts().count == 1)
      }
    }

    @Test func aKillAfterAnotherSignalStillEndsTheWait() async throws {
      try await withVolume(["--latency", "1h"], source: { try $0.file("file", size: 1000) }) { volume in
        let reader = try await volume.scratch.startProbe("signal", "restart", volume.path("file"))
        #expect(await reader.line() == "reading")
        try await volume.log.waitForWaiters(1)
        // The kernel announces only the first of these to the volume.
        reader.signal(SIGUSR1)
        reader.signal(SIGUSR1)
        let started = ContinuousClock.now
        reader.signal(SIGTERM)
        let finished = await reader.wait()
        #expect(finished.signal == SIGTERM)
        #expect(ContinuousClock.now - started < .seconds(20))
      }
    }

    @Test func aKilledPageFaultEndsAtOnce() async throws {
      try await withVolume(["--latency", "1h"], source: { try $0.file("file", size: 10_000) }) { volume in
        let mapper = try await volume.scratch.startProbe("map", "private", volume.path("file"))
        try await volume.log.waitForWaiters(1)
        mapper.signal(SIGKILL)
        let finished = await mapper.wait()
        #expect(finished.signal == SIGKILL && !finished.timedOut)
      }
    }
  }
}
