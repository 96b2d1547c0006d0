import Testing

extension RealMounts {
  /// Directories are listed one level at a time, on first use.
  @Suite struct Directories {
    static func chain(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir -p a/b/c/d other; echo leaf > a/b/c/d/leaf; echo x > other/x; echo y > a/b/y")
    }

    static func listed(_ volume: Volume) async throws -> [String] {
      try await volume.directoryAttempts().compactMap { $0["path"]?.string }
    }

    /// A listing changes nothing of what stat shows of its directory: a walk has no reason to ask once more.
    @Test func aWalkAsksForNoAttributesAgain() async throws {
      try await withVolume(source: { scratch in
        for directory in 0..<40 {
          scratch.directory("d-\(directory)")
          try scratch.file("d-\(directory)/file", size: 10)
        }
      }) { volume in
        let before = try await volume.status()["requests_reaching_the_volume"]?["getattr"]?.int ?? 0
        #expect(try await run(["find", volume.mountpoint, "-size", "-999k"]).lines.count == 81)
        let after = try await volume.status()["requests_reaching_the_volume"]?["getattr"]?.int ?? 0
        #expect(after - before < 10, "for 41 directories")
      }
    }

    @Test func directoriesAreListedOneLevelAtATime() async throws {
      try await withVolume(source: Self.chain) { volume in
        #expect(try await Self.listed(volume).isEmpty, "mounting lists nothing")
        let root = try await run(["ls", volume.mountpoint])
        #expect(root.lines == ["a", "other"])
        #expect(try await Self.listed(volume).count == 1)
        let below = try await run(["ls", volume.path("a/b")])
        #expect(below.lines == ["c", "y"])
        #expect(try await Self.listed(volume).suffix(2) == ["a", "a/b"])
        #expect(try await volume.list()["other"]?["state"]?.string == "dataless")
      }
    }

    @Test func aNameLookedUpInADatalessDirectoryListsIt() async throws {
      try await withVolume(source: Self.chain) { volume in
        let stat = try await run(["stat", "-c", "%n", volume.path("a/b/c/absent")])
        #expect(!stat.succeeded)
        #expect(try await Self.listed(volume).suffix(3) == ["a", "a/b", "a/b/c"])
        let last = try #require(try await volume.directoryAttempts().last)
        #expect(last["trigger"]?.string == "lookup")
        #expect(last["name"]?.string == "absent")
        // Known now: nothing more to list for it.
        _ = try await run(["stat", volume.path("a/b/c/absent")])
        _ = try await run(["stat", volume.path("a/b/c/d")])
        #expect(try await Self.listed(volume).count == 4)
      }
    }

    @Test func directoryLatencyIsPaidOnceForEachLevel() async throws {
      try await withVolume(["--directory-latency", "120ms"], source: Self.chain) { volume in
        let leaf = try await volume.read("a/b/c/d/leaf")
        #expect(leaf.bytes == 5)
        let walk = try await run(["stat", volume.path("a/b/c/d/leaf")])
        #expect(walk.succeeded)
        let records = try await volume.records().filter {
          $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "directory"
        }
        #expect(records.count == 5, "the root, a, b, c and d")
        for record in records {
          #expect(record["requested_delay_ns"]?.int == 120_000_000)
          #expect(try #require(record["delay_ns"]?.int) >= 120_000_000)
        }
      }
    }

    @Test func listersAndLookupsOfOneDirectoryAreOneAttempt() async throws {
      try await withVolume(["--directory-latency", "400ms"], source: Self.chain) { volume in
        _ = try await run(["ls", volume.mountpoint])
        let names = (0..<8).map { volume.path("other/name-\($0)") }
        let lookups = try names.map { try Child(["stat", $0]) }
        let lists = try (0..<4).map { _ in try Child(["ls", volume.path("other")]) }
        for child in lookups { #expect(await child.wait().status == 1) }
        for child in lists { #expect(await child.wait().text == "x\n") }
        #expect(try await Self.listed(volume).count { $0 == "other" } == 1)
      }
    }

    @Test func aLargeDirectoryIsListedCompletely() async throws {
      try await withScratch { scratch in
        let volume = try await scratch.mount(source: "synthetic:files=20000,depth=1,size=1..100,seed=3")
        let found = try await run(["find", volume.mountpoint, "-type", "f"], timeLimit: .seconds(60))
        #expect(found.lines.count == 20_000)
        #expect(Set(found.lines).count == 20_000)
        let counts = try await volume.status()
        #expect(counts["items"]?["files"]?.int == 20_000)
        #expect(counts["items"]?["files_dataless"]?.int == 20_000)
      }
    }

    @Test func readingADirectoryInSmallStepsSeesEveryNameOnce() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir many; cd many; seq -f 'a-rather-long-name-for-a-file-%05g' 1 3000 | xargs touch")
      }) { volume in
        let names = try await run(["ls", "-U", volume.path("many")])
        #expect(names.lines.count == 3000)
        #expect(Set(names.lines).count == 3000)
        let again = try await run(["ls", "-U", volume.path("many")])
        #expect(again.lines == names.lines)
        let dots = try await run(["ls", "-a", volume.path("many")])
        #expect(dots.lines.count == 3002)
      }
    }

    @Test func aDirectoryThatCannotBeListedAnswersItsOwnError() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir gone; echo 1 > gone/file")
      }) { volume in
        _ = try await run(["stat", volume.path("gone")])
        try await volume.scratch.shell("rm -r gone")
        let list = try await run(["ls", volume.path("gone")])
        #expect(!list.succeeded)
        // ENOENT would not do: readdir(3) takes it for the end, and the directory would look empty.
        #expect(list.errorText.contains("Stale file handle"), "\(list.errorText)")
        let last = try await volume.records().last {
          $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "directory"
        }
        #expect(last?["outcome"]?.string == "ESTALE")
        let found = try await run(["find", volume.path("gone")])
        #expect(!found.succeeded)
      }
    }
  }
}
