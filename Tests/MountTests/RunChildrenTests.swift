import Glibc
import Testing

extension RealMounts {
  /// What the command of `dataless run` leaves running.
  @Suite struct RunChildren {
    private static func run(_ scratch: Scratch, _ arguments: [String]) async throws -> Finished {
      try Running.tree(scratch)
      return try await Running.run(scratch, arguments)
    }

    private static func left(_ scratch: Scratch) throws -> (end: String?, left: [JSON]) {
      let children = try #require(try scratch.log.records(ofType: "run.finished").first)["children"]
      return (children?["end"]?.string, children?["left"]?.array ?? [])
    }

    /// A sleeper that nobody ends would outlive the tests.
    private static func expectGone(_ left: [JSON], _ isGone: Bool = true) throws {
      for process in left {
        let pid = try #require(process["pid"]?.int)
        #expect(Machine.processExists(pid) != isGone, "\(process)")
        if !isGone { kill(pid_t(pid), SIGKILL) }
      }
    }

    @Test(
      arguments: [
        "(sleep 0.3; cat {}/file-1 > /dev/null) & exit 0",
        // Forked twice, in a session of its own.
        "setsid sh -c '(sleep 0.3; cat {}/file-1 > /dev/null) &' & exit 0",
        // Each generation ends while the next one works.
        "(sleep 0.1; (sleep 0.1; (sleep 0.1; cat {}/file-1 > /dev/null) &) &) & exit 0",
      ])
    func whatChildrenMaterializeAfterTheCommandCounts(script: String) async throws {
      try await withScratch { scratch in
        let finished = try await Self.run(scratch, ["--max-files", "0", "--", "sh", "-c", script])
        #expect(finished.status == 90, "\(finished.errorText)")
        #expect(finished.errorText.contains("1 file materialized, --max-files 0"), "\(finished.errorText)")
        #expect(try Self.left(scratch).end == "none_left")
        try Running.expectNothingMounted(scratch)
      }
    }

    @Test func manyChildrenThatEndAreAPass() async throws {
      try await withScratch { scratch in
        let script =
          "for i in 0 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5; do cat {}/file-$i > /dev/null & done; done; exit 0"
        let finished = try await Self.run(scratch, ["--max-files", "10", "--", "sh", "-c", script])
        #expect(finished.status == 0, "\(finished.errorText)")
        #expect(finished.errorText.contains("10 files"), "\(finished.errorText)")
      }
    }

    @Test func whoIsLeftIsNamedAndLeftAloneAndNoPassWithABudget() async throws {
      try await withScratch { scratch in
        let script = "sleep 1000 > /dev/null 2>&1 & exit 0"
        let finished = try await Self.run(
          scratch, ["--wait-children", "50ms", "--max-files", "5", "--", "sh", "-c", script])
        #expect(finished.status == 91, "\(finished.errorText)")
        #expect(finished.errorText.contains("it does not use the volume; it goes on"), "\(finished.errorText)")
        #expect(finished.errorText.contains("cut short"), "\(finished.errorText)")
        let (end, left) = try Self.left(scratch)
        #expect(end == "time_up")
        #expect(left.map { $0["comm"]?.string } == ["sleep"])
        #expect(left.first?["holds"]?.array.isEmpty == true)
        try Self.expectGone(left, false)
        try Running.expectNothingMounted(scratch)
      }
    }

    @Test(arguments: ["0", "50ms"])
    func killChildrenEndsAllThatAreLeft(wait: String) async throws {
      try await withScratch { scratch in
        let script = "(trap '' TERM; while :; do sleep 1; done) > /dev/null 2>&1 & exit 3"
        let finished = try await Self.run(
          scratch, ["--wait-children", wait, "--kill-children", "--", "sh", "-c", script])
        #expect(finished.status == 3, "\(finished.errorText)")
        let (_, left) = try Self.left(scratch)
        #expect(left.contains { $0["comm"]?.string == "sh" }, "\(left)")
        try Self.expectGone(left)
      }
    }

    /// Each way to hold the volume: the script in the background, options, and what the log calls it.
    @Test(
      arguments: [
        ("cd {} && exec sleep 1000", [], "working_directory"),
        ("exec sleep 1000 < {}/file-1", [], "open_file"),
        ("exec {}/sleep 1000", [], "mapping"),
        ("exec stat {}/file-1", ["--directory-latency", "1h"], "waiting_call"),
        ("exec cat {}/file-1", ["--latency", "1h"], "waiting_call"),
        ("exec cat {}/file-1", ["--latency", "1h", "--interrupt", "fatal"], "open_file"),
      ] as [(String, [String], String)])
    func whoHoldsTheVolumeIsEnded(script: String, options: [String], hold: String) async throws {
      try await withScratch { scratch in
        try await scratch.shell(#"cp "$(command -v sleep)" "$SOURCE/sleep""#)
        let finished = try await Self.run(
          scratch,
          options + ["--wait-children", "500ms", "--", "sh", "-c", "(\(script)) > /dev/null 2>&1 & exit 0"])
        #expect(finished.status == 0, "\(finished.errorText)")
        let (end, left) = try Self.left(scratch)
        #expect(end == "time_up")
        #expect(left.count == 1, "\(left)")
        #expect(left.first?["holds"]?.array.contains { $0.string == hold } == true, "\(left)")
        #expect(finished.errorText.contains("on the volume; ended."), "\(finished.errorText)")
        try Self.expectGone(left)
        try Running.expectNothingMounted(scratch)
      }
    }

    @Test func aSignalEndsTheWaitAndIsNoPass() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let running = try Child([
          Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache, "--max-files", "5",
          "--wait-children", "1h", scratch.source, "--", "sh", "-c",
          "cd {}; sleep 1000 > /dev/null 2>&1 & echo $$; exit 0",
        ])
        let command = try #require(await running.line())
        try await MountTests.run(["tail", "--pid", command, "-f", "/dev/null"])
        running.signal(SIGTERM)
        let finished = await running.wait()
        #expect(finished.status == 143, "\(finished.shellStatus) \(finished.errorText)")
        let (end, left) = try Self.left(scratch)
        #expect(end == "interrupted")
        try Self.expectGone(left)
        try Running.expectNothingMounted(scratch)
      }
    }

    @Test func theDaemonsDeathEndsTheWaitAndIsOurFailure() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let running = try Child([
          Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache, "--wait-children", "1h",
          scratch.source, "--", "sh", "-c",
          // Told when it is sleep(1): between fork and exec it is a shell.
          "cd {}; sleep 1000 > /dev/null 2>&1 & until read c < /proc/$!/comm; [ \"$c\" = sleep ]; do :; done; echo {}; exit 0",
        ])
        let mountpoint = try #require(await running.line())
        let daemon = try #require(try scratch.log.records(ofType: "volume.mounted").first?["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        let finished = await running.wait()
        #expect(finished.status == 125, "\(finished.shellStatus) \(finished.errorText)")
        #expect(finished.errorText.contains("left running by the command: sleep"), "\(finished.errorText)")
        #expect(!Machine.isMounted(mountpoint))
      }
    }
  }
}
