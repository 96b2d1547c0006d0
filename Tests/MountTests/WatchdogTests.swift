import Glibc
import Testing

extension RealMounts {
  /// Main threads that hang: told of while they wait, and ended where the volume may.
  @Suite struct Watchdogs {
    private static func scenario(_ action: String, _ apps: String) -> String {
      """
      watchdog: {main_thread: 100ms, action: \(action)\(apps)}
      rules:
        - {name: hold, match: {path: "p*"}, gate: g}
      """
    }

    private static func source(_ scratch: Scratch) async throws {
      for name in ["p1", "p2", "p3"] { try scratch.file(name, size: 5000) }
      try await scratch.shell("cp \"$(command -v cat)\" ../culprit; chmod 755 ../culprit")
    }

    /// Leaves no core dump behind.
    private static func start(_ words: String...) throws -> Child {
      try Child(["bash", "-c", "ulimit -c 0; exec \"$@\"", "-"] + words, timeLimit: .seconds(60))
    }

    private static func count(_ records: [JSON], _ type: String) -> Int { records.count { $0["type"]?.string == type } }

    /// Before the wait has ended, with the stack, and of main threads alone.
    @Test func aHangIsToldOfWhileItLasts() async throws {
      try await withScenario(Self.scenario("report", ""), source: Self.source) { volume in
        let main = try Self.start("\(volume.scratch.root)/culprit", volume.path("p1"))
        let threads = try await volume.scratch.startProbe("threads", "2", volume.path("p2"), volume.path("p3"))
        try await volume.waitForCallers(3, at: "g")
        let records = try await volume.log.wait("a hang and its stack") { records in
          Self.count(records, "watchdog.expired") >= 1 && Self.count(records, "wait.stack") >= 1
        }
        let hang = try #require(records.first { $0["type"]?.string == "watchdog.expired" })
        #expect(hang["path"]?.string == "p1" && hang["tid"]?.int == Int(main.pid) && hang["action"]?.string == "report")
        #expect(hang["limit_ns"]?.int == 100_000_000 && (hang["blocked_ns"]?.int ?? 0) >= 100_000_000)
        let stack = try #require(records.first { $0["type"]?.string == "wait.stack" })
        #expect(stack["attempt"] == hang["attempt"] && stack["outcome"]?.string == "ok", "\(stack)")
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await main.wait().succeeded)
        threads.closeInput()
        #expect(await threads.wait().succeeded)
        #expect(try await volume.records(ofType: "watchdog.expired").count == 1)
        let text = try await volume.dataless("log", volume.mountpoint).text
        #expect(text.contains("hang: read") && text.contains("over 100.0 ms"), "\(text)")
        let summary = try await volume.json("summary", volume.mountpoint)
        #expect(summary["main_thread"]?["hangs"]?["waits"]?.int == 1)
        #expect((summary["main_thread"]?["hitches"]?["waits"]?.int ?? 0) >= 1)
      }
    }

    /// The kernel waits for what it reads ahead, and the main thread does something else.
    @Test func whoHasGoneOnDoesNotHang() async throws {
      try await withScenario(Self.scenario("report", ""), source: Self.source) { volume in
        let script = """
          import os, select, sys
          file = os.open(sys.argv[1], os.O_RDONLY)
          os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED)
          print("went on", flush=True)
          select.select([sys.stdin], [], [])
          """
        let ahead = try Self.start("python3", "-c", script, volume.path("p1"))
        #expect(await ahead.line() == "went on")
        try await volume.waitForCallers(1, at: "g")
        // Begins later, and hangs: by then the first one has been looked at.
        let reader = try Self.start("cat", volume.path("p2"))
        let records = try await volume.log.wait("a hang and its stack") { records in
          Self.count(records, "watchdog.expired") >= 1 && Self.count(records, "wait.stack") >= 1
        }
        let hangs = records.filter { $0["type"]?.string == "watchdog.expired" }
        #expect(hangs.map { $0["path"]?.string } == ["p2"])
        let stacks = try await volume.dataless("stack", volume.mountpoint, "--json").lines
        let ran = stacks.filter { $0.contains("thread_ran") && $0.contains("\"tid\":\(ahead.pid),") }
        #expect(ran.count == 1, "\(stacks)")
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await reader.wait().succeeded)
        ahead.closeInput()
        #expect(await ahead.wait().succeeded)
      }
    }

    /// A call that is merely delayed hangs just as well.
    @Test func aDelayedCallThatHangsIsToldOf() async throws {
      let scenario = """
        watchdog: {main_thread: 100ms, action: report}
        rules:
          - {name: hold, match: {path: p1}, access: {open: {gate: g}}}
        """
      try await withScenario(scenario, source: Self.source) { volume in
        let child = try Self.start("cat", volume.path("p1"))
        let records = try await volume.log.wait("a hang and its stack") { records in
          Self.count(records, "watchdog.expired") == 1 && Self.count(records, "wait.stack") == 1
        }
        let hang = try #require(records.first { $0["type"]?.string == "watchdog.expired" })
        let started = try #require(records.first { $0["type"]?.string == "access.started" })
        #expect(hang["operation"]?.string == "open" && hang["path"]?.string == "p1" && hang["attempt"] == nil)
        let stack = records.first { $0["type"]?.string == "wait.stack" }
        #expect(hang["access"] == started["access"] && stack?["access"] == started["access"])
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await child.wait().succeeded)
        #expect(try await volume.dataless("log", volume.mountpoint).text.contains("hang: open"))
        #expect(try await volume.json("summary", volume.mountpoint)["main_thread"]?["hangs"]?["waits"]?.int == 1)
      }
    }

    /// On a mounted volume: what the scenario names and the volume's own user runs. Nobody else, however it hangs.
    @Test func aMountEndsWhatIsNamedAndItsOwn() async throws {
      let options = Machine.isRoot ? ["--allow-other"] : []
      try await withScenario(Self.scenario("abort", ", apps: {comm: culprit}"), options, source: Self.source) {
        volume in
        let culprit = "\(volume.scratch.root)/culprit"
        let unnamed = try Self.start("cat", volume.path("p2"))
        let named = try Self.start(culprit, volume.path("p1"))
        #expect(await named.wait().signal == SIGABRT)
        let records = try await volume.log.wait("a signal") { Self.count($0, "watchdog.signalled") == 1 }
        #expect(records.first { $0["type"]?.string == "watchdog.signalled" }?["outcome"]?.string == "ok")
        if Machine.hasSetpriv {
          let id = Machine.ordinaryID
          let other = try Self.start(
            "setpriv", "--reuid", id, "--regid", id, "--clear-groups", culprit, volume.path("p3"))
          let later = try await volume.log.wait("a second hang") { Self.count($0, "watchdog.expired") == 2 }
          #expect(later.last { $0["type"]?.string == "watchdog.expired" }?["spared"]?.string == "other_user")
          try await volume.done("gate", "open", volume.mountpoint, "g")
          #expect(await other.wait().succeeded)
        } else {
          try await volume.done("gate", "open", volume.mountpoint, "g")
        }
        #expect(await unnamed.wait().succeeded)
        let hangs = try await volume.records(ofType: "watchdog.expired")
        #expect(hangs.allSatisfy { $0["path"]?.string != "p2" }, "what is not named does not count")
      }
    }

    @Test func aProgramThatHandlesTheSignalWaitsOn() async throws {
      try await withScenario(Self.scenario("abort", ", apps: {exe: \"python3*\"}"), source: Self.source) { volume in
        let program = """
          import os, signal, sys
          signal.signal(signal.SIGABRT, lambda *_: None)
          file = os.open(sys.argv[1], os.O_RDONLY)
          print(len(os.read(file, 100)))
          """
        let child = try Self.start("python3", "-c", program, volume.path("p1"))
        try await volume.log.wait("the survivor") { Self.count($0, "watchdog.survived") == 1 }
        try await volume.done("gate", "release", volume.mountpoint, "g")
        let finished = await child.wait()
        #expect(finished.text == "100\n", "\(finished.errorText)")
        let types = try await volume.records().compactMap { $0["type"]?.string }.filter { $0.hasPrefix("watchdog.") }
        #expect(types == ["watchdog.expired", "watchdog.signalled", "watchdog.survived"])
      }
    }

    /// Its wait may end before a second has passed: who reads after its signal was not ended by it.
    @Test func whoReadsAfterTheSignalHasSurvived() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let program = """
          import os, signal, sys
          signal.signal(signal.SIGABRT, lambda *_: None)
          print(len(os.read(os.open(sys.argv[1], os.O_RDONLY), 100)))
          """
        let finished = try await run(
          [
            Machine.dataless, "run", "--watchdog", "abort=100ms", "--latency", "2s", "--log", scratch.log.path,
            scratch.source, "--", "python3", "-c", program, "{}/p1",
          ], timeLimit: .seconds(60))
        #expect(finished.succeeded && finished.text == "100\n", "\(finished.text)\(finished.errorText)")
        let records = try scratch.log.records()
        let signalled = records.count { $0["type"]?.string == "watchdog.signalled" && $0["outcome"]?.string == "ok" }
        #expect(signalled > 0 && Self.count(records, "watchdog.survived") == signalled)
      }
    }

    /// No name is needed there: who descends from the command is under test.
    @Test func aRunEndsItsDescendants() async throws {
      try await withScratch { scratch in
        try await Self.source(scratch)
        let finished = try await run(
          [
            Machine.dataless, "run", "--watchdog", "abort=100ms", "--latency", "60s", "--log", scratch.log.path,
            scratch.source, "--", "bash", "-c", "ulimit -c 0; '\(scratch.root)/culprit' {}/p1; echo $?",
          ], timeLimit: .seconds(60))
        #expect(finished.succeeded && finished.text == "134\n", "\(finished.text)\(finished.errorText)")
        let words = finished.errorText.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("1 hang, 1 signalled"), "\(finished.errorText)")
        let types = try scratch.log.records().compactMap { $0["type"]?.string }
        #expect(types.count { $0 == "watchdog.signalled" } == 1 && !types.contains("watchdog.survived"))
        // What has no stack in the log would have had it after its end.
        let stack = try #require(types.firstIndex(of: "wait.stack"))
        #expect(stack < (types.firstIndex(of: "watchdog.signalled") ?? 0))
      }
    }
  }
}
