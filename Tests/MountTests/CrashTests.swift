import Glibc
import Testing

extension RealMounts {
  /// The daemon dies: what its callers get, and who cleans up.
  @Suite struct Crashes {
    /// A volume whose daemon was killed while a hundred readers waited.
    static func killed(_ volume: Volume) async throws -> [Answer] {
      let status = try await volume.status()
      let daemon = try #require(status["pid"]?.int)
      try await volume.done("set", volume.mountpoint, "latency=1h")
      let before = LogFile.waits(in: try await volume.records())
      let readers = try await volume.scratch.startProbe("threads", "100", volume.path("slow"))
      try await volume.log.waitForWaiters(before + 100)
      kill(pid_t(daemon), SIGKILL)
      let finished = await readers.wait()
      #expect(!finished.timedOut, "no reader stays stuck")
      return finished.lines.map { Answer($0) }
    }

    static func tree(_ scratch: Scratch) throws {
      try scratch.file("resident", size: 500_000)
      try scratch.file("slow", size: 1000)
    }

    @Test func readersOfAKilledDaemonGetAnErrorAndNoContent() async throws {
      try await withVolume(source: Self.tree) { volume in
        let answers = try await Self.killed(volume)
        #expect(answers.count == 100)
        for answer in answers {
          #expect(answer.bytes == 0)
          #expect(["ECONNABORTED", "ENOTCONN"].contains(answer.outcome), "\(answer)")
        }
      }
    }

    @Test func aDeadVolumeIsRecognisedSaidAndCleanedByUnmount() async throws {
      try await withVolume(source: Self.tree) { volume in
        try await volume.read("resident")
        _ = try await Self.killed(volume)
        #expect(Machine.isMounted(volume.mountpoint))
        for command in ["status", "ls", "evict", "mark"] {
          let arguments = [Machine.dataless, command, volume.mountpoint] + (command == "mark" ? ["label"] : [])
          let said = try await run(arguments, timeLimit: .seconds(10))
          #expect(said.status == 3, "\(command): \(said.shellStatus) \(said.text)")
          #expect(said.errorLines.count == 1, "\(command): \(said.errorText)")
          #expect(said.errorText.contains("unmount"), "it says what to do: \(said.errorText)")
        }
        let followed = try await run([Machine.dataless, "log", "-f", volume.mountpoint], timeLimit: .seconds(10))
        #expect(followed.status == 3 && followed.errorText.contains("cannot follow the log"), "\(followed.errorText)")
        #expect(followed.text.contains("resident"), "what there is is shown")
        let unmounted = try await volume.dataless("unmount", "--dead", volume.mountpoint)
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        #expect(!Machine.isMounted(volume.mountpoint))
        // The log is whole up to the end, and says that it has none.
        let summary = try await volume.dataless("summary", volume.log.path)
        #expect(summary.succeeded)
        #expect(summary.text.contains("1 file "), "\(summary.text)")
      }
    }

    @Test func theNextMountTakesADeadVolumesPlace() async throws {
      try await withVolume(source: Self.tree) { volume in
        let hash = try await volume.sourceHash("resident")
        try await volume.read("resident")
        _ = try await Self.killed(volume)
        let again = try await volume.scratch.mount()
        let read = try await again.read("resident")
        #expect(read.hash == hash)
        #expect(Machine.mounts().count { $0.point == volume.mountpoint } == 1)
      }
    }

    @Test func contentOfAKilledDaemonIsRemovedByTheNextCommand() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        // The default cache directory, where any later command looks; the test's own would be known to nobody.
        let environment = ["XDG_CACHE_HOME": scratch.root + "/home-cache"]
        let mounted = try await run(
          [
            Machine.dataless, "mount", "--log", scratch.log.path, scratch.source, scratch.mountpoint,
          ],
          environment: environment)
        try #require(mounted.succeeded, "\(mounted.errorText)")
        let volume = Volume(scratch: scratch, mounted: mounted)
        try await volume.read("resident")
        let status = try await volume.status()
        let cache = try #require(status["cache"]?.string)
        #expect(try await run(["find", cache, "-type", "f", "-size", "+400k"]).lines.count == 1)
        _ = try await Self.killed(volume)
        let next = try await run([Machine.dataless, "unmount", scratch.mountpoint], environment: environment)
        #expect(next.succeeded, "\(next.errorText)")
        let other = try await run([Machine.dataless, "status"], environment: environment)
        #expect(!other.timedOut)
        let left = try await run(["find", cache, "-type", "f", "-size", "+400k"])
        #expect(left.text == "")
      }
    }
  }
}
