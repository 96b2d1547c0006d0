import Glibc
import Testing

extension RealMounts {
  /// What is recorded, and the commands that show it.
  @Suite struct EventLogs {
    static func filesReadByTwo(_ volume: Volume) async throws {
      _ = try await run(["find", volume.mountpoint, "-type", "f"])
      _ = try await run(["bash", "-c", "cat \"$0\"/one/file-[012] | md5sum", volume.mountpoint])
      _ = try await run(["head", "-c", "10", volume.path("plain")])
    }

    @Test func everyMaterializationNamesProcessThreadAndOperation() async throws {
      // Its arguments are read beside its request: it must live that long.
      try await withVolume(["--latency", "500ms"], source: NoContent.someFiles) { volume in
        let reader = try Child(["cat", volume.path("one/file-3")])
        await reader.wait()
        let shown = try await volume.dataless("log", volume.mountpoint, "--json", "--type", "materialization.started")
        #expect(shown.succeeded, "\(shown.errorText)")
        let records = try shown.lines.map { try JSON(parsing: $0.utf8) }
        let record = try #require(records.last { $0["path"]?.string == "one/file-3" })
        let process = try #require(record["process"])
        #expect(process["pid"]?.int == Int(reader.pid))
        #expect(process["tid"]?.int == Int(reader.pid) || record["tid"]?.int == Int(reader.pid))
        #expect(record["main_thread"]?.bool ?? process["main_thread"]?.bool == true)
        #expect(process["comm"]?.string == "cat")
        #expect(process["exe"]?.string?.hasSuffix("/cat") == true)
        #expect(process["argv"]?.array.last?.string == volume.path("one/file-3"))
        #expect(process["uid"]?.int == Int(getuid()))
        #expect(process["parents"]?[0]?["pid"]?.int == Int(getpid()))
        #expect(record["trigger"]?.string == "read")
        #expect(record["io"]?.string == "direct")
        #expect(record["kind"]?.string == "file")
        #expect(try #require(record["prior"]?["opens"]?.int) >= 1)
      }
    }

    @Test func readersThatJoinAreNamedToo() async throws {
      try await withScenario(
        "rules: [{name: hold, match: {path: file}, gate: hold}]", source: { try $0.file("file", size: 100) }
      ) { volume in
        let cat = try Child(["cat", volume.path("file")])
        try await volume.waitForCallers(1, at: "hold")
        let head = try Child(["head", volume.path("file")])
        try await volume.waitForCallers(2, at: "hold")
        try await volume.done("gate", "release", volume.mountpoint, "hold")
        await cat.wait()
        await head.wait()
        let shown = try await volume.dataless("log", volume.mountpoint, "--json", "--type", "wait.finished")
        let names = try shown.lines.map { try JSON(parsing: $0.utf8) }.filter { $0["trigger"]?.string == "read" }
          .compactMap { $0["process"]?["comm"]?.string }
        #expect(names.sorted() == ["cat", "head"])
      }
    }

    @Test func logFiltersByTypePathAndProcess() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let target = volume.mountpoint
        func count(_ arguments: String...) async throws -> Int {
          let shown = try await run([Machine.dataless, "log", target, "--json"] + arguments)
          #expect(shown.succeeded, "\(arguments): \(shown.errorText)")
          return shown.lines.count
        }
        let started = ["--type", "materialization.started"]
        #expect(try await count(started[0], started[1], "--process", "cat") == 3)
        #expect(try await count(started[0], started[1], "--path", "one/file-*", "--process", "cat") == 3)
        #expect(try await count(started[0], started[1], "--path", "plain") == 1)
        #expect(try await count("--process", "no-such-process") == 0)
        #expect(try await count() > 10)
      }
    }

    /// Two scripts of one interpreter are two rows; what the conditions of `log` leave is what they say.
    @Test func mainThreadsAndScriptsAreFound() async throws {
      // A process must live until its arguments are read.
      try await withVolume(
        ["--latency", "300ms"],
        source: { scratch in
          try scratch.file("plain", size: 20_000)
          try await scratch.shell(
            "for s in a b; do echo 'read -n 1 x < \"$0.data\"' > $s.sh; cp plain $s.sh.data; done")
        }
      ) { volume in
        for script in ["a.sh", "b.sh"] { _ = try await run(["bash", volume.path(script)]) }
        let summary = try await volume.json("summary", volume.mountpoint)
        let scripts = summary["processes"]?.array.compactMap { $0["script"]?.string } ?? []
        #expect(Set(scripts).isSuperset(of: ["a.sh", "b.sh"]), "\(scripts)")
        #expect(try #require(summary["main_thread"]?["blocked"]?["waits"]?.int) >= 4)
        #expect(summary["main_thread"]?["longest"]?["comm"]?.string == "bash")
        func rows(_ arguments: String...) async throws -> [String] {
          let shown = try await run([Machine.dataless, "log", volume.mountpoint] + arguments)
          #expect(shown.succeeded, "\(arguments): \(shown.errorText)")
          return shown.lines
        }
        let blocked = try await rows("--main-thread", "--blocked", ">=300ms", "--process", "bash", "--outcome", "ok")
        #expect(blocked.contains { $0.contains("bash b.sh[") && $0.hasSuffix("b.sh.data") }, "\(blocked)")
        #expect(try await rows("--since", "1h", "--until", "0", "--tree").contains { $0.contains("bash a.sh[") })
        #expect(try await rows("--blocked", ">1h").isEmpty)
        let waits = try await rows("--type", "wait.finished", "--path", "a.sh.data", "--last")
        #expect(waits.count == 2 && waits.allSatisfy { !$0.contains("attempt") }, "\(waits)")
      }
    }

    @Test func logShowsReadableColumns() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let shown = try await volume.dataless("log", volume.mountpoint)
        let lines = shown.lines.filter { $0.contains("one/file-1") }
        #expect(!lines.isEmpty)
        #expect(lines.contains { $0.contains("cat") && $0.contains("read") })
        #expect(lines.allSatisfy { !$0.contains("{") }, "no JSON")
      }
    }

    @Test func whatMatchesNothingIsSaid() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        for options in [["--process", "nosuch"], ["--process", "nosuch", "--json"], ["--path", "absent"]] {
          let shown = try await run([Machine.dataless, "log", volume.mountpoint] + options)
          #expect(shown.succeeded && shown.text == "", "\(options): \(shown.text)")
          #expect(shown.errorText.contains("nothing in the log matches"), "\(options): \(shown.errorText)")
        }
        #expect(try await volume.dataless("log", volume.mountpoint, "--process", "cat").errorText == "")
      }
    }

    @Test func followShowsRecordsAsTheyCome() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        let follower = try Child([Machine.dataless, "log", volume.mountpoint, "--follow", "--json", "--type", "mark"])
        _ = try await volume.dataless("mark", volume.mountpoint, "first")
        #expect(await follower.line { $0.contains("\"first\"") } != nil)
        _ = try await volume.dataless("mark", volume.mountpoint, "second")
        #expect(await follower.line { $0.contains("\"second\"") } != nil)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        let finished = await follower.wait()
        #expect(!finished.timedOut, "the end of the volume ends it")
      }
    }

    /// As `log | head` does, also where nothing happens any more.
    @Test func followEndsWithItsReader() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        let script = #"timeout 20 "$0" log "$1" --follow --json | head -n 1; echo "${PIPESTATUS[0]}""#
        let finished = try await run(["bash", "-c", script, Machine.dataless, volume.mountpoint])
        #expect(finished.lines.count == 2 && finished.lines.last == "0", "\(finished.text)")
        #expect(finished.errorText == "")
      }
    }

    @Test func linesThatAreNoRecordsAreTold() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        let (odd, other) = (volume.log.path + ".odd", volume.log.path + ".other")
        let script = #"sed '3a garbage' "$0" > "$1"; sed '3s/"v":1,/"v":2,/' "$0" > "$2""#
        _ = try await run(["bash", "-c", script, volume.log.path, odd, other])
        let shown = try await run([Machine.dataless, "log", odd])
        #expect(shown.succeeded && shown.errorText == "dataless: 1 line is no record; no record is missing.\n")
        let summary = try await run([Machine.dataless, "summary", odd])
        let words = summary.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("complete, 1 line is no record; no record is missing"), "\(summary.text)")
        let older = try await run([Machine.dataless, "log", other])
        #expect(older.succeeded && older.errorText.contains("records of version 2 of the format"), "\(older.errorText)")
        let checked = try await run([Machine.dataless, "check-log", other, "--max-wait", "1h"])
        #expect(checked.status == 91, "\(checked.text)")
      }
    }

    @Test func summaryIsTheSameFromTheVolumeAndFromTheFile() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let fromVolume = try await volume.json("summary", volume.mountpoint)
        let fromFile = try await volume.json("summary", volume.log.path)
        #expect(fromVolume.object.count > 10)
        #expect(Set(fromVolume.object.keys) == Set(fromFile.object.keys))
        // A volume that lives is a little older each time it is asked.
        for (key, value) in fromVolume.object where key != "duration_ns" && key != "ended" {
          #expect(value == fromFile[key], "\(key)")
        }
        let text = try await volume.dataless("summary", volume.mountpoint)
        #expect(text.text.contains("4 files"), "\(text.text)")
        #expect(text.text.contains("cat"))
        #expect(text.text.contains("plain") || text.text.contains("one"))
        _ = try await volume.dataless("unmount", volume.mountpoint)
        let after = try await volume.json("summary", volume.log.path)
        #expect(after["materialized"] == fromVolume["materialized"], "and after the volume is gone")
      }
    }

    @Test func summaryAgreesWithStatusAndWithWhatWasRead() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let status = try await volume.status()
        #expect(status["materialized"]?["files"]?.int == 4)
        #expect(status["materialized"]?["bytes"]?.int == 1000 + 2000 + 3000 + 20_000)
        #expect(try #require(status["requests_reaching_the_volume"]?["readdirplus"]?.int) > 0)
        let summary = try await volume.dataless("summary", volume.mountpoint)
        #expect(summary.text.contains("4 files"))
        let closed = try await volume.records().filter { $0["type"]?.string == "handle.closed" }
        // It has two names, and is called by the one that was listed first.
        let partly = closed.last { ["plain", "hard"].contains($0["path"]?.string) }
        #expect(partly?["size"]?.int == 20_000)
        #expect(try #require(partly?["high_water_mark"]?.int) < 20_000, "head read only its beginning")
      }
    }

    @Test func marksAreInTheLogWithTheirCounts() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let marked = try await volume.dataless("mark", volume.mountpoint, "after reading")
        #expect(marked.succeeded)
        let mark = try await volume.records().first { $0["label"]?.string == "after reading" }
        #expect(mark?["type"]?.string == "mark")
        #expect(mark?["counters"] != nil || mark?["materialized"] != nil)
      }
    }

    @Test func everyLineIsNumberedAndTimedInOrder() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        try await Self.filesReadByTwo(volume)
        let records = try await volume.records()
        let numbers = records.compactMap { $0["seq"]?.int }
        #expect(numbers.count == records.count)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
        for record in records {
          #expect(record["v"]?.int == 1)
          #expect(record["monotonic_ns"]?.int != nil)
          #expect(record["session"]?.string == records[0]["session"]?.string)
          let time = try #require(record["time"]?.string)
          #expect(time.count == 30 && time.hasSuffix("Z"), "nine digits, UTC: \(time)")
        }
        let attributes = try await run(["stat", "-c", "%a", volume.log.path])
        #expect(attributes.text == "600\n")
      }
    }

    @Test func namesWithControlCharactersAreEscapedOnATerminal() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell(
          #"printf data > "$(printf 'esc\e[31mred')"; printf data > "$(printf 'new\nline')"; printf x > "$(printf 'bad-\xff')""#
        )
      }) { volume in
        _ = try await run(["bash", "-c", "cat \"$0\"/*", volume.mountpoint])
        for command in ["ls -R", "log", "summary"] {
          let shown = try await run(
            ["script", "-qec", "\(Machine.dataless) \(command) \(volume.mountpoint)", "/dev/null"])
          #expect(shown.succeeded, "\(command): \(shown.text)")
          #expect(!shown.text.contains("\u{1b}[31mred"), "\(command)")
          #expect(shown.lines.allSatisfy { !$0.hasPrefix("line") }, "\(command): \(shown.text)")
        }
        let records = try await volume.fileAttempts()
        #expect(records.count == 3)
        let bad = try #require(records.first { $0["path_b64"]?.string != nil })
        #expect(bad["path_b64"]?.string == "YmFkLf8=")
        #expect(bad["path"]?.string == "bad-\u{fffd}")
        // Such a name can be given back to a command as the bytes that it is.
        let evicted = try await run(
          ["bash", "-c", #"exec "$0" evict "$1/$(printf 'bad-\xff')""#, Machine.dataless, volume.mountpoint])
        #expect(evicted.succeeded, "\(evicted.errorText)")
      }
    }
  }
}
