import DatalessAccess
import Glibc
import Testing

extension RealMounts {
  /// Who is granted what while presenters save first, and while commands start commands.
  @Suite struct SavingFirst {
    private static func source(_ scratch: Scratch) throws {
      for name in ["a", "b"] { try scratch.file(name, size: 5000) }
      scratch.directory("d")
      symlink("a", "\(scratch.source)/link")
      symlink("d", "\(scratch.source)/way")
    }

    @Test func presentersSaveOneAfterTheOtherAndBeforeTheWriter() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let path = volume.path("a")
        let (one, two) = (try await CoordinatingClient(), try await CoordinatingClient())
        let writer = try await CoordinatingClient()
        for editor in [one, two] { #expect(await editor("present 1 \(path)") == "1 presents") }
        #expect(await writer("ask 1 0 0 w:\(path)") == "1 asked")
        var numbers: [Substring] = []
        for editor in [one, two] {
          let question = try #require(await editor("news 1")).split(separator: " ")
          numbers.append(question[2])
        }
        // Both save: neither is asked about the other's save, and one of them waits for the other.
        #expect(await one("save 2 \(numbers[0]) \(path)") == "2 asked")
        #expect(await one("wait 2")?.hasPrefix("2 granted") == true)
        #expect(await two("save 2 \(numbers[1]) \(path)") == "2 asked")
        _ = try await volume.log.wait("the second waits") { records in
          records.contains { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil }
        }
        #expect(await two("look 2") == "2 waits")
        #expect(await one("end 2") == "2 ended")
        #expect(await one("answer 1 \(numbers[0])") == "1 answered")
        #expect(await two("wait 2")?.hasPrefix("2 granted") == true)
        // An answer counts when what is saved has ended.
        #expect(await two("answer 1 \(numbers[1])") == "1 answered")
        #expect(await writer("look 1") == "1 waits")
        let status = try await volume.status()["coordination"]
        #expect(status?["granted"]?.int == 1 && status?["preparing"]?.int == 1 && status?["waiting"]?.int == 0)
        #expect(await two("end 2") == "2 ended")
        #expect(await writer("wait 1")?.hasPrefix("1 granted") == true)
        let answers = try await volume.records(ofType: "presenter.answered")
        #expect(answers.map { $0["outcome"]?.string } == ["ok", "ok"])
      }
    }

    @Test func aSaveThatTakesTooLongIsTakenAwayAndOneThatWaitsIsRefused() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let path = volume.path("a")
        let (one, two) = (try await CoordinatingClient(), try await CoordinatingClient())
        let writer = try await CoordinatingClient()
        for editor in [one, two] { #expect(await editor("present 1 \(path)") == "1 presents") }
        #expect(await writer("ask 1 0 0 w:\(path)") == "1 asked")
        let question = try #require(await one("news 1")).split(separator: " ")
        #expect(await two("news 1") != nil)
        #expect(await one("save 2 \(question[2]) \(path)") == "2 asked")
        #expect(await one("wait 2")?.hasPrefix("2 granted") == true)
        #expect(await two("save 2 \(question[2]) \(path)") == "2 asked")
        #expect(await one("answer 1 \(question[2])") == "1 answered")
        #expect(await two("wait 2") == "2 coordination_outer_not_held \(ESRCH)")
        #expect(await writer("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await one("end 2") == "2 \(ECANCELED)")
        let finished = try await volume.records(ofType: "coordination.finished").map { $0["outcome"]?.string }
        #expect(finished == ["coordination_outer_not_held", "coordination_taken_away"])
        let answers = try await volume.records(ofType: "presenter.answered").map { $0["outcome"]?.string }
        #expect(answers == ["timed_out", "timed_out"])
        #expect(try await volume.status()["coordination"]?["totals"]?["taken_away"]?.int == 1)
      }
    }

    @Test func aCommandIsNotInTheWayOfWhatItStarts() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        let path = volume.path("a")
        let own = [Machine.dataless, "coordinate", "--write", path, "--"]
        #expect(try await run(own + own + ["echo", "in"], timeLimit: .seconds(60)).text == "in\n")
        // Two that it starts exclude each other: no line is lost.
        let line = #"read n < "$1"; echo $((n + 1)) > "$1""#
        let script = #"""
          echo 0 > "$1"
          for i in 1 2 3 4 5 6 7 8; do "$2" coordinate --write "$1" -- sh -c '\#(line)' sh "$1" & done
          wait; cat "$1"
          """#
        let counted = try await run(own + ["sh", "-c", script, "sh", path, Machine.dataless], timeLimit: .seconds(60))
        #expect(counted.text == "8\n", "\(counted.errorText)")
      }
    }

    @Test func aPresenterOfALinkIsRefused() async throws {
      try await withVolume([], source: Self.source) { volume in
        let client = try await CoordinatingClient()
        // What is below a directory that nobody has listed is not known yet.
        _ = try await run(["ls", "-l", volume.mountpoint, volume.path("d")])
        for (name, number) in [("link", ELOOP), ("way/x", ELOOP), ("a/x", ENOTDIR), ("link/x", ELOOP)] {
          #expect(await client("present 1 \(volume.path(name))") == "1 presents")
          #expect(await client("news 1") == "1 errno \(number)", "\(name)")
        }
        #expect(await client("present 2 \(volume.path("d/new"))") == "2 presents")
        #expect(try await volume.status()["coordination"]?["presenters"]?.int == 1)
        let names = try await volume.json("summary", volume.mountpoint)["coordination"]?["failures"]
        #expect(names?["coordination_through_link"]?.int ?? 0 > 0, "\(String(describing: names))")
      }
    }

    @Test func aPresenterThatIsCutOffIsToldWhy() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let flooded = try await run(
          [program, "flood", "6000", volume.path("d"), volume.path("d/x")], timeLimit: .seconds(60))
        #expect(flooded.text == "read \(EPROTO)\n", "\(flooded.errorText)")
        let finished = try await volume.records(ofType: "presenter.finished")
        #expect(finished.map { $0["outcome"]?.string } == ["coordination_bad_request"])
        #expect(finished.first?["message"]?.string?.contains("unread") == true)
      }
    }

    @Test func refusalsAreCountedInTheLogAsInTheStatus() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let asked = try await run([program, "bad", "3000", volume.path("a")], timeLimit: .seconds(60))
        #expect(asked.text == "refused 3000\n", "\(asked.errorText)")
        let refused = try #require(try await volume.status()["coordination"]?["totals"]?["refused"]?.int)
        #expect(refused == 3000)
        try await volume.log.wait("all are told") { records in
          records.reduce(0) { sum, record in
            guard record["outcome"]?.string == "coordination_outer_not_held" else { return sum }
            return sum + 1 + (record["others"]?.int ?? 0)
          } == 3000
        }
        #expect(try await volume.records(ofType: "coordination.finished").count < 100)
        let summary = try await volume.json("summary", volume.mountpoint)["coordination"]
        #expect(summary?["failed"]?.int == 3000 && summary?["intents"]?.int == 3000)
        #expect(summary?["failures"]?["coordination_outer_not_held"]?.int == 3000)
      }
    }

    /// Thousands of presenters came before: who waits is told nevertheless.
    @Test func manyPresentersHideNobody() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let crowd = try Child([program, "crowd", "1100", volume.path("d")], timeLimit: .seconds(60))
        #expect(await crowd.line() == "presents")
        let client = try await CoordinatingClient()
        #expect(await client("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await client("wait 1")?.hasPrefix("1 granted") == true)
        #expect(await client("ask 2 0 0 w:\(volume.path("a"))") == "2 asked")
        try await volume.log.wait("it waits") { records in
          records.contains { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil }
        }
        let text = try await volume.dataless("stack", volume.mountpoint).text
        #expect(text.contains("to write a, waiting for"), "\(text)")
        let status = try await volume.status()["coordination"]
        #expect(status?["intents"]?.array.map { $0["stage"]?.string } == ["granted", "waiting"])
        #expect(status?["presenters"]?.int == 1100)
        crowd.closeInput()
      }
    }

    @Test func commandsThatWantEachOthersFilesAreADeadlock() async throws {
      try await withVolume([], source: Self.source) { volume in
        let names = ["a", "b"]
        let children = try names.indices.map { place in
          let (own, other) = (volume.path(names[place]), volume.path(names[1 - place]))
          let script = #"echo held; read line; "$1" coordinate --write "$2" -- echo both; echo end"#
          return try Child(
            [Machine.dataless, "coordinate", "--write", own, "--", "sh", "-c", script, "sh", Machine.dataless, other],
            timeLimit: .seconds(60))
        }
        for child in children { #expect(await child.line() == "held") }
        for child in children { child.closeInput() }
        var (granted, refused) = (0, 0)
        for child in children {
          let result = await child.wait()
          if result.text.contains("both") { granted += 1 }
          if result.errorText.contains("coordination_deadlock"), result.errorText.contains("it would wait at") {
            refused += 1
          }
        }
        #expect(granted == 1 && refused == 1)
      }
    }
  }
}
