import Testing

extension RealMounts {
  /// What makes content appear, and how often.
  @Suite struct Reading {
    @Test func firstReadMaterializesTheWholeFileOnce() async throws {
      try await withVolume(source: { try $0.file("file", size: 300_000) }) { volume in
        let first = try await volume.probe("read", volume.path("file"), "1000", "10")
        #expect(first.first?.bytes == 10)
        let whole = try await volume.read("file")
        let hash = try await volume.sourceHash("file")
        #expect(whole.hash == hash)
        try await volume.read("file")
        let attempts = try await volume.fileAttempts()
        #expect(attempts.count == 1)
        let attempt = try #require(attempts.first)
        #expect(attempt["path"]?.string == "file")
        #expect(attempt["trigger"]?.string == "read")
        #expect(attempt["size"]?.int == 300_000)
        #expect(attempt["offset"]?.int == 1000)
        #expect(attempt["length"]?.int == 10)
        let finished = try await volume.records().last {
          $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file"
        }
        #expect(finished?["bytes"]?.int == 300_000)
        #expect(finished?["outcome"]?.string == "ok")
        let counts = try await volume.status()
        #expect(counts["materialized"]?["files"]?.int == 1)
        #expect(counts["materialized"]?["bytes"]?.int == 300_000)
        #expect(counts["items"]?["files_resident"]?.int == 1)
      }
    }

    @Test func readsAtTheEdgesAnswerAsAnyFileDoes() async throws {
      try await withVolume(source: { try $0.file("file", size: 5000) }) { volume in
        for (offset, length) in [(0, 0), (4999, 10), (5000, 10), (1_000_000, 10), (4090, 20), (0, 1_000_000)] {
          let here = try await volume.probe("read", volume.path("file"), "\(offset)", "\(length)").first
          let there = try await volume.probe("read", "\(volume.scratch.source)/file", "\(offset)", "\(length)").first
          #expect(here?.bytes == there?.bytes && here?.hash == there?.hash, "\(offset), \(length)")
        }
      }
    }

    @Test(arguments: ["threads", "processes"])
    func sixteenReadersAreOneFetch(kind: String) async throws {
      try await withScenario(
        "rules: [{name: hold, match: {path: file}, gate: hold}]", source: { try $0.file("file", size: 100_000) }
      ) { volume in
        let path = volume.path("file")
        let arguments = kind == "threads" ? ["16", path] : [String](repeating: path, count: 16)
        let readers = try Child([try await Probe.shared.path(), kind] + arguments)
        try await volume.waitForCallers(16, at: "hold")
        try await volume.done("gate", "release", volume.mountpoint, "hold")
        let answers = await readers.wait().lines.map { Answer($0) }
        #expect(answers.count == 16)
        let hash = try await volume.sourceHash("file")
        for answer in answers { #expect(answer.outcome == "ok" && answer.hash == hash) }
        #expect(try await volume.fileAttempts().count == 1)
        let records = try await volume.records()
        let started = records.filter { $0["type"]?.string == "wait.started" && $0["trigger"]?.string == "read" }
        let ended = records.filter { $0["type"]?.string == "wait.finished" && $0["trigger"]?.string == "read" }
        #expect(started.count == 16)
        #expect(ended.count == 16)
        #expect(Set(started.compactMap { $0["tid"]?.int }).count == 16)
        #expect(ended.allSatisfy { $0["outcome"]?.string == "ok" && ($0["blocked_ns"]?.int ?? 0) > 0 })
        let finish = records.last { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" }
        #expect(finish?["waiter_count"]?.int == 16)
        #expect(finish?["waiters"]?.array.count == 16)
      }
    }

    @Test(arguments: [
      ["map", "private"], ["map", "shared"], ["sendfile"], ["splice"], ["copyrange"], ["read"],
    ])
    func everyWayOfMovingBytesGivesTheContent(way: [String]) async throws {
      try await withVolume(["--latency", "30ms"], source: { try $0.file("file", size: 700_001) }) { volume in
        var arguments = [try await Probe.shared.path()] + way + [volume.path("file")]
        if way[0] == "copyrange" { arguments.append(volume.scratch.root + "/copy") }
        let finished = try await run(arguments)
        let answer = try #require(finished.lines.first.map { Answer($0) })
        #expect(answer.outcome == "ok")
        #expect(answer.bytes == 700_001)
        let hash = try await volume.sourceHash("file")
        #expect(answer.hash == hash)
        #expect(try await volume.fileAttempts().count == 1)
        // Again, now that it is resident.
        let again = try await run(arguments)
        #expect(again.lines.first.map { Answer($0).hash } == answer.hash)
        #expect(try await volume.fileAttempts().count == 1)
      }
    }

    @Test func programsAndScriptsOnTheVolumeRun() async throws {
      try await withVolume(
        ["--latency", "50ms"],
        source: { scratch in
          try await scratch.shell(
            "cp \"$(readlink -f /bin/echo)\" program; printf '#!/bin/sh\\necho script \"$1\"\\n' > script; chmod 755 program script"
          )
        }
      ) { volume in
        let program = try await run([volume.path("program"), "hello"])
        #expect(program.text == "hello\n")
        #expect(try await run([volume.path("script"), "hello"]).text == "script hello\n")
        #expect(try await volume.fileAttempts().count == 2)
        #expect(try await run([volume.path("program"), "again"]).text == "again\n")
        #expect(try await volume.fileAttempts().count == 2)
      }
    }

    @Test func failureOfAnAttemptReachesEveryWayOfReading() async throws {
      for way in [["map", "private"], ["map", "shared"], ["sendfile"], ["splice"], ["read"]] {
        try await withVolume(source: { try $0.file("file", size: 50_000) }) { volume in
          _ = try await run(["stat", volume.path("file")])
          try await volume.scratch.shell("echo more >> file")
          let answer = try await run([try await Probe.shared.path()] + way + [volume.path("file")]).lines.first
          #expect(answer.flatMap { Answer($0).outcome } == (way[0] == "map" ? "SIGBUS" : "ESTALE"), "\(way)")
          // The kernel asks twice or three times for one fault; that is one attempt for us.
          #expect(try await volume.fileAttempts().count == 1, "\(way)")
        }
      }
    }

    @Test func manyFilesReadByManyProcessesAreEachFetchedOnce() async throws {
      try await withVolume(
        ["--latency", "50ms"],
        source: { scratch in
          for index in 0..<60 { try scratch.file("file-\(index)", size: 20_000 + index) }
        }
      ) { volume in
        let paths = (0..<60).map { volume.path("file-\($0)") }
        let finished = try await run([try await Probe.shared.path(), "processes"] + paths + paths + paths)
        #expect(finished.lines.count == 180)
        #expect(finished.lines.allSatisfy { Answer($0).outcome == "ok" })
        #expect(try await volume.fileAttempts().count == 60)
      }
    }

    @Test func commonToolsCopyTheVolumeFaithfully() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        let target = volume.scratch.root + "/copies"
        try await volume.scratch.shell(
          """
          mkdir "$ROOT/copies"; rm -f "$SOURCE/none"
          timeout 60 rsync -aHAX "$MOUNT/" "$ROOT/copies/rsync"
          timeout 60 cp -a "$MOUNT" "$ROOT/copies/cp"
          mkdir "$ROOT/copies/tar"; timeout 60 tar cf - -C "$MOUNT" . | tar xf - -C "$ROOT/copies/tar"
          timeout 60 tar cf - -C "$MOUNT" . | wc -c
          """, timeLimit: .seconds(120))
        for tool in ["rsync", "cp", "tar"] {
          let differences = try await run([
            "diff", "-r", "--no-dereference", "-x", "fifo", volume.scratch.source, "\(target)/\(tool)",
          ])
          #expect(differences.succeeded, "\(tool): \(differences.text)")
        }
        #expect(try await volume.materializedFiles() == 31, "plain and hard are one file")
        let matches = try await run(["rg", "-l", "--text", ".", volume.mountpoint])
        #expect(matches.lines.count == 32)
        let grep = try await run(["git", "-C", volume.mountpoint, "grep", "--no-index", "-la", "."])
        #expect(grep.lines.count == 32, "\(grep.errorText)")
      }
    }
  }
}
