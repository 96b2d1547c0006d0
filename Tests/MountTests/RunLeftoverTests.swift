import Glibc
import Testing

extension RealMounts {
  /// What is left when the command of `dataless run` has ended: attempts that go on, children beyond the usual, and
  /// others that hold the volume.
  @Suite struct RunLeftovers {
    private static func finishedRecord(_ scratch: Scratch) throws -> JSON {
      try #require(try scratch.log.records(ofType: "run.finished").first)
    }

    private static func start(
      _ scratch: Scratch, _ arguments: [String], startedBy starter: [String] = []
    ) throws -> Child {
      try Running.tree(scratch)
      return try Child(
        starter + [Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache]
          + arguments)
    }

    /// The transfer goes on behind the command's back, and is waited for.
    @Test func whatAnAttemptBringsAfterTheCommandCounts() async throws {
      try await withScratch { scratch in
        try scratch.file("big", size: 400_000)
        let finished = try await Running.run(
          scratch,
          [
            "--hydration", "progressive", "--bandwidth", "1MB/s", "--max-bytes", "300kB", "--", "sh", "-c",
            "head -c 10 {}/big > /dev/null",
          ])
        #expect(finished.status == 90, "\(finished.errorText)")
        #expect(finished.errorText.contains("400000 bytes"), "\(finished.errorText)")
        let budgets = try Self.finishedRecord(scratch)["budgets"]
        #expect(budgets?["bytes"]?.int == 400_000 && budgets?["files"]?.int == 1 && budgets?["in_flight"]?.int == 0)
      }
    }

    /// A rule may decide something of it yet.
    @Test func strictRulesWaitForAttemptsAsBudgetsDo() async throws {
      try await withScratch { scratch in
        try scratch.file("big", size: 400_000)
        let scenario = try scratch.scenario(
          "{hydration: progressive, bandwidth: 1MB/s, rules: [{name: hit, match: {path: big}, latency: 1ms}]}")
        let finished = try await Running.run(
          scratch, ["--strict-rules", "--scenario", scenario, "--", "sh", "-c", "head -c 10 {}/big > /dev/null"])
        #expect(finished.status == 0, "\(finished.errorText)")
        #expect(try Self.finishedRecord(scratch)["budgets"]?["in_flight"]?.int == 0)
      }
    }

    @Test func anAttemptThatGoesOnForTooLongIsNoPass() async throws {
      try await withScratch { scratch in
        try scratch.file("big", size: 400_000)
        let finished = try await Running.run(
          scratch,
          [
            "--hydration", "progressive", "--bandwidth", "100kB/s", "--max-files", "1", "--wait-children", "50ms",
            "--json",
            "\(scratch.root)/result.json", "--", "sh", "-c", "head -c 10 {}/big > /dev/null",
          ])
        #expect(finished.status == 91, "\(finished.errorText)")
        #expect(finished.errorText.contains("left under way by the command: 1 attempt"), "\(finished.errorText)")
        let record = try Self.finishedRecord(scratch)
        #expect(record["budgets"]?["in_flight"]?.int == 1 && record["budgets"]?["files"]?.int == 1)
        #expect(record["children"]?["end"]?.string == "time_up" && record["children"]?["left_count"]?.int == 0)
        let answer = try JSON(parsing: Array(try await scratch.shell(#"cat "$ROOT/result.json""#).utf8))
        #expect(answer["reason"]?.string == "cut_short" && answer["budget"]?["in_flight"]?.int == 1)
      }
    }

    @Test func moreChildrenThanDescriptorsAreSeenAndEnded() async throws {
      try await withScratch { scratch in
        let script = "i=0; while [ $i -lt 150 ]; do sleep 1000 > /dev/null 2>&1 & i=$((i+1)); done; exit 0"
        let running = try Self.start(
          scratch, ["--wait-children", "0", "--kill-children", scratch.source, "--", "sh", "-c", script],
          startedBy: ["sh", "-c", #"ulimit -Sn 100; exec "$@""#, "sh"])
        let finished = await running.wait()
        defer { kill(-running.pid, SIGKILL) }
        #expect(finished.status == 0, "\(finished.errorText)")
        let children = try Self.finishedRecord(scratch)["children"]
        #expect(children?["left_count"]?.int == 150 && children?["not_looked_at"]?.int == 0)
        #expect(children?["left"]?.array.count == 100)
        #expect(finished.errorText.contains("130 more"), "\(finished.errorText)")
        #expect(kill(-running.pid, 0) != 0, "none of the group is left")
      }
    }

    @Test func childrenForWhichThereIsNoDescriptorAreCounted() async throws {
      try await withScratch { scratch in
        let script = "i=0; while [ $i -lt 150 ]; do sleep 1000 > /dev/null 2>&1 & i=$((i+1)); done; exit 0"
        let running = try Self.start(
          scratch, ["--wait-children", "50ms", "--max-files", "1", scratch.source, "--", "sh", "-c", script],
          startedBy: ["sh", "-c", #"ulimit -n 150; exec "$@""#, "sh"])
        let finished = await running.wait()
        defer { kill(-running.pid, SIGKILL) }
        #expect(finished.status == 91, "\(finished.errorText)")
        let children = try Self.finishedRecord(scratch)["children"]
        #expect(children?["left_count"]?.int == 150 && children?["not_looked_at"]?.int == 150 - (150 - 64))
        #expect(finished.errorText.contains("64 more that could not be looked at"), "\(finished.errorText)")
      }
    }

    /// A debugger keeps what it traces after its end, and its parent does not get to know of it.
    @Test(.enabled(if: Machine.isRoot, "others may not trace what they have not started"))
    func aChildThatADebuggerKeepsIsNotWaitedFor() async throws {
      try await withScratch { scratch in
        let running = try Self.start(
          scratch,
          ["--wait-children", "1h", "--max-files", "1", scratch.source, "--", "sh", "-c", "sleep 1000 >&2 & echo $!"])
        let sleeper = try #require(await running.line().flatMap { Int32($0) })
        let debugger = try await scratch.startProbe("trace", "\(sleeper)")
        #expect(await debugger.line() == "traced")
        kill(sleeper, SIGKILL)
        let finished = await running.wait()
        #expect(finished.status == 0, "\(finished.shellStatus) \(finished.errorText)")
        #expect(try Self.finishedRecord(scratch)["children"]?["end"]?.string == "none_left")
        debugger.closeInput()
        await debugger.wait()
      }
    }

    @Test func whoHoldsTheVolumeAndIsNoChildIsNamedAndLeftAlone() async throws {
      try await withScratch { scratch in
        let running = try Self.start(scratch, [scratch.source, "--", "sh", "-c", "echo {}; read line; exit 0"])
        let mountpoint = try #require(await running.line())
        let outsider = try Child(["sh", "-c", "cd \(mountpoint) && exec < file-1 && echo in && exec sleep 1000"])
        #expect(await outsider.line() == "in")
        running.closeInput()
        let finished = await running.wait()
        #expect(finished.status == 0, "\(finished.errorText)")
        #expect(
          finished.errorText.contains(
            "sleep[\(outsider.pid)]; it has its working directory, open files on the volume; it is left alone."),
          "\(finished.errorText)")
        let children = try Self.finishedRecord(scratch)["children"]
        #expect(children?["end"]?.string == "none_left" && children?["left_count"]?.int == 0)
        #expect(children?["outsiders"]?.array.map { $0["pid"]?.int } == [Int(outsider.pid)])
        #expect(Machine.processExists(Int(outsider.pid)))
        outsider.signal(SIGKILL)
        await outsider.wait()
        try Running.expectNothingMounted(scratch)
      }
    }

    /// In a pid namespace of its own, with its /proc and with that of another one, where every pid means somebody else.
    @Test(.enabled(if: Machine.isRoot), arguments: [true, false])
    func inAnotherPidNamespaceNobodyElseIsSignalled(hasOwnProc: Bool) async throws {
      try await withScratch { scratch in
        let canaries = try (0..<20).map { _ in try Child(["sleep", "1000"]) }
        let script = "sleep 1000 > /dev/null 2>&1 & cat {}/file-1 > /dev/null; exit 0"
        let running = try Self.start(
          scratch,
          ["--wait-children", "50ms", "--kill-children", "--max-files", "5", scratch.source, "--", "sh", "-c", script],
          startedBy: ["unshare", "--pid", "--fork", "--kill-child"] + (hasOwnProc ? ["--mount-proc"] : []))
        let finished = await running.wait()
        if hasOwnProc {
          #expect(finished.status == 91, "\(finished.shellStatus) \(finished.errorText)")
          let children = try Self.finishedRecord(scratch)["children"]
          #expect(children?["end"]?.string == "time_up")
          #expect(children?["left"]?.array.map { $0["comm"]?.string } == ["sleep"])
          #expect(children?["outsiders"]?.array.isEmpty == true, "\(finished.errorText)")
        } else {
          // There is nothing to be left: Swift's threads would trap there, and readers would be taken for others.
          #expect(finished.status == 125, "\(finished.shellStatus) \(finished.errorText)")
          #expect(finished.errorText.contains("/proc is that of another pid namespace"), "\(finished.errorText)")
        }
        for canary in canaries {
          #expect(Machine.processExists(Int(canary.pid)))
          canary.signal(SIGKILL)
          let end = await canary.wait()
          #expect(end.signal == SIGKILL)
        }
      }
    }

    /// Before `--json` took a file, the source could follow it.
    @Test func aSourceThatJSONHasTakenIsSaid() async throws {
      try await withScratch { scratch in
        for source in [scratch.source, "synthetic:files=10"] {
          let finished = try await MountTests.run(
            ["sh", "-c", #"cd "$1" && exec "$2" run --json "$3" -- true"#, "-", scratch.root, Machine.dataless, source])
          #expect(finished.status == 125)
          #expect(finished.errorLines.count == 1)
          #expect(finished.errorText.contains("'dataless run \(source) --json -- COMMAND'"), "\(finished.errorText)")
        }
        #expect(try await scratch.shell(#"ls "$ROOT" | grep -c synthetic || true"#) == "0\n", "no file is made of it")
      }
    }
  }
}
