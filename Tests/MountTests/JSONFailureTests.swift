import Glibc
import Testing

extension RealMounts {
  /// What commands with `--json` say about what they could do in part, and about volumes that do not answer.
  @Suite struct JSONFailures {
    private static func files(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir d; for i in 1 2 3; do head -c 5000 /dev/zero > d/$i; done")
    }

    @Test func whatWasRefusedStandsInTheAnswerAndTheErrorFollows() async throws {
      try await withVolume(source: Self.files) { volume in
        let holder = try Child(["sh", "-c", #"exec 3< "$0"; read -r x <&3; echo held; sleep 1000"#, volume.path("d/1")])
        #expect(await holder.line() == "held")
        let output = try await JSONLines.run(["evict", volume.mountpoint, "--json"])
        #expect(output.finished.status == 1 && output.lines.count == 2)
        #expect(output.answer?["failures"]?[0]?["errno"]?.string == "EBUSY")
        #expect(output.error?["code"]?.string == "incomplete")
        holder.signal(SIGKILL)
        await holder.wait()
        let refreshed = try await JSONLines.run(["refresh", volume.path("absent"), "--json"])
        #expect(refreshed.finished.status == 1 && refreshed.answer?["failure_count"]?.int == 1)
        try await volume.done("offline", volume.mountpoint)
        let fetched = try await JSONLines.run(["materialize", volume.path("d"), "--json"])
        #expect(fetched.finished.status == 1 && fetched.error?["code"]?.string == "incomplete")
        #expect(fetched.answer?["failures"]?.array.isEmpty == false)
      }
    }

    @Test func listsGoOnAfterAnErrorAndSayWhereItWas() async throws {
      try await withVolume(source: Self.files) { volume in
        try await volume.done("ls", volume.mountpoint)
        let absent = volume.path("absent")
        let output = try await JSONLines.run(["ls", "--json", volume.mountpoint, absent, volume.mountpoint])
        #expect(output.lines.count == 3 && output.lines[1]["error"]?["path"]?.string == absent)
        #expect(output.finished.status == 1)
      }
    }

    @Test func anErrorOfTheDaemonKeepsItsCodeAndErrno() async throws {
      try await withVolume(source: Self.files) { volume in
        for (command, code, errno) in [
          (["explain", volume.path("absent")], "not_found", "ENOENT"),
          (["gate", "open", volume.mountpoint, "g"], "not_found", "ENOENT"),
          (["gate", "wait", volume.mountpoint, "g"], "not_found", "ENOENT"),
          (["gate", "release", volume.mountpoint, "g"], "not_found", "ENOENT"),
        ] {
          let output = try await JSONLines.run(command + ["--json"])
          #expect(output.finished.status == 1 && output.answers.isEmpty)
          #expect(
            output.error?["code"]?.string == code && output.error?["errno"]?.string == errno, "\(output.finished.text)")
        }
        for command in [["set", volume.mountpoint, "latency=soon"], ["fault", "add", volume.mountpoint, "EIOO"]] {
          let output = try await JSONLines.run(command + ["--json"])
          #expect(output.finished.status == 2 && output.error?["code"]?.string == "invalid_scenario")
          #expect(output.error?["problems"]?.array.count == 1)
        }
      }
    }

    @Test func aWaitThatIsOverAnswersAndFails() async throws {
      try await withScenario("rules: [{gate: g}]", source: Self.files) { volume in
        let output = try await JSONLines.run(["gate", "wait", volume.mountpoint, "g", "--timeout", "1ms", "--json"])
        #expect(output.finished.status == 4 && output.answer?["reached"]?.bool == false)
        #expect(output.error?["code"]?.string == "timed_out" && output.error?["errno"]?.string == "ETIMEDOUT")
      }
    }

    @Test func aDeadDaemonIsAnErrorBesideTheVolumesThatLive() async throws {
      try await withVolume(source: Self.files) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await Unmounting.waitForEnd(of: daemon)
        for command in [
          ["status"], ["status", volume.mountpoint], ["ls", volume.mountpoint], ["mark", volume.mountpoint, "x"],
        ] {
          let output = try await JSONLines.run(command + ["--json"])
          #expect(output.finished.status == 3 && output.error?["code"]?.string == "daemon_not_running")
          if command.count == 1 {
            #expect(output.errors.contains { $0["path"]?.string == volume.mountpoint })
          }
        }
        let unmounted = try await JSONLines.run(["unmount", volume.mountpoint, "--json"])
        #expect(unmounted.answer?["daemon"]?.string == "was_dead")
        #expect(unmounted.answer?["mountpoint"]?.string == volume.mountpoint)
      }
    }

    @Test func aDaemonThatHadToBeKilledIsSaidAfterTheAnswer() async throws {
      try await withVolume(source: Self.files) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGSTOP)
        let output = try await JSONLines.run(["unmount", volume.mountpoint, "--json"])
        #expect(output.finished.status == 4 && output.answer?["daemon"]?.string == "killed", "\(output.finished.text)")
        #expect(output.error?["code"]?.string == "timed_out")
        #expect(!Machine.isMounted(volume.mountpoint))
      }
    }

    @Test func aForegroundMountThatFailsAnswersToo() async throws {
      try await withVolume(source: Self.files) { volume in
        let output = try await JSONLines.run(
          ["mount", "--foreground", "--log", "/proc/nosuch/log", "--json", volume.scratch.source, volume.mountpoint])
        #expect(output.finished.status == 1 && output.lines.count == 1)
      }
    }

    /// One rule for lists: a line for each, and none for an empty list.
    @Test func listsHaveALineForEach() async throws {
      try await withScenario(
        "rules: [{name: one, gate: g}, {name: two, match: {path: '*.x'}, fault: EIO}]", source: Self.files
      ) { volume in
        let gates = try await JSONLines.run(["gate", "list", volume.mountpoint, "--json"])
        #expect(gates.answers.compactMap { $0["name"]?.string } == ["g"])
        let faults = try await JSONLines.run(["fault", "list", volume.mountpoint, "--json"])
        #expect(faults.answers.compactMap { $0["name"]?.string } == ["two"])
        let volumes = try await JSONLines.run(["status", "--json"])
        #expect(volumes.answers.contains { $0["mountpoint"]?.string == volume.mountpoint })
        try await volume.done("fault", "remove", volume.mountpoint, "two")
        #expect(try await JSONLines.run(["fault", "list", volume.mountpoint, "--json"]).lines.isEmpty)
      }
    }
  }
}
