import Glibc
import Testing

extension RealMounts {
  /// Gates hold what matches and nothing else, until the tester lets it go.
  @Suite struct Gates {
    static let scenario = """
      rules:
        - {name: hold-photos, match: {path: "*.jpg"}, gate: photos}
      """

    private static func photos(_ scratch: Scratch) throws {
      for name in ["a.jpg", "b.jpg", "c.jpg", "free"] { try scratch.file(name, size: 5000) }
      scratch.directory("d")
      try scratch.file("d/x", size: 100)
    }

    @Test func aGateHoldsItsMatchesAndNothingElse() async throws {
      try await withScenario(Self.scenario, source: Self.photos) { volume in
        let names = ["a.jpg", "b.jpg", "c.jpg"].map { volume.path($0) }
        let readers = try Child([try await Probe.shared.path(), "threads", "100"] + names, timeLimit: .seconds(60))
        try await volume.waitForCallers(100, at: "photos")
        // What is not held is as it was, also what lies beside it and what is known of the held files.
        #expect(try await volume.read("free", timeLimit: .seconds(30)).outcome == "ok")
        #expect(try await run(["stat"] + names, timeLimit: .seconds(30)).succeeded)
        #expect(try await run(["ls", "-la", volume.path("d")], timeLimit: .seconds(30)).succeeded)
        let gate = try #require(try await volume.gates().first)
        #expect(gate["callers"]?.int == 100 && gate["attempt_count"]?.int == 3 && gate["open"]?.bool == false)
        #expect(gate["rules"]?[0]?.string == "hold-photos")
        let held = try #require(gate["held"]?.array.first { $0["path"]?.string == "a.jpg" })
        #expect(held["waiter_count"]?.int == 34)
        #expect(held["waiters"]?[0]?["pid"]?.int == Int(readers.pid))
        #expect(held["blocks"]?.array.isEmpty == true, "a read(2) locks nothing")
        let status = try await volume.status()
        #expect(status["gates"]?[0]?["callers"]?.int == 100)
        #expect(status["in_flight"]?[0]?["stage"]?.string == "held")
        #expect(!readers.hasFinished)
        try await volume.done("gate", "release", volume.mountpoint, "photos")
        let finished = await readers.wait()
        #expect(finished.lines.count == 100)
        #expect(finished.lines.allSatisfy { Answer($0).outcome == "ok" && Answer($0).bytes == 5000 })
        let released = try await volume.records(ofType: "materialization.released")
        #expect(released.count == 3)
        #expect(released.allSatisfy { $0["by"]?.string == "command" && $0["gate"]?.string == "photos" })
      }
    }

    @Test func someAreReleasedAndSomeFail() async throws {
      try await withScenario(Self.scenario, source: Self.photos) { volume in
        var readers: [Child] = []
        for (index, name) in ["a.jpg", "b.jpg", "c.jpg"].enumerated() {
          readers.append(try await volume.scratch.startProbe("read", volume.path(name)))
          try await volume.waitForCallers(index + 1, at: "photos")
        }
        let one = try await volume.json("gate", "release", volume.mountpoint, "photos", "--count", "1")
        #expect(one["released"]?.int == 1)
        #expect(Answer(try #require(await readers[0].wait().lines.first)).outcome == "ok")
        try await volume.done("gate", "release", volume.mountpoint, "photos", "--path", "c.*", "--fail", "ENOSPC")
        #expect(Answer(try #require(await readers[2].wait().lines.first)).outcome == "ENOSPC")
        let attempt = try #require(try await volume.gates().first?["held"]?[0]?["attempt"]?.int)
        try await volume.done("gate", "release", volume.mountpoint, "photos", "--attempt", "\(attempt)")
        #expect(Answer(try #require(await readers[1].wait().lines.first)).outcome == "ok")
        let ends = try await volume.records(ofType: "materialization.finished").filter { $0["kind"]?.string == "file" }
        #expect(ends.compactMap { $0["outcome"]?.string } == ["ok", "ENOSPC", "ok"])
        // A staged failure names its rule, so that nobody takes it for a real one.
        #expect(ends.map { $0["rule"]?.string } == [nil, "hold-photos", nil])
        #expect(ends.allSatisfy { ($0["held_ns"]?.int ?? 0) > 0 })
      }
    }

    @Test func waitingReleasingAndOpeningSayWhatIsWrong() async throws {
      try await withScenario(Self.scenario, source: Self.photos) { volume in
        let mountpoint = volume.mountpoint
        let late = try await volume.dataless("gate", "wait", mountpoint, "photos", "--timeout", "50ms")
        #expect(late.status == 4 && late.errorText.contains("0 of 1 caller"))
        #expect(try await volume.dataless("gate", "wait", mountpoint, "photos", "--callers", "0").status == 0)
        let absent = try await volume.dataless("gate", "wait", mountpoint, "foto")
        #expect(absent.status == 1 && absent.errorText.contains("no gate 'foto' (ENOENT)"))
        let empty = try await volume.dataless("gate", "release", mountpoint, "photos")
        #expect(empty.status == 1 && empty.errorText.contains("ESRCH"))
        // Open, everything passes; closed, it holds again.
        try await volume.done("gate", "open", mountpoint, "photos")
        #expect(try await volume.read("a.jpg").outcome == "ok")
        try await volume.done("gate", "close", mountpoint, "photos")
        let reader = try await volume.scratch.startProbe("read", volume.path("b.jpg"))
        try await volume.waitForCallers(1, at: "photos")
        // A rule that goes takes its gate with it, and what the gate held goes on.
        let waiting = try Child([Machine.dataless, "gate", "wait", mountpoint, "photos", "--callers", "9"])
        try await volume.scratch.scenario("seed: 1", name: "none.yaml").apply(to: volume)
        #expect(Answer(try #require(await reader.wait().lines.first)).outcome == "ok")
        #expect(await waiting.wait().status == 1)
        let released = try #require(try await volume.records(ofType: "materialization.released").last)
        #expect(released["by"]?.string == "configuration")
        let changes = try await volume.records(ofType: "configuration.changed")
        #expect(changes.compactMap { $0["what"]?.string } == ["gate", "gate", "scenario"])
        #expect(changes[0]["after"]?["open"]?.bool == true && changes[0]["before"]?["open"]?.bool == false)
      }
    }

    /// The main thread of a program with a window must never wait for content: the gate finds it, the log proves it.
    @Test func aBlockedMainThreadIsFoundAtTheGateAndInTheLog() async throws {
      try await withScenario(Self.scenario, source: Self.photos) { volume in
        let program = try await volume.scratch.startProbe("gui", volume.path("a.jpg"), volume.path("b.jpg"))
        try await volume.waitForCallers(2, at: "photos")
        let held = try #require(try await volume.gates().first?["held"])
        let waiters = held.array.flatMap { attempt in
          (attempt["waiters"]?.array ?? []).map { (attempt["path"]?.string, $0["main_thread"]?.bool, $0["tid"]?.int) }
        }
        let main = try #require(waiters.first { $0.1 == true })
        #expect(main.0 == "a.jpg" && main.2 == Int(program.pid))
        #expect(waiters.filter { $0.1 == false }.map(\.0) == ["b.jpg"])
        let waits = try await volume.records(ofType: "wait.started").filter { $0["trigger"]?.string == "read" }
        #expect(waits.contains { $0["main_thread"]?.bool == true && $0["tid"]?.int == Int(program.pid) })
        try await volume.done("gate", "release", volume.mountpoint, "photos")
        let lines = await program.wait().lines.sorted()
        #expect(lines == ["thread=main outcome=ok", "thread=worker outcome=ok"])
      }
    }

    @Test func whatTheKernelLocksBehindAHeldDirectoryIsSaid() async throws {
      try await withScenario(
        "rules: [{match: {kind: directory, path: d}, gate: listing}]", source: Self.photos
      ) { volume in
        let lister = try Child(["ls", volume.path("d")])
        try await volume.waitForCallers(1, at: "listing")
        let looker = try Child(["stat", volume.path("d/x")])
        try await volume.waitForCallers(2, at: "listing")
        let held = try #require(try await volume.gates().first?["held"]?[0])
        #expect(held["kind"]?.string == "directory" && held["path"]?.string == "d")
        let blocks = held["blocks"]?.array.compactMap(\.string) ?? []
        #expect(blocks.count == 2)
        #expect(blocks[0].contains("a lookup is parked") && blocks[1].contains("a listing is parked"))
        let text = try await volume.done("gate", "list", volume.mountpoint).text
        #expect(text.contains("kernel: a listing is parked") && text.contains("ls[\(lister.pid)] main thread, readdir"))
        // The volume's root and everything beside it is served.
        #expect(try await volume.read("free", timeLimit: .seconds(30)).outcome == "ok")
        #expect(try await run(["ls", volume.mountpoint], timeLimit: .seconds(30)).succeeded)
        try await volume.done("gate", "release", volume.mountpoint, "listing", "--fail", "EIO")
        #expect(await lister.wait().status == 2)
        #expect(await looker.wait().status == 1)
      }
    }

    @Test func unmountingEndsHeldCallersAndWatchers() async throws {
      try await withScenario(Self.scenario, source: Self.photos) { volume in
        let reader = try await volume.scratch.startProbe("read", volume.path("a.jpg"))
        try await volume.waitForCallers(1, at: "photos")
        let waiting = try Child([Machine.dataless, "gate", "wait", volume.mountpoint, "photos", "--callers", "9"])
        try await volume.done("unmount", volume.mountpoint)
        #expect(Answer(try #require(await reader.wait().lines.first)).outcome == "ETIMEDOUT")
        let ended = try #require(await waiting.wait().status)
        #expect(ended != 0)
      }
    }
  }
}

extension String {
  /// Applies the scenario file of this path, which must be valid.
  fileprivate func apply(to volume: Volume) async throws {
    try await volume.done("scenario", "apply", volume.mountpoint, self)
  }
}
