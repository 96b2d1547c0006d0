import Glibc
import Testing

extension RealMounts {
  /// What shells complete of a volume: from the mount table and its daemon, and never from the volume.
  @Suite struct ShellCompletions {
    private static let scenario = """
      seed: 7
      access: {lookup: 1h, getattr: 1h, open: 1h}
      rules:
        - {name: hold-photos, match: {path: "*.jpg"}, gate: photos}
        - {name: broken, match: {path: x}, fault: EIO}
      """

    /// As the scripts ask that `--generate-completion-script` makes: command, argument, and the words so far.
    private func complete(
      _ command: [String], _ argument: String, _ words: [String], prefix: String = ""
    ) async throws -> [String] {
      let all = ["dataless"] + command + words
      let finished = try await run(
        [Machine.dataless, "---completion"] + command + ["--", argument, "\(all.count - 1)", "\(prefix.utf8.count)"]
          + all,
        timeLimit: .seconds(20))
      #expect(finished.succeeded && !finished.timedOut, "\(finished.errorText)")
      return finished.lines
    }

    @Test func volumesGatesRulesSettingsAndErrnos() async throws {
      // Whatever touches it below its root waits for an hour.
      try await withScenario(Self.scenario, source: { try $0.file("a.jpg", size: 100) }) { volume in
        let mountpoint = volume.mountpoint
        for command in [["reset"], ["status"], ["gate", "wait"], ["log"], ["set"]] {
          #expect(try await complete(command, "positional@0", [""]).contains(mountpoint), "\(command)")
        }
        #expect(try await complete(["reset"], "positional@0", ["/nowhere"], prefix: "/nowhere") == [])
        #expect(try await complete(["gate", "wait"], "positional@1", [mountpoint, ""]) == ["photos"])
        #expect(try await complete(["gate", "release"], "positional@1", [mountpoint, "p"], prefix: "p") == ["photos"])
        #expect(
          try await complete(["fault", "remove"], "positional@1", [mountpoint, ""]) == ["broken", "hold-photos"])
        #expect(try await complete(["log"], "--rule", [mountpoint, "--rule", "b"], prefix: "b") == ["broken"])
        let settings = try await complete(["set"], "positional@1", [mountpoint, ""])
        #expect(settings.contains("latency=") && settings.contains("seed=") && settings.contains("seed=7"))
        #expect(!settings.contains { $0.hasPrefix("rules") })
        let errnos = try await complete(
          ["gate", "release"], "--fail", [mountpoint, "photos", "--fail", "EN"], prefix: "EN")
        #expect(errnos.contains("ENOSPC") && errnos.allSatisfy { $0.hasPrefix("EN") })
        #expect(try await complete(["fault", "add"], "positional@1", [mountpoint, "ne"], prefix: "ne") == ["never"])
        let policy = try await complete(["policy"], "positional@1", [mountpoint, "remove", ""])
        #expect(policy == ["broken", "hold-photos"])
        #expect(try await complete(["policy"], "positional@1", [mountpoint, ""]) == ["off", "on", "remove", "rule"])
        let status = try await volume.status()
        #expect(status["access"]?["waiting"]?.int ?? 0 == 0)
      }
    }

    /// Names are there from the mount table; what a daemon that does not answer knows is left out, soon.
    @Test func aDaemonThatHangsHoldsNoShell() async throws {
      try await withScenario(Self.scenario, source: { try $0.file("a.jpg", size: 100) }) { volume in
        let pid = Int32(try #require(try await volume.status()["pid"]?.int))
        kill(pid, SIGSTOP)
        defer { kill(pid, SIGCONT) }
        #expect(try await complete(["reset"], "positional@0", [""]).contains(volume.mountpoint))
        let began = ContinuousClock.now
        #expect(try await complete(["gate", "wait"], "positional@1", [volume.mountpoint, ""]) == [])
        // Half a second, and what a loaded machine makes of it.
        #expect(ContinuousClock.now - began < .seconds(8))
      }
    }

    @Test(arguments: ["bash", "zsh", "fish"]) func theScriptsAskForThem(shell: String) async throws {
      let finished = try await run([Machine.dataless, "--generate-completion-script", shell])
      #expect(finished.succeeded && finished.text.contains("---completion"))
    }
  }
}
