import DatalessAccess
import Glibc
import Testing

extension RealMounts {
  /// Coordinated accesses on real volumes, by libcdataless, `dataless coordinate` and DatalessAccess.
  @Suite struct Coordination {
    private static let scenario = """
      rules:
        - {name: hold, match: {path: "held*", trigger: coordinate}, gate: g}
        - {name: fail, match: {path: bad}, fault: EIO}
      """

    private static func source(_ scratch: Scratch) throws {
      for name in ["a", "b", "bad", "held1", "held2"] { try scratch.file(name, size: 5000) }
      scratch.directory("d")
      try scratch.file("d/x", size: 100)
      symlink("a", "\(scratch.source)/link")
      symlink("d", "\(scratch.source)/way")
    }

    @Test func aWriterComesAfterAReaderAndBeforeTheNext() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let (one, other) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await one("ask 1 0 0 r:\(volume.path("a"))") == "1 asked")
        #expect(await one("wait 1") == "1 granted 2")
        #expect(await other("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await other("ask 2 0 0 r:\(volume.path("a"))") == "2 asked")
        let waiting = try await volume.log.wait("both wait") { records in
          records.count { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil } == 2
        }
        let started = waiting.filter { $0["type"]?.string == "coordination.started" }
        #expect(started.map { $0["writes"]?.int } == [0, 1, 0])
        #expect(started[1]["waits_for"]?.array.map(\.int) == [started[0]["intent"]?.int])
        #expect(started[1]["waits_at"]?.string == "a")
        #expect(await other("look 1") == "1 waits")
        let stack = try await volume.dataless("stack", volume.mountpoint, "--json").lines
          .map { try JSON(parsing: $0.utf8) }
        #expect(stack.map { $0["intent"]?["process"]?["pid"]?.int } == [Int(other.child.pid), Int(other.child.pid)])
        #expect(stack.first?["holders"]?[0]?["process"]?["pid"]?.int == Int(one.child.pid))
        let words = try await volume.dataless("stack", volume.mountpoint, "--pid", "\(other.child.pid)").text
        #expect(words.contains("to write a, waiting") && words.contains("blocks no thread"), "\(words)")
        let holder = "[\(one.child.pid)] (intent \(started[0]["intent"]?.int ?? 0))"
        #expect(words.contains("at a behind ") && words.contains(holder), "\(words)")
        #expect(await one("end 1") == "1 ended")
        #expect(await other("wait 1") == "1 granted 0")
        #expect(await other("look 2") == "2 waits")
        #expect(await other("end 1") == "1 ended")
        #expect(await other("wait 2") == "2 granted 0")
        let text = try await volume.dataless("log", volume.mountpoint).text
        #expect(text.contains("coordinate: write") && text.contains("behind"), "\(text)")
        let report = try await volume.json("summary", volume.mountpoint)
        let summary = try #require(report["coordination"])
        #expect(summary["intents"]?.int == 3 && summary["granted"]?.int == 3 && summary["waited"]?["waits"]?.int == 2)
        let waits = try #require(summary["longest"]?.array)
        let holders = waits.compactMap { $0["waits_for"]?[0]?["process"]?["pid"]?.int }
        #expect(Set(holders) == [Int(one.child.pid), Int(other.child.pid)], "the last one waits for the second")
        #expect(waits.allSatisfy { $0["process"]?["pid"]?.int == Int(other.child.pid) && $0["path"]?.string == "a" })
        #expect(summary["brought"]?["files"]?.int == 1 && summary["brought"]?["spared_ns"]?.int != nil)
        let lines = try await volume.dataless("summary", volume.mountpoint).text
        #expect(lines.contains("Coordinated accesses") && lines.contains("to write a"), "\(lines)")
      }
    }

    @Test func contentIsBroughtAtOnceAndBeforeTheAnswer() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let client = try await CoordinatingClient()
        let paths = ["held1", "held2", "d"].map { "r:" + volume.path($0) }.joined(separator: " ")
        #expect(await client("ask 1 0 0 \(paths)") == "1 asked")
        // Both at the gate: neither waits for the other. No thread of the client's does.
        try await volume.waitForCallers(2, at: "g")
        #expect(await client("look 1") == "1 waits")
        let stack = try await volume.dataless("stack", volume.mountpoint, "--json").lines
          .map { try JSON(parsing: $0.utf8) }
        // Once, as the intent: no caller is blocked.
        #expect(stack.count == 1 && stack.last?["intent"]?["stage"]?.string == "preparing")
        try await volume.done("gate", "open", volume.mountpoint, "g")
        #expect(await client("wait 1") == "1 granted 4")
        let items = try await volume.list()
        #expect(items["held1"]?["state"]?.string == "resident" && items["held2"]?["state"]?.string == "resident")
        #expect(items["d"]?["state"]?.string == "listed" && items["d/x"]?["state"]?.string == "dataless")
        #expect(await client("ask 2 0 0 r:\(volume.path("bad"))") == "2 asked")
        #expect(await client("wait 2") == "2 coordination_failed \(EIO)")
        #expect(await client("ask 3 1 0 r:\(volume.path("b"))") == "3 asked")
        #expect(await client("wait 3") == "3 granted 0")
        #expect(try await volume.list()["b"]?["state"]?.string == "dataless")
      }
    }

    @Test func whatCannotBeIsRefusedByName() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let client = try await CoordinatingClient()
        let refusals = [
          ("r:\(volume.path("absent"))", "coordination_failed \(ENOENT)"),
          ("w:\(volume.path("absent/x"))", "coordination_failed \(ENOENT)"),
          ("r:\(volume.path("a/x"))", "coordination_failed \(ENOTDIR)"),
          ("r:\(volume.path("link"))", "coordination_through_link \(ELOOP)"),
          ("r:\(volume.path("way/x"))", "coordination_through_link \(ELOOP)"),
          ("r:\(volume.path("d/../a"))", "coordination_bad_path \(EINVAL)"),
        ]
        for (number, (claim, refusal)) in refusals.enumerated() {
          #expect(await client("ask \(number) 0 0 \(claim)") == "\(number) asked")
          #expect(await client("wait \(number)") == "\(number) \(refusal)")
        }
        #expect(await client("ask 20 0 0 w:\(volume.path("absent"))") == "20 asked")
        #expect(await client("wait 20")?.hasPrefix("20 granted") == true)
        let wrong = try await run([
          try await ClientProgram.coordinate.path(), "wrong", volume.path("a"), "/etc/passwd",
        ])
        #expect(wrong.lines.last == "end 0 errno 77", "\(wrong.text)")
        #expect(wrong.lines.dropLast().allSatisfy { $0.hasSuffix(" ok") }, "\(wrong.text)")
      }
    }

    @Test func aDeadlockIsFoundAndWithinIsNotKept() async throws {
      try await withVolume([], source: Self.source) { volume in
        let (one, other) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await one("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await one("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await one("ask 2 0 1 r:\(volume.path("a"))") == "2 asked")
        #expect(await one("wait 2") == "2 granted 0")
        #expect(await other("ask 1 0 0 w:\(volume.path("b"))") == "1 asked")
        #expect(await other("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await one("ask 3 0 1 w:\(volume.path("b"))") == "3 asked")
        _ = try await volume.log.wait("it waits") { records in
          records.contains { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil }
        }
        #expect(await other("ask 2 0 1 w:\(volume.path("a"))") == "2 asked")
        #expect(await other("wait 2") == "2 coordination_deadlock \(ECANCELED)")
        #expect(await other("end 1") == "1 ended")
        #expect(await one("wait 3")?.hasPrefix("3 granted") == true)
        // What is another process' is nobody else's to be within.
        #expect(await one("end 1") == "1 ended")
        // Before the daemon has seen the end, what is asked for may have come before it.
        _ = try await volume.log.wait("the outer one has ended") { records in
          records.count { $0["type"]?.string == "coordination.finished" } == 3
        }
        #expect(await one("ask 4 0 1 r:\(volume.path("d"))") == "4 asked")
        #expect(await one("wait 4") == "4 coordination_outer_not_held \(ESRCH)")
      }
    }

    /// Killed, with a child that has its descriptors; closed by the client; and stopped while another one waits.
    @Test func whoEndsOrStopsGivesBack() async throws {
      try await withVolume([], source: Self.source) { volume in
        let (one, other) = (try await CoordinatingClient(), try await CoordinatingClient())
        let last = try await CoordinatingClient()
        #expect(await one("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await one("wait 1")?.hasPrefix("1 granted") == true)
        let child = await one("fork")?.split(separator: " ").last.flatMap { Int32($0) }
        #expect(await other("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        one.child.signal(SIGKILL)
        #expect(await other("wait 1")?.hasPrefix("1 granted") == true)
        if let child { kill(child, SIGKILL) }
        #expect(await last("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await last("ask 2 0 0 r:\(volume.path("a"))") == "2 asked")
        other.child.signal(SIGSTOP)
        #expect(await last("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await last("close 1") == "1 closed")
        #expect(await last("wait 2")?.hasPrefix("2 granted") == true)
        other.child.signal(SIGCONT)
        #expect(await other("look 1") == "1 coordination_taken_away \(ECANCELED)")
        let outcomes = try await volume.records(ofType: "coordination.finished").map { $0["outcome"]?.string }
        #expect(outcomes == ["ended", "coordination_taken_away", "ok"])
      }
    }

    /// The volume is there: it has not ended.
    @Test func whatAChildHasEndedIsTakenAwayFromItsParent() async throws {
      try await withVolume([], source: Self.source) { volume in
        let client = try await CoordinatingClient()
        for number in 1...2 {
          #expect(await client("ask \(number) 0 0 w:\(volume.path("a"))") == "\(number) asked")
          #expect(await client("wait \(number)")?.hasPrefix("\(number) granted") == true)
          #expect(await client("childend \(number)") == "\(number) ended")
        }
        #expect(await client("wait 1") == "1 coordination_taken_away \(ECANCELED)")
        // It stays what was answered last.
        #expect(await client("look 1") == "1 coordination_taken_away \(ECANCELED)")
        #expect(await client("end 1") == "1 \(ECANCELED)")
        // When another one is granted, the second has been given back.
        #expect(await client("ask 3 0 0 w:\(volume.path("a"))") == "3 asked")
        #expect(await client("wait 3")?.hasPrefix("3 granted") == true)
        #expect(await client("end 2") == "2 \(ECANCELED)")
      }
    }

    @Test func aHoldFollowsARenameAndTheNameStaysHeld() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let (one, other) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await one("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await one("wait 1")?.hasPrefix("1 granted") == true)
        try await volume.scratch.shell(#"mv "$MOUNT/a" "$MOUNT/moved"; echo new > "$MOUNT/a""#)
        #expect(await other("ask 1 0 0 r:\(volume.path("moved"))") == "1 asked")
        #expect(await other("ask 2 0 0 r:\(volume.path("a"))") == "2 asked")
        _ = try await volume.log.wait("both wait") { records in
          records.count { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil } == 2
        }
        #expect(await one("end 1") == "1 ended")
        #expect(await other("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await other("wait 2")?.hasPrefix("2 granted") == true)
      }
    }

    @Test func savesByRenameLoseNothing() async throws {
      try await withVolume(["--scratch"], source: { scratch in try scratch.file("n", content: "0\n".utf8) }) { volume in
        let program = try await ClientProgram.coordinate.path()
        let children = try (0..<3).map { _ in
          try Child([program, "count", "100", volume.path("n")], timeLimit: .seconds(60))
        }
        for child in children { #expect(await child.wait().lines == ["counted"]) }
        #expect(try await volume.scratch.shell(#"cat "$MOUNT/n""#) == "300\n")
      }
    }

    @Test func manyAreServedInTheirOrder() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let one = try await run([program, "many", "500", "w", volume.path("a")])
        #expect(one.lines == ["all 500 disorder 0"], "\(one.text)\(one.errorText)")
        let several = try await run([program, "many", "500", "r", volume.path("a"), volume.path("b")])
        #expect(several.lines == ["all 500 disorder 0"], "\(several.text)\(several.errorText)")
      }
    }

    @Test func whoAsksForThousandsAtOnceWaitsForATurn() async throws {
      try await withVolume([], source: Self.source) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let program = try await ClientProgram.coordinate.path()
        let asked = try await run([program, "turn", "6000", "\(daemon)", volume.path("a")], timeLimit: .seconds(60))
        #expect(
          asked.lines == ["full \(EAGAIN) after 2 s", "all 6000 disorder 0"], "\(asked.text)\(asked.errorText)")
      }
    }

    @Test func aHundredThousandNamesAreOneIntentAndMoreAreNone() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let wide = try await run([program, "wide", "100000", volume.path("d")], timeLimit: .seconds(60))
        #expect(wide.lines == ["granted"], "\(wide.text)\(wide.errorText)")
        let wider = try await run([program, "wide", "100001", volume.path("d")], timeLimit: .seconds(60))
        #expect(wider.lines == ["coordination_too_many_paths \(E2BIG)"], "\(wider.text)\(wider.errorText)")
      }
    }

    /// Also where the first one takes long to be read, or comes on a connection that was there before.
    @Test func whatOneProcessAsksForFirstIsGrantedFirst() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let long = try await run([program, "order", "60000", volume.path("d"), volume.path("b")])
        #expect(long.lines == ["the first"], "\(long.text)\(long.errorText)")
        let status = try await volume.status()
        let daemon = try #require(status["pid"]?.int)
        let socket = try #require(status["socket"]?.string).replacing("control.sock", with: "coordination.sock")
        let late = try await run([program, "late", socket, "\(daemon)", "a", volume.path("a")])
        #expect(late.lines == ["the first"], "\(late.text)\(late.errorText)")
      }
    }

    /// Another process comes in its turn, and of what nobody wants any more nothing is left.
    @Test func whoAsksForThousandsOfNamesAndGivesUpKeepsNobody() async throws {
      try await withVolume([], source: Self.source) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let program = try await ClientProgram.coordinate.path()
        let flood = try Child([program, "pour", "100000", volume.path("d")], timeLimit: .seconds(60))
        #expect(await flood.line() == "pours")
        let other = try await run([program, "wide", "5000", volume.path("d")], timeLimit: .seconds(20))
        #expect(other.lines == ["granted"], "\(other.text)\(other.errorText)")
        flood.signal(SIGKILL)
        _ = await flood.wait()
        let last = try await run([program, "wide", "5000", volume.path("d")], timeLimit: .seconds(20))
        #expect(last.lines == ["granted"], "\(last.text)\(last.errorText)")
        let descriptors = try await run(["sh", "-c", "ls -l /proc/\(daemon)/fd | grep -c memfd:"])
        #expect(descriptors.text == "0\n")
      }
    }

    @Test func theEndOfTheVolumeIsTold() async throws {
      try await withVolume([], source: Self.source) { volume in
        let client = try await CoordinatingClient()
        #expect(await client("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await client("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await client("ask 2 0 0 w:\(volume.path("a"))") == "2 asked")
        try await volume.done("unmount", volume.mountpoint)
        #expect(await client("wait 2") == "2 coordination_volume_ended \(ETIMEDOUT)")
        #expect(await client("look 1") == "1 coordination_volume_ended \(ETIMEDOUT)")
        #expect(await client("ask 3 0 0 r:\(volume.path("a"))") == "3 refused \(ENODATA)")
      }
    }

    @Test func aCommandComesAfterOthers() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let path = volume.path("a")
        let holder = try Child(
          [
            Machine.dataless, "coordinate", "--write", path, "--", "sh", "-c",
            "echo held; read line; echo one > \(path)",
          ],
          timeLimit: .seconds(60))
        #expect(await holder.line() == "held")
        let next = try Child(
          [Machine.dataless, "coordinate", "--read", path, "--", "cat", path], timeLimit: .seconds(60))
        _ = try await volume.log.wait("it waits") { records in
          records.contains { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil }
        }
        let late = try await run([
          Machine.dataless, "coordinate", "--timeout", "1ms", "--read", path, "--json", "--", "cat", path,
        ])
        #expect(late.status == 125 && late.text.contains(#""code":"timed_out""#), "\(late.text)\(late.errorText)")
        holder.closeInput()
        #expect(await next.wait().text == "one\n")
        #expect(await holder.wait().succeeded)
        let refused = try await run([Machine.dataless, "coordinate", "--read", volume.path("nix"), "--", "true"])
        #expect(refused.status == 125 && refused.errorText.contains("coordination_failed"), "\(refused.errorText)")
      }
    }

    @Test func theCommandSaysWhyItIsNotRun() async throws {
      try await withVolume([], source: Self.source) { volume in
        func coordinate(_ options: String...) async throws -> Finished {
          try await run([Machine.dataless, "coordinate"] + options + ["--", "true"])
        }
        let absent = try await coordinate("--read", volume.path("x\ny"))
        let once = #"'x\ny' is not there (coordination_failed, ENOENT)."#
        #expect(absent.status == 125 && absent.errorText.contains(once), "\(absent.errorText)")
        let outside = try await coordinate("--read", volume.path("a"), "/etc/passwd")
        #expect(outside.errorText.contains("/etc/passwd does not lie on a volume of dataless (ENODATA)"))
        // A daemon that is stopped hears of nothing: nobody may have the paths.
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(Int32(daemon), SIGSTOP)
        let stopped = try? await coordinate("--timeout", "100ms", "--read", volume.path("a"))
        kill(Int32(daemon), SIGCONT)
        #expect(stopped?.status == 125 && stopped?.errorText.contains("the volume's daemon does not answer") == true)
      }
    }

    @Test(.enabled(if: Machine.hasSetpriv, "needs root and setpriv")) func anotherUserIsNotAllowed() async throws {
      try await withVolume(["--allow-other"], source: Self.source) { volume in
        let user = ["setpriv", "--reuid", Machine.ordinaryID, "--regid", Machine.ordinaryID, "--clear-groups"]
        let program = try await ClientProgram.coordinate.path()
        // In a home that is nobody else's, nobody else can run them.
        for path in [Machine.dataless, program] {
          guard try await run(user + ["test", "-x", path]).succeeded else { return }
        }
        let command = try await run(user + [Machine.dataless, "coordinate", "--read", volume.path("a"), "--", "true"])
        #expect(command.status == 125, "\(command.text)\(command.errorText)")
        #expect(
          command.errorText.contains("only that user and root may (coordination_not_allowed, EACCES)"),
          "\(command.errorText)")
        let client = try await run(
          ["sh", "-c", #"echo "ask 1 0 0 r:$0" | "$@""#, volume.path("a")] + user + [program])
        #expect(client.text == "1 refused \(EACCES)\n", "\(client.text)\(client.errorText)")
      }
    }

    /// Numbers of two volumes are the same: the one of another volume is nobody's to be within.
    @Test func anIntentOfAnotherVolumeIsNoOuterOne() async throws {
      try await withVolume([], source: Self.source) { one in
        try await withVolume([], source: Self.source) { other in
          let elsewhere = try AccessIntent(writing: [other.path("a")])
          let outer = try AccessIntent(reading: [one.path("a")])
          let (held, grant) = (try await elsewhere.granted(), try await outer.granted())
          #expect(held.intent == grant.intent)
          let error = #expect(throws: CoordinationError.self) {
            _ = try AccessIntent(writing: [other.path("a")], within: grant)
          }
          #expect(error?.name == "coordination_outer_not_held" && error?.errno == ESRCH)
          try await withAccess(writing: [other.path("a")], within: held) { _ in }
        }
      }
    }

    /// It saves first, within the access about which it was asked; its own it is not asked about.
    @Test func aPresenterIsAskedBeforeOthers() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let (editor, reader) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await editor("present 1 \(volume.path("a"))") == "1 presents")
        #expect(await editor("ask 2 0 0 w:\(volume.path("a"))") == "2 asked")
        #expect(await editor("wait 2")?.hasPrefix("2 granted") == true)
        #expect(await editor("end 2") == "2 ended")
        #expect(await reader("ask 1 0 0 r:\(volume.path("a")) r:\(volume.path("b"))") == "1 asked")
        let question = try #require(await editor("news 1")).split(separator: " ")
        #expect(question.count == 5 && question[1] == "1" && question[3...] == ["1", "a"])
        #expect(await reader("look 1") == "1 waits")
        let status = try await volume.status()["coordination"]
        #expect(status?["presenters"]?.int == 1 && status?["intents"]?.array.first?["stage"]?.string == "asking")
        let asked = status?["intents"]?.array.first?["presenters"]?.array.first
        #expect(asked?["path"]?.string == "a" && asked?["process"]?["pid"]?.int != nil, "\(String(describing: asked))")
        #expect(await editor("save 3 \(question[2]) \(volume.path("a"))") == "3 asked")
        #expect(await editor("wait 3") == "3 granted 0")
        #expect(await editor("end 3") == "3 ended")
        #expect(await editor("answer 1 \(question[2])") == "1 answered")
        // Twice, and about what it was not asked: nothing.
        #expect(await editor("answer 1 \(question[2])") == "1 answered")
        #expect(await editor("answer 1 999999") == "1 answered")
        #expect(await reader("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await reader("end 1") == "1 ended")
        #expect(await editor("news 1") == "1 6 \(question[2]) 0 a")
        try await volume.scratch.shell(#"mv "$MOUNT/a" "$MOUNT/d/moved""#)
        #expect(await editor("news 1") == "1 9 0 0 d/moved")
        let answers = try await volume.records(ofType: "presenter.answered")
        #expect(answers.map { $0["outcome"]?.string } == ["ok"] && answers.first?["what"]?.string == "read")
      }
    }

    /// One that does not answer is named; one that ends is not waited for.
    @Test func aPresenterThatDoesNotAnswerHoldsUpNobodyForEver() async throws {
      try await withVolume([], source: Self.source) { volume in
        let (silent, reader) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await silent("present 1 \(volume.path("d"))") == "1 presents")
        #expect(await reader("ask 1 24 0 w:\(volume.path("d/x"))") == "1 asked")
        #expect(await silent("news 1")?.hasPrefix("1 4 ") == true)
        #expect(await reader("wait 1")?.hasPrefix("1 granted") == true)
        let answers = try await volume.records(ofType: "presenter.answered")
        #expect(answers.map { $0["outcome"]?.string } == ["timed_out"] && answers.first?["path"]?.string == "d")
        let summary = try await volume.json("summary", volume.mountpoint)["coordination"]
        #expect(summary?["timed_out"]?.int == 1 && summary?["slowest"]?[0]?["path"]?.string == "d")
        #expect(summary?["slowest"]?[0]?["process"]?["pid"]?.int == Int(silent.child.pid))
        #expect(await reader("ask 2 0 0 r:\(volume.path(""))") == "2 asked")
        silent.child.signal(SIGKILL)
        #expect(await reader("end 1") == "1 ended")
        #expect(await reader("wait 2")?.hasPrefix("2 granted") == true)
      }
    }

    @Test func aPresenterIsToldOfWhatHasHappened() async throws {
      try await withVolume([], source: Self.source) { volume in
        let presenter = try AccessPresenter(volume.path("a"))
        var news = presenter.news.makeAsyncIterator()
        try await withAccess(reading: [volume.path("a")]) { _ in }
        async let eviction = volume.dataless("evict", volume.path("a"))
        let asked = try #require(await news.next())
        #expect(asked.what == .evict && asked.path == "a" && asked.waits && asked.intent.intent > 0)
        // Not before the answer.
        #expect(try await volume.list()["a"]?["state"]?.string == "resident")
        try presenter.answer(asked)
        #expect(try await eviction.succeeded)
        let evicted = await news.next()
        #expect(evicted?.what == .evicted && evicted?.path == "a" && evicted?.waits == false)
        // It is about no intent: what is asked for within it is not asked for within nothing.
        let within = #expect(throws: CoordinationError.self) {
          _ = try AccessIntent(writing: [volume.path("a")], within: evicted?.intent)
        }
        #expect(within?.name == "coordination_outer_not_held" && within?.errno == ESRCH)
        let ended = await news.next()
        #expect(ended?.what == .ended && ended?.intent == asked.intent)
        let answers = try await volume.records(ofType: "presenter.answered")
        #expect(answers.last?["what"]?.string == "evict" && answers.last?["outcome"]?.string == "ok")
        #expect(throws: CoordinationError.self) { _ = try AccessPresenter("/etc/passwd") }
      }
    }

    /// A descriptor's number is given again as soon as an intent has ended.
    @Test func noIntentTakesTheAnswerOfTheNextOne() async throws {
      try await withVolume([], source: Self.source) { volume in
        let path = volume.path("a")
        for _ in 0..<300 {
          let intent = try AccessIntent(reading: [path])
          _ = try await intent.granted()
          try intent.end()
          #expect(intent.look() == nil)
        }
      }
    }

    @Test func swiftWaitsWithoutAThread() async throws {
      try await withVolume([], source: Self.source) { volume in
        let path = volume.path("a")
        let first = try AccessIntent(writing: [path])
        let grant = try await first.granted()
        #expect(grant.materialized == 2)
        let second = try AccessIntent(reading: [path])
        #expect(second.look() == nil)
        try await withAccess(reading: [path], within: grant) { inner in #expect(inner.intent > grant.intent) }
        try first.end()
        _ = try await second.granted()
        await #expect(throws: CoordinationError.self) {
          try await withAccess(reading: [volume.path("nix")]) { _ in }
        }
        let refused = try AccessIntent(reading: [volume.path("nix")])
        _ = try? await refused.granted()
        // It stays what was answered last.
        let error = #expect(throws: CoordinationError.self) { try refused.end() }
        #expect(error?.name == "coordination_failed" && error?.errno == ENOENT)
        #expect(throws: CoordinationError.self) { _ = try AccessIntent(reading: ["/etc/passwd"]) }
      }
    }
  }
}
