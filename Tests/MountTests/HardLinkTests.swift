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

    /// One inode, read under two names in two directories, of which the second was not known at first.
    @Test func whatWasReadUnderEitherNameIsOfOneFile() async throws {
      try await withScratch { scratch in
        try await scratch.shell(#"mkdir "$ROOT/source/d1" "$ROOT/source/d2""#)
        try scratch.file("d1/a", size: 500_000)
        try await scratch.shell(#"ln "$ROOT/source/d1/a" "$ROOT/source/d2/b""#)
        let script = "head -c 1 {}/d1/a > /dev/null; ls {}/d2 > /dev/null; cat {}/d2/b > /dev/null"
        let finished = try await Running.run(scratch, ["--", "sh", "-c", script])
        #expect(finished.succeeded, "\(finished.errorText)")
        let shown = try await run([Machine.dataless, "summary", "--json", "--files", scratch.log.path])
        let summary = try JSON(parsing: Array(shown.text.utf8))
        let use = try #require(summary["use"])
        #expect(
          use["whole"]?.int == 1 && use["header_only"]?.int == 0 && use["needless_files"]?.int == 0, "\(shown.text)")
        #expect(summary["files"]?.array.count == 1)
      }
    }
  }
}
