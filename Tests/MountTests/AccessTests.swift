import Glibc
import Testing

extension RealMounts {
  /// Delays of calls that need no materialization: `access` in scenarios.
  @Suite struct Accesses {
    private static func tree(_ scratch: Scratch) throws {
      scratch.directory("dir")
      try scratch.file("dir/file", size: 1000)
      try scratch.file("dir/large", size: 300_000)
      try scratch.file("bad", size: 1000)
    }

    /// Ends of delays, as `operation path`.
    private static func ended(_ records: [JSON]) -> [String] {
      records.filter { $0["type"]?.string == "access.finished" }.map {
        "\($0["operation"]?.string ?? "?") \($0["path"]?.string ?? "?")"
      }
    }

    @discardableResult
    private static func succeed(_ arguments: String...) async throws -> Finished {
      let finished = try await run(arguments)
      #expect(finished.succeeded, "\(arguments): \(finished.errorText)")
      return finished
    }

    @Test(arguments: [[], ["passthrough"], ["direct-mapping"], ["readdirplus"]])
    func eachCallOfTheKernelWaitsAndIsInTheLog(without features: [String]) async throws {
      let options = ["lookup", "getattr", "open", "read"].flatMap { ["--access", "\($0)=2ms"] }
      try await withVolume(options + features.flatMap { ["--without", $0] }, source: Self.tree) { volume in
        let content = try await Self.succeed("cat", volume.path("dir/file"))
        #expect(content.output.count == 1000)
        try await Self.succeed("stat", volume.path("dir/file"))
        #expect(try await Self.succeed("ls", volume.path("dir")).text == "file\nlarge\n")
        let records = try await volume.records()
        let ended = Self.ended(records)
        for call in [
          "lookup dir", "lookup dir/file", "getattr dir/file", "open dir/file", "read dir/file", "open dir", "read dir",
        ] { #expect(ended.contains(call), "\(call): \(ended)") }
        for record in records where record["type"]?.string == "access.finished" {
          #expect(record["requested_delay_ns"]?.int == 2_000_000)
          #expect(try #require(record["blocked_ns"]?.int) >= 2_000_000)
          #expect(record["outcome"]?.string == "ok")
        }
        let started = records.count { $0["type"]?.string == "access.started" }
        #expect(started == ended.count)
        let reads = records.filter {
          $0["type"]?.string == "access.finished" && $0["path"]?.string == "dir/file"
            && $0["operation"]?.string == "read"
        }
        #expect(reads.map { $0["length"]?.int } == [1000])
        // What was materialized is what is without delays.
        #expect(try await volume.fileAttempts().count == 1)
        let status = try await volume.status()
        #expect(status["access"]?["waiting"]?.int == 0)
        let counts = status["access"]?["operations"]?.array ?? []
        let read = try #require(counts.first { $0["operation"]?.string == "read" })
        #expect(read["calls"]?.int == ended.count { $0.hasPrefix("read ") })
        let summary = try await volume.json("summary", volume.mountpoint)
        let told = summary["access"]?.array ?? []
        #expect(Set(told.compactMap { $0["operation"]?.string }) == ["lookup", "getattr", "open", "read"])
        #expect(told.first { $0["operation"]?.string == "read" }?["callers"]?.array.isEmpty == false)
        let table = try await volume.done("log", volume.mountpoint)
        #expect(table.lines.contains { $0.contains("access: read") && $0.contains("dir/file") }, "\(table.text)")
        #expect(try await volume.done("summary", volume.mountpoint).lines.contains { $0.hasPrefix("access     ") })
      }
    }

    @Test func theKernelHidesNothingThatIsDelayed() async throws {
      let options = ["lookup", "getattr", "open", "read"].flatMap { ["--access", "\($0)=1ms"] }
      try await withVolume(options, source: Self.tree) { volume in
        try await Self.succeed("sh", "-c", "cat $1/file $1/large; ls $1", "sh", volume.path("dir"))
        var before = Self.ended(try await volume.records())
        for _ in 0..<2 {
          try await Self.succeed("stat", volume.path("dir/file"))
          try await Self.succeed("cat", volume.path("dir/file"), volume.path("dir/large"))
          try await Self.succeed("ls", volume.path("dir"))
          let all = Self.ended(try await volume.records())
          let new = all.dropFirst(before.count)
          before = all
          for call in [
            "lookup dir", "lookup dir/file", "getattr dir/file", "open dir/file", "read dir/file", "read dir/large",
            "open dir", "read dir",
          ] { #expect(new.contains(call), "\(call): \(new)") }
        }
        #expect(try await volume.status()["opens"]?["since_mount"]?["passthrough"]?.int == 0)
        #expect(try await volume.fileAttempts().count == 2)
      }
    }

    @Test func aDelayFollowsTheMaterialization() async throws {
      let scenario = """
        access: {read: 3ms}
        latency: 5ms
        rules: [{match: {path: bad}, fault: EIO}]
        """
      try await withScenario(scenario, source: Self.tree) { volume in
        let answer = try await volume.read("dir/file")
        #expect(answer.outcome == "ok")
        #expect(answer.duration >= .milliseconds(8))
        #expect(try await volume.read("bad").outcome == "EIO")
        let records = try await volume.records()
        let types = records.filter { $0["path"]?.string == "dir/file" }.compactMap { $0["type"]?.string }
        #expect(
          types.filter { $0.hasPrefix("materialization.") || $0.hasPrefix("access.") } == [
            "materialization.started", "materialization.finished", "access.started", "access.finished",
          ])
        #expect(!Self.ended(records).contains("read bad"))
      }
    }

    /// Of a file that has to come first, one that is here, and a new one; through the page cache and past it.
    @Test(arguments: [[], ["passthrough"]])
    func aWriteWaitsBeforeItIsDone(without features: [String]) async throws {
      let options = ["--scratch", "--access", "write=20ms"] + features.flatMap { ["--without", $0] }
      try await withVolume(options, source: Self.tree) { volume in
        let script = """
          printf dataless | dd of=$1/file bs=100 conv=notrunc,fsync status=none
          printf again | dd of=$1/file bs=100 conv=notrunc oflag=append status=none
          head -c 3000000 /dev/zero | dd of=$1/new bs=1048576 iflag=fullblock status=none
          head -c 4096 /dev/zero | dd of=$1/large bs=4096 seek=1 conv=notrunc oflag=direct status=none
          head -c 8 $1/file; tail -c 5 $1/file; stat -c %s $1/new
          """
        let read = try await Self.succeed("sh", "-c", script, "sh", volume.path("dir"))
        #expect(read.text == "datalessagain3000000\n")
        let records = try await volume.records()
        let writes = records.filter {
          $0["type"]?.string == "access.finished" && $0["operation"]?.string == "write"
        }
        func ranges(_ path: String) -> [[Int?]] {
          writes.filter { $0["path"]?.string == path }.map { [$0["offset"]?.int, $0["length"]?.int] }
        }
        #expect(ranges("dir/file") == [[0, 8], [1000, 5]])
        #expect(ranges("dir/large") == [[4096, 4096]])
        #expect(ranges("dir/new").compactMap { $0[1] }.reduce(0, +) == 3_000_000)
        for write in writes {
          #expect(try #require(write["blocked_ns"]?.int) >= 20_000_000)
          #expect(write["outcome"]?.string == "ok")
        }
        // The content came first, and once.
        let types = records.filter { $0["path"]?.string == "dir/file" }.compactMap { $0["type"]?.string }
        let order = types.filter { $0.hasPrefix("materialization.") || $0.hasPrefix("access.") }
        #expect(
          order.prefix(4) == [
            "materialization.started", "materialization.finished", "access.started", "access.finished",
          ])
        #expect(try await volume.status()["opens"]?["since_mount"]?["passthrough"]?.int == 0)
      }
    }

    @Test func aGateHoldsAWriteAndAnEndedVolumeLetsItGo() async throws {
      try await withScenario(
        "rules: [{name: hold, match: {path: file}, access: {write: {gate: writes}}}]", ["--scratch"],
        source: Self.tree
      ) { volume in
        let script = "printf held | dd of=$1 bs=100 conv=notrunc status=none"
        let first = try Child(["sh", "-c", script, "sh", volume.path("dir/file")])
        try await volume.waitForCallers(1, at: "writes")
        #expect(try await Self.succeed("head", "-c", "3", volume.path("dir/large")).output.count == 3)
        try await volume.done("gate", "release", volume.mountpoint, "writes")
        #expect(await first.wait().succeeded)
        #expect(try await Self.succeed("head", "-c", "4", volume.path("dir/file")).text == "held")
        let second = try Child(["sh", "-c", script, "sh", volume.path("dir/file")])
        try await volume.waitForCallers(1, at: "writes")
        try await volume.done("unmount", volume.mountpoint)
        let ended = await second.wait()
        #expect(!ended.succeeded && ended.errorText.contains("timed out"), "\(ended.errorText)")
      }
    }

    @Test func aKilledCallerEndsAtOnce() async throws {
      try await withScenario(
        "rules: [{match: {path: file}, access: {read: 1h}}, {access: {read: 1ms}}]", source: Self.tree
      ) { volume in
        let reader = try await volume.scratch.startProbe("read", volume.path("dir/file"))
        try await volume.log.wait("a read that is delayed") { records in
          records.contains { $0["type"]?.string == "access.started" && $0["path"]?.string == "dir/file" }
        }
        // Whoever asks for something else goes on.
        #expect(try await volume.read("bad").outcome == "ok")
        #expect(try await Self.succeed("ls", volume.path("dir")).lines.count == 2)
        let waiting = try await volume.status()["access"]
        #expect(waiting?["waiting"]?.int == 1)
        #expect(waiting?["calls"]?.array.first?["waiter"]?["pid"]?.int == Int(reader.pid))
        reader.signal(SIGKILL)
        #expect(await reader.wait().signal == SIGKILL)
        let ended = try await volume.log.wait("its end") { records in
          records.contains { $0["type"]?.string == "access.finished" && $0["outcome"]?.string == "EINTR" }
        }
        #expect(ended.last { $0["type"]?.string == "access.finished" }?["rule"]?.string == "rule-1")
        #expect(try await volume.status()["access"]?["waiting"]?.int == 0)
      }
    }

    @Test func aGateHoldsOpensUntilTheyAreReleased() async throws {
      try await withScenario(
        "rules: [{name: hold, match: {path: \"dir/*\"}, access: {open: {gate: opens}}}]", source: Self.tree
      ) { volume in
        let first = try await volume.scratch.startProbe("read", volume.path("dir/file"))
        try await volume.waitForCallers(1, at: "opens")
        let second = try await volume.scratch.startProbe("read", volume.path("dir/large"))
        try await volume.waitForCallers(2, at: "opens")
        #expect(try await volume.read("bad").outcome == "ok")
        let gate = try #require(try await volume.gates().first)
        #expect(gate["callers"]?.int == 2 && gate["access_count"]?.int == 2 && gate["attempt_count"]?.int == 0)
        #expect(gate["rules"]?.array.first?.string == "hold")
        let held = gate["accesses"]?.array ?? []
        #expect(held.map { $0["path"]?.string } == ["dir/file", "dir/large"])
        #expect(held.map { $0["waiter"]?["trigger"]?.string } == ["open", "open"])
        let text = try await volume.done("gate", "list", volume.mountpoint).text
        #expect(text.contains("0 attempts held and 2 accesses") && text.contains("dir/large (file)"), "\(text)")
        // ENOSYS would make the kernel ask for no open any more.
        try await volume.done("gate", "release", volume.mountpoint, "opens", "--path", "dir/large", "--fail", "ENOSYS")
        #expect(Answer(try #require(await second.wait().lines.first)).outcome == "EOPNOTSUPP")
        try await volume.done("gate", "release", volume.mountpoint, "opens")
        #expect(Answer(try #require(await first.wait().lines.first)).outcome == "ok")
        let ends = try await volume.records(ofType: "access.finished")
        #expect(ends.map { $0["outcome"]?.string } == ["ENOSYS", "ok"])
        #expect(ends.allSatisfy { $0["gate"]?.string == "opens" })
        let third = try await volume.scratch.startProbe("read", volume.path("dir/file"))
        try await volume.waitForCallers(1, at: "opens")
        try await volume.done("gate", "open", volume.mountpoint, "opens")
        #expect(Answer(try #require(await third.wait().lines.first)).outcome == "ok")
      }
    }

    /// A read whose content another one's fetch brings at that very moment was answered at once.
    @Test func everyReadIsDelayedBesideTheFetch() async throws {
      let names = (0..<32).map { "file\($0)" }
      try await withVolume(
        ["--access", "read=1ms"], source: { scratch in for name in names { try scratch.file(name, size: 1000) } }
      ) { volume in
        for round in 1...5 {
          let readers = try Child(
            [try await Probe.shared.path(), "threads", "256"] + names.map { volume.path($0) }, timeLimit: .seconds(60))
          let answers = await readers.wait().lines.map { Answer($0) }
          #expect(answers.count { $0.outcome == "ok" } == 256, "\(answers)")
          let ends = try await volume.records(ofType: "access.finished").count { $0["kind"]?.string == "file" }
          #expect(ends == 256 * round, "round \(round)")
          try await volume.done("evict", volume.mountpoint)
        }
      }
    }

    @Test(arguments: Unmounting.Way.allCases)
    func theEndOfTheVolumeAnswersWhoIsDelayed(way: Unmounting.Way) async throws {
      try await withVolume(["--access", "read=1h"], source: Self.tree) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let readers = try await volume.scratch.startProbe("threads", "100", volume.path("dir/file"), volume.path("bad"))
        try await volume.log.wait("100 delayed reads") { records in
          records.count { $0["type"]?.string == "access.started" } == 100
        }
        try await Unmounting.end(volume, by: way, daemon: daemon)
        _ = try await Unmounting.waitForEnd(of: daemon)
        let finished = await readers.wait()
        #expect(finished.lines.count == 100)
        for answer in finished.lines.map({ Answer($0) }) { #expect(answer.outcome == "ETIMEDOUT", "\(answer)") }
        #expect(!Machine.isMounted(volume.mountpoint))
        let ends = try volume.log.records(ofType: "access.finished")
        #expect(ends.count == 100)
        #expect(ends.allSatisfy { $0["outcome"]?.string == "ETIMEDOUT" })
      }
    }

    @Test(arguments: [[], ["--without", "name-epoch"]])
    func aChangeHoldsForWhatTheKernelKnewBefore(options: [String]) async throws {
      try await withVolume(options, source: Self.tree) { volume in
        func look() async throws {
          try await Self.succeed("stat", volume.path("dir/file"))
          try await Self.succeed("cat", volume.path("dir/file"), volume.path("dir/large"))
          try await Self.succeed("ls", volume.path("dir"))
        }
        // The kernel has it all.
        try await look()
        try await look()
        #expect(Self.ended(try await volume.records()).isEmpty)
        #expect(try await volume.status()["access"] == nil)
        try await volume.done("set", volume.mountpoint, "access={lookup: 1ms, getattr: 1ms, open: 1ms, read: 1ms}")
        try await look()
        let ended = Self.ended(try await volume.records())
        var calls = ["getattr dir/file", "open dir/file", "read dir/file", "read dir/large", "open dir", "read dir"]
        // Names are expired where the kernel can be told so.
        if try await volume.status()["fast_paths"]?["cached_absence"]?.bool == true {
          calls += ["lookup dir", "lookup dir/file"]
        }
        for call in calls { #expect(ended.contains(call), "\(call): \(ended)") }
        try await volume.done("set", volume.mountpoint, "access={}")
        try await look()
        #expect(Self.ended(try await volume.records()).count == ended.count, "nothing is delayed any more")
        #expect(try await volume.fileAttempts().count == 2)
      }
    }
  }
}
