import Testing

extension RealMounts {
  /// Files with several names: rules, explain and log know all of them.
  @Suite struct HardLinks {
    @Test func anyNameIsMatchedAndTheCallersIsTold() async throws {
      try await withScenario(
        "rules: [{name: broken, match: {path: docs/doc1.txt, attempt: 1}, fault: EIO}]",
        source: { scratch in
          try await scratch.shell("mkdir docs")
          try scratch.file("docs/doc1.txt", size: 1000)
          try await scratch.shell("ln docs/doc1.txt docs/hard1.txt")
        }
      ) { volume in
        // Names are known from listings.
        #expect(try await run(["ls", volume.path("docs")]).status == 0)
        let explained = try await volume.done("explain", volume.path("docs/hard1.txt"))
        #expect(explained.text.contains("broken") && !explained.text.contains("does not match"), "\(explained.text)")
        #expect(try await run(["cat", volume.path("docs/hard1.txt")]).status == 1)
        for name in ["doc1", "hard1"] {
          let shown = try await volume.done(
            "log", volume.mountpoint, "--json", "--type", "materialization.started", "--path", "docs/\(name).txt")
          let record = try #require(try shown.lines.map { try JSON(parsing: $0.utf8) }.last, "\(name)")
          #expect(record["names"]?.array.compactMap(\.string).sorted() == ["docs/doc1.txt", "docs/hard1.txt"])
          #expect(record["caller_path"]?.string == "docs/hard1.txt")
          let ends = try await volume.done(
            "log", volume.mountpoint, "--json", "--type", "materialization.finished", "--path", "docs/\(name).txt")
          #expect(ends.lines.count == 1)
        }
        // A mapping has no descriptor in its call: then nothing is guessed.
        let probe = try await Probe.shared.path()
        _ = try await run([probe, "map", "private", volume.path("docs/hard1.txt")])
        let started = try await volume.records(ofType: "materialization.started").filter { $0["names"] != nil }
        try #require(started.count == 2)
        #expect(started[1]["caller_path"] == nil)
      }
    }
  }
}
