import Glibc
import Testing

extension RealMounts {
  /// Ending a volume: bounded, whatever waits, and nothing left behind.
  @Suite struct Unmounting {
    enum Way: String, CaseIterable { case command, sigterm, sigint }

    static func end(_ volume: Volume, by way: Way, daemon: Int) async throws {
      switch way {
      case .command:
        let finished = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(10))
        #expect(finished.succeeded, "\(finished.errorText)")
      case .sigterm: kill(pid_t(daemon), SIGTERM)
      case .sigint: kill(pid_t(daemon), SIGINT)
      }
    }

    /// Waits until the daemon's process is gone.
    static func waitForEnd(of daemon: Int) async throws -> Duration {
      let started = ContinuousClock.now
      let finished = try await run(
        ["tail", "--pid", "\(daemon)", "-s", "0.01", "-f", "/dev/null"], timeLimit: .seconds(20))
      #expect(!finished.timedOut, "the daemon did not end")
      return ContinuousClock.now - started
    }

    @Test(arguments: Way.allCases)
    func hundredsOfBlockedReadersGetETIMEDOUTAndTheVolumeEnds(way: Way) async throws {
      try await withVolume(
        ["--latency", "1h"],
        source: { scratch in
          for index in 0..<20 { try scratch.file("file-\(index)", size: 10_000) }
        }
      ) { volume in
        let status = try await volume.status()
        let daemon = try #require(status["pid"]?.int)
        let paths = (0..<20).map { volume.path("file-\($0)") }
        let readers = try Child([try await Probe.shared.path(), "threads", "500"] + paths, timeLimit: .seconds(60))
        let mapper = try await volume.scratch.startProbe("map", "shared", paths[0])
        try await volume.log.waitForWaiters(501)
        try await Self.end(volume, by: way, daemon: daemon)
        _ = try await Self.waitForEnd(of: daemon)
        let finished = await readers.wait()
        #expect(finished.lines.count == 500)
        for answer in finished.lines.map({ Answer($0) }) { #expect(answer.outcome == "ETIMEDOUT", "\(answer)") }
        let mapped = await mapper.wait()
        #expect(mapped.lines.first.flatMap { Answer($0).outcome } == "SIGBUS")
        #expect(!Machine.isMounted(volume.mountpoint))
        let records = try volume.log.records()
        #expect(records.last?["type"]?.string == "volume.unmounted")
        let outcomes = records.filter { $0["type"]?.string == "wait.finished" && $0["trigger"]?.string == "read" }
        #expect(outcomes.count { $0["outcome"]?.string == "ETIMEDOUT" } >= 500)
        let first = try #require(outcomes.first?["monotonic_ns"]?.int)
        let last = try #require(records.last?["monotonic_ns"]?.int)
        #expect(last - first < 2_000_000_000, "from the first answer to the end")
      }
    }

    @Test func unmountLeavesNothingButTheLog() async throws {
      try await withVolume(source: { try $0.file("file", size: 300_000) }) { volume in
        try await volume.read("file")
        let status = try await volume.status()
        let daemon = try #require(status["pid"]?.int)
        let session = try #require(status["session"]?.string)
        let sockets = Machine.isRoot ? "/run/dataless" : (ProcessEnvironment.current["XDG_RUNTIME_DIR"] ?? "/tmp")
        let during = try await run(["grep", "-rls", session, sockets])
        #expect(during.text.contains("session.json"))
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        #expect(!Machine.isMounted(volume.mountpoint))
        #expect(!Machine.processExists(daemon))
        let after = try await run(["grep", "-rls", session, sockets])
        #expect(after.text == "")
        let content = try await run(["find", volume.scratch.cache, "-type", "f", "-size", "+0"])
        #expect(content.text == "", "content is gone")
        #expect(try await run(["ls", "-A", volume.mountpoint]).text == "")
        #expect(try volume.log.records().contains { $0["type"]?.string == "volume.unmounted" })
        // A volume that is not there is said, with an exit status of its own.
        let again = try await volume.dataless("unmount", volume.mountpoint)
        #expect(again.status == 3)
        #expect(again.errorLines.count == 1)
      }
    }

    @Test func aSourceThatHangsDelaysNeitherUnmountNorItsReaders() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 10_000)
        try await scratch.shell(#"mkdir "$ROOT/volume-hung" "$ROOT/cache-hung""#)
        // A source that hangs: a volume whose content takes an hour.
        let hung = scratch.root + "/volume-hung"
        let slow = try await scratch.tryMount(
          ["--latency", "1h"], mountpoint: hung, log: scratch.root + "/hung.jsonl", cache: scratch.root + "/cache-hung")
        try #require(slow.succeeded, "\(slow.errorText)")
        let volume = try await scratch.mount(source: hung)
        let status = try await volume.status()
        let daemon = try #require(status["pid"]?.int)
        let reader = try await scratch.startProbe("threads", "100", volume.path("file"))
        try await LogFile(path: scratch.root + "/hung.jsonl").waitForWaiters(1)
        try await volume.log.waitForWaiters(100)
        let listed = try await run(["ls", volume.mountpoint], timeLimit: .seconds(10))
        #expect(listed.text == "file\n", "the volume goes on answering")
        let started = ContinuousClock.now
        let unmounted = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(10))
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        _ = try await Self.waitForEnd(of: daemon)
        #expect(ContinuousClock.now - started < .seconds(20))
        let finished = await reader.wait()
        #expect(finished.lines.count == 100)
        #expect(finished.lines.allSatisfy { Answer($0).outcome == "ETIMEDOUT" })
        let other = try await run([Machine.dataless, "unmount", hung], timeLimit: .seconds(10))
        #expect(other.succeeded, "\(other.errorText)")
      }
    }

    @Test(.enabled(if: Machine.isRoot, "only root may end a connection with umount -f"))
    func readersOfAnAbortedConnectionAreInTheLogAsTheyWereAnswered() async throws {
      try await withVolume(["--latency", "1h"], source: { try $0.file("file", size: 5000) }) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let readers = try await volume.scratch.startProbe("threads", "10", volume.path("file"))
        try await volume.log.waitForWaiters(10)
        // Aborts the connection; the mount itself is busy and stays, or goes.
        _ = try await run(["umount", "-f", volume.mountpoint], timeLimit: .seconds(10))
        let answers = await readers.wait().lines.map { Answer($0) }
        #expect(answers.count == 10)
        for answer in answers { #expect(answer.outcome == "ECONNABORTED", "\(answer)") }
        _ = try await Self.waitForEnd(of: daemon)
        let records = try volume.log.records()
        let outcomes = records.filter { $0["type"]?.string == "wait.finished" && $0["trigger"]?.string == "read" }
        #expect(outcomes.count == 10)
        #expect(outcomes.allSatisfy { $0["outcome"]?.string == "ECONNABORTED" })
        #expect(records.last?["type"]?.string == "volume.unmounted")
        #expect(records.last?["reason"]?.string == "unmounted")
        #expect(!Machine.isMounted(volume.mountpoint))
      }
    }

    @Test func aBusyVolumeIsUnmountedAllTheSame() async throws {
      try await withVolume(source: { try $0.file("file", size: 5000) }) { volume in
        let holder = try await volume.scratch.startProbe("hold", "read", volume.path("file"))
        #expect(await holder.line() == "outcome=ok")
        let unmounted = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(10))
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        #expect(!Machine.isMounted(volume.mountpoint))
        holder.closeInput()
        #expect(await holder.wait().succeeded)
      }
    }
  }
}
