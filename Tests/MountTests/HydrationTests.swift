import Testing

extension RealMounts {
  /// Files that come in parts.
  @Suite struct HydrationPolicies {
    @Test func partialBringsInWhatIsReadAndTheFileStaysPartial() async throws {
      try await withVolume(["--hydration", "partial"], source: { try $0.file("file", size: 5_000_000) }) { volume in
        let mountpoint = volume.mountpoint
        let here = try await volume.probe("read", volume.path("file"), "1000000", "5000").first
        let there = try await volume.probe("read", "\(volume.scratch.source)/file", "1000000", "5000").first
        #expect(here?.hash == there?.hash && here?.bytes == 5000)
        let started = try #require(try await volume.fileAttempts().first)
        #expect(started["hydration"]?.string == "partial")
        #expect(started["range_offset"]?.int == 999_424 && started["range_length"]?.int == 8192)
        let finished = try #require(try await volume.records(ofType: "materialization.finished").last)
        #expect(finished["bytes"]?.int == 8192)
        #expect(try await volume.list()["file"]?["state"]?.string == "partial")
        let look = try await run([
          "sh", "-c", "stat -c %b \"$1\"; getfattr --only-values -n user.dataless.state \"$1\"", "-",
          volume.path("file"),
        ])
        #expect(look.text == "16\npartial")
        #expect(try await volume.status()["items"]?["files_partial"]?.int == 1)
        // The same range again costs nothing; all of it brings in what is missing.
        _ = try await volume.probe("read", volume.path("file"), "1000000", "5000")
        #expect(try await volume.fileAttempts().count == 1)
        try await volume.done("materialize", volume.path("file"))
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
        #expect(try await volume.list()["file"]?["state"]?.string == "resident")
        let bytes = try await volume.status()["materialized"]?["bytes"]?.int
        #expect(bytes == 5_000_000, "nothing was fetched twice")
        let summary = try await volume.json("summary", mountpoint)
        #expect(summary["materialized"]?["files"]?.int == 1 && summary["materialized"]?["bytes"]?.int == 5_000_000)
        #expect(summary["use"]?["read_again_after_eviction"]?.int == 0, "more of it, and nothing again")
        try await volume.done("set", mountpoint, "hydration=full")
        #expect(try await volume.status()["options"]?["hydration"]?.string == "full")
      }
    }

    /// Small files lie in slabs, large ones in files of their own.
    @Test(arguments: ["partial", "progressive"], [3_000, 100_000, 3_000_000])
    func everyWayOfReadingGivesTheContent(hydration: String, size: Int) async throws {
      let ways = [
        ["read"], ["map", "private"], ["map", "shared"], ["sendfile"], ["splice"],
      ]
      try await withVolume(
        ["--hydration", hydration, "--bandwidth", "400MB/s"],
        source: { scratch in for index in ways.indices { try scratch.file("file-\(index)", size: size + index) } }
      ) { volume in
        let probe = try await Probe.shared.path()
        for (index, way) in ways.enumerated() {
          let answer = Answer(try #require(try await run([probe] + way + [volume.path("file-\(index)")]).lines.first))
          let hash = try await volume.sourceHash("file-\(index)")
          #expect(answer.outcome == "ok" && answer.hash == hash, "\(way)")
        }
        let copied = try await run([
          "sh", "-c", "cat \"$1\"/* | sha256sum; cat \"$2\"/* | sha256sum", "-", volume.mountpoint,
          volume.scratch.source,
        ])
        #expect(Set(copied.lines).count == 1)
        let states = try await volume.list().values.compactMap { $0["state"]?.string }.filter { $0 != "listed" }
        #expect(Set(states) == ["resident"], "all of each was read")
      }
    }

    @Test func progressiveAnswersBeforeTheFileIsThere() async throws {
      try await withVolume(
        ["--hydration", "progressive", "--bandwidth", "2.5MB/s"], source: { try $0.file("file", size: 20_000_000) }
      ) { volume in
        let first = try await volume.probe("read", volume.path("file"), "0", "4096").first
        #expect(first?.outcome == "ok")
        #expect(try #require(first?.duration) < .seconds(6), "the whole file takes 8 s")
        #expect(try await volume.list()["file"]?["state"]?.string == "materializing")
        let whole = try await volume.read("file")
        let hash = try await volume.sourceHash("file")
        #expect(whole.hash == hash)
        #expect(try await volume.fileAttempts().count == 1)
        let finished = try #require(try await volume.records(ofType: "materialization.finished").last)
        #expect(finished["bytes"]?.int == 20_000_000)
      }
    }

    @Test func whatCameBeforeAFailureStays() async throws {
      let scenario = """
        hydration: progressive
        bandwidth: 8MB/s
        rules: [{name: breaks, match: {path: file, attempt: 1}, fault: {errno: EIO, after: 50%}}]
        """
      try await withScenario(scenario, source: { try $0.file("file", size: 4_000_000) }) { volume in
        let whole = try await volume.read("file")
        #expect(whole.outcome == "EIO")
        #expect(try await volume.list()["file"]?["state"]?.string == "partial")
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
        let ends = try await volume.records(ofType: "materialization.finished").filter { $0["path"]?.string == "file" }
        #expect(ends.map { $0["outcome"]?.string } == ["EIO", "ok"])
        #expect(ends.compactMap { $0["bytes"]?.int }.reduce(0, +) == 4_000_000)
        let (status, summary) = (try await volume.status(), try await volume.json("summary", volume.mountpoint))
        for key in ["files", "bytes", "failures"] {
          #expect(summary["materialized"]?[key]?.int == status["materialized"]?[key]?.int, "\(key)")
        }
        #expect(summary["materialized"]?["distinct_bytes"]?.int == 4_000_000)
      }
    }

    @Test func aChangedSourceIsAnErrorAndNeverBytesOfTwoVersions() async throws {
      try await withVolume(
        ["--hydration", "partial"], source: { try $0.file("file", size: 1_000_000) }
      ) { volume in
        let before = try await volume.probe("read", volume.path("file"), "0", "4096").first
        try volume.scratch.file("file", content: [UInt8](repeating: 7, count: 1_000_000))
        #expect(try await volume.probe("read", volume.path("file"), "8192", "4096").first?.outcome == "ESTALE")
        let again = try await volume.probe("read", volume.path("file"), "0", "4096").first
        #expect(again?.hash == before?.hash, "what is there is the version that was listed")
      }
    }

    @Test func aPartialFileIsEvicted() async throws {
      try await withVolume(["--hydration", "partial"], source: { try $0.file("file", size: 500_000) }) { volume in
        _ = try await volume.probe("read", volume.path("file"), "0", "10")
        // The reader is answered a moment before its attempt has ended, which is refused until then.
        var isEvicted = false
        for _ in 0..<100 where !isEvicted {
          isEvicted = try await volume.dataless("evict", volume.path("file")).succeeded
        }
        #expect(try await volume.list()["file"]?["state"]?.string == "dataless")
        let evicted = try #require(try await volume.records(ofType: "eviction.finished").last)
        #expect(evicted["bytes"]?.int == 4096)
        #expect(try await volume.status()["items"]?["local_bytes"]?.int == 0)
      }
    }

    /// A signal ends its own reader's wait; a progressive transfer that has answered somebody goes on.
    @Test func aKilledReaderOfAProgressiveFileLeavesTheOthers() async throws {
      try await withVolume(
        ["--hydration", "progressive", "--bandwidth", "1MB/s"], source: { try $0.file("file", size: 5_000_000) }
      ) { volume in
        #expect(try await volume.probe("read", volume.path("file"), "0", "10").first?.outcome == "ok")
        let killed = try await run(
          ["timeout", "-s", "KILL", "0.1", "tail", "-c", "10", volume.path("file")], timeLimit: .seconds(10))
        #expect(killed.shellStatus == 137)
        try await volume.done("set", volume.mountpoint, "bandwidth=none")
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
        #expect(try await volume.fileAttempts().count == 1)
      }
    }
  }
}
