import Testing

extension RealMounts {
  /// What a refresh leaves as it is.
  @Suite struct Keepings {
    @Test func aKeptFileStaysUntilItIsEvicted() async throws {
      try await withScenario(
        "profile: {base: macos, resident_changes: keep}", source: { try $0.file("file", size: 50_000) }
      ) { volume in
        let old = try await volume.read("file")
        try volume.scratch.file("file", content: [UInt8](repeating: 7, count: 70_000))
        let result = try await volume.json("refresh", volume.mountpoint)
        #expect(result["kept"]?.int == 1 && result["changed"]?.int == 0)
        #expect(try await run(["stat", "-c", "%s", volume.path("file")]).text == "50000\n")
        #expect(try await volume.read("file").hash == old.hash)
        #expect(try await volume.list()["file"]?["kept"]?.bool == true)
        try await volume.done("evict", volume.path("file"))
        #expect(try await run(["stat", "-c", "%s", volume.path("file")]).text == "70000\n")
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
      }
    }

    @Test func aRenamedDirectoryKeepsWhatIsInIt() async throws {
      try await withVolume(
        source: { scratch in
          scratch.directory("before")
          try scratch.file("before/file", size: 50_000)
        }
      ) { volume in
        #expect(try await volume.read("before/file").outcome == "ok")
        try await volume.scratch.shell("mv before after")
        try await volume.done("refresh", volume.mountpoint)
        let states = try await volume.list()
        #expect(states["after/file"]?["state"]?.string == "resident" && states["before"] == nil)
        let hash = try await volume.sourceHash("after/file")
        #expect(try await volume.read("after/file").hash == hash)
        #expect(try await volume.fileAttempts().count == 1, "nothing was fetched again")
      }
    }

    @Test func chanceEvictsTheSameFilesWithTheSameSeed() async throws {
      let scenario = """
        seed: 7
        rules:
          - {name: half, match: {path: "f*", probability: 50%}, evict: {after_materialization: 50ms}}
          - {name: end, match: {path: last}, evict: {after_materialization: 1500ms}}
        """
      var evicted: [Set<String>] = []
      try await withScratch { scratch in
        for number in 0..<20 { try scratch.file("f\(number)", size: 5000) }
        try scratch.file("last", size: 5000)
        let file = try scratch.scenario(scenario)
        for _ in 0..<2 {
          let volume = try await scratch.mount(["--scenario", file])
          let read = try await run(["sh", "-c", "cat \"$1\"/f* \"$1\"/last", "-", volume.mountpoint])
          try #require(read.succeeded)
          // Both mounts may write to one log.
          let session = try #require(try await volume.status()["session"]?.string)
          let paths: @Sendable ([JSON]) -> [String] = { records in
            records.filter { $0["type"]?.string == "eviction.finished" && $0["session"]?.string == session }
              .compactMap { $0["path"]?.string }
          }
          let records = try await volume.log.wait("the last eviction") { paths($0).contains("last") }
          evicted.append(Set(paths(records)))
          #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        }
      }
      #expect(evicted[0] == evicted[1])
      #expect((4...18).contains(evicted[0].count), "a share of twenty, and the last: \(evicted[0].count)")
    }
  }
}
