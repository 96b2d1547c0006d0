import Glibc
import TestSupport
import Testing

extension RealMounts {
  /// What a killed run of the tests leaves behind: nothing that runs, and nothing that is mounted.
  @Suite struct Lifelines {
    @Test func whatAKilledRunHasStartedEndsWithIt() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 1000)
        // Of a run of its own, whose process we are for a moment.
        let lifeline = try Lifeline(mark: "test-\(UInt64.random(in: 0 ... .max))")
        lifeline.tell(scratch.root)
        let environment = [Lifeline.variable: lifeline.mark]
        let mounted = try await run(
          [
            Machine.dataless, "mount", "--latency", "1h", "--log", scratch.log.path, "--cache-dir", scratch.cache,
            scratch.source, scratch.mountpoint,
          ], environment: environment)
        #expect(mounted.succeeded, "\(mounted.errorText)")
        let volume = Volume(scratch: scratch, mounted: mounted)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        // One that waits for the volume, and one that nobody has as a child any more.
        let reader = try Child(["cat", volume.path("file")], environment: environment)
        let orphan = try await run(
          ["sh", "-c", "setsid sleep 1000 > /dev/null 2>&1 & echo $!"], environment: environment)
        try await volume.log.waitForWaiters(1)
        lifeline.cut()
        let guardian = lifeline.guardian
        let (reaped, status) = await Pthread.value {
          var status: Int32 = 0
          return (waitpid(guardian, &status, 0), status)
        }
        #expect(reaped == guardian && status == 0)
        // Killed itself, or told of the end of the volume that it read from: whichever came first.
        let read = await reader.wait()
        #expect(!read.timedOut && (read.signal == SIGKILL || read.status == 1), "\(read.shellStatus) \(read.errorText)")
        #expect(!Machine.processExists(daemon))
        #expect(!Machine.processExists(Int(orphan.text.split(separator: "\n").first ?? "") ?? 1))
        #expect(!Machine.isMounted(scratch.mountpoint))
        // What others have started lives on.
        #expect(Machine.processExists(Int(getpid())))
      }
    }
  }
}
