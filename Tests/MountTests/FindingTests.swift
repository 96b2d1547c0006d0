import Testing

extension RealMounts {
  /// Findings in the logs of real programs: each is there for the program that earns it, and not for its better twin.
  @Suite struct Findings {
    private static let latency = ["--latency", "150ms", "--directory-latency", "0"]

    private static func files(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir photos")
      for index in 0..<4 { try scratch.file("photos/\(index).jpg", size: 1000) }
    }

    /// - Returns: The finding of one kind in the log of a command; `{}` is the mountpoint.
    private static func finding(
      _ kind: String, _ scratch: Scratch, options: [String] = latency, _ command: [String]
    ) async throws -> JSON {
      let finished = try await Running.run(scratch, options + ["--"] + command)
      #expect(finished.status == 0, "\(finished.errorText)")
      let summary = try await MountTests.run([Machine.dataless, "summary", scratch.log.path, "--json"])
      let findings = try JSON(parsing: summary.text.utf8)["findings"]?.array ?? []
      #expect(findings.map { $0["kind"]?.string } == ["serial", "main_thread", "not_needed", "prefetch", "together"])
      return try #require(findings.first { $0["kind"]?.string == kind })
    }

    private static func paths(_ finding: JSON) -> [String] {
      (finding["places"]?.array ?? []).flatMap { $0["paths"]?.array ?? [] }.compactMap { $0["path"]?.string }
    }

    // MARK: - One after the other

    private static let serial = "import sys; [open(n, 'rb').read() for n in sys.argv[1:]]"
    /// All threads are there before the first reads.
    private static let parallel = """
      import sys, threading as t; b = t.Barrier(len(sys.argv) - 1)
      def read(name): file = open(name, "rb"); b.wait(); file.read()
      a = [t.Thread(target=read, args=[n]) for n in sys.argv[1:]]; [x.start() for x in a]; [x.join() for x in a]
      """

    @Test func aProgramThatReadsAListInALoopIsFound() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let names = (0..<4).map { "{}/photos/\($0).jpg" }
        let found = try await Self.finding("serial", scratch, ["python3", "-c", Self.serial] + names)
        #expect(found["outcome"]?.string == "found" && found["count"]?.int == 4, "\(found)")
        #expect(Self.paths(found) == (0..<4).map { "photos/\($0).jpg" })
        #expect(found["places"]?.array.first?["process"]?["comm"]?.string == "python3")
        // Three of four delays are spared, but for what a machine adds.
        let (blocked, spared) = (found["blocked_ns"]?.int ?? 0, found["spared_ns"]?.int ?? 0)
        #expect(blocked >= 600_000_000 && spared >= 0 && spared < blocked, "\(found)")
      }
    }

    @Test func aProgramThatReadsAllAtOnceIsNot() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let names = (0..<4).map { "{}/photos/\($0).jpg" }
        let found = try await Self.finding("serial", scratch, ["python3", "-c", Self.parallel] + names)
        #expect(found["outcome"]?.string == "none" && found["count"]?.int == 0, "\(found)")
      }
    }

    @Test func withACommonLimitNobodyKnowsWhatIsSpared() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let names = (0..<4).map { "{}/photos/\($0).jpg" }
        let found = try await Self.finding(
          "serial", scratch, options: Self.latency + ["--concurrency", "1"], ["python3", "-c", Self.serial] + names)
        #expect(found["count"]?.int == 4 && found["spared_ns"] == nil, "\(found)")
        #expect(found["reasons"]?.array.first?.string?.contains("concurrency") == true, "\(found)")
      }
    }

    // MARK: - Lookups

    @Test func aLookupSaysWhatItFound() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir -p a b c/dir d large")
        for name in ["a/file", "b/other", "c/dir/x", "d/x"] { try scratch.file(name, size: 10) }
        for index in 0..<2_000 { try scratch.file("large/\(index)", size: 1) }
        try await scratch.shell(#"cd "$SOURCE" && ln -s file d/link && : > b/empty"#)
        let finished = try await Running.run(
          scratch,
          [
            "--", "sh", "-c",
            "cd {}; test -e a/file; test -e b/empty; test -e c/dir; test -L d/link; test -e large/1999; test -e none/x; true",
          ])
        #expect(finished.status == 0, "\(finished.errorText)")
        let waits = try scratch.log.records(ofType: "wait.finished").filter { $0["trigger"]?.string == "lookup" }
        let found = Dictionary(waits.map { ($0["name"]?.string ?? "?", $0["found"]?.string ?? "?") }) { $1 }
        #expect(
          found == [
            "a": "directory", "file": "file", "empty": "empty_file", "dir": "directory", "link": "symlink",
            "1999": "file",
          ])
      }
    }

    @Test func whatIsAskedForInVainIsFoundAndWhatIsOpenedThenIsNot() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir a b c d")
        for name in ["a/file", "b/file", "c/x", "d/x"] { try scratch.file(name, size: 10) }
        let command =
          "test -e {}/a/file; test -e {}/b/file && cat {}/b/file; test -d {}/c && ls {}/c; test -e {}/d/none; true"
        let found = try await Self.finding("not_needed", scratch, ["sh", "-c", command])
        // What was listed is another matter.
        #expect(found["outcome"]?.string == "found" && found["count"]?.int == 1, "\(found)")
        #expect(Self.paths(found) == ["a/file"] && found["unknown_count"]?.int == 1)
        let checked = try await MountTests.run([
          Machine.dataless, "check-log", scratch.log.path, "--forbid-unneeded-blocking", "--json",
        ])
        #expect(checked.status == 90, "\(checked.errorText)")
        let verdict = try JSON(parsing: Array(try #require(checked.lines.first).utf8))
        let violation = verdict["violations"]?.array.first
        #expect(verdict["violations"]?.array.count == 1 && violation?["path"]?.string == "a/file", "\(verdict)")
        #expect(violation?["process"]?["comm"]?.string == "sh" && violation?["trigger"]?.string == "lookup")
      }
    }

    /// Nothing of it is on the volume, but for a lookup: whether it was needed nobody knows.
    @Test func aWorkingDirectoryIsNoFinding() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir -p a/b")
        let found = try await Self.finding("not_needed", scratch, ["sh", "-c", "cd {}/a/b && date"])
        #expect(found["outcome"]?.string == "unknown" && found["count"]?.int == 0, "\(found)")
        #expect(found["reasons"]?.array.first?.string?.contains("working directory") == true, "\(found)")
      }
    }

    @Test func withoutRecordsOfOpensNobodyKnows() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir a")
        try scratch.file("a/file", size: 10)
        let options = ["--observe", "off", "--forbid-unneeded-blocking"]
        let finished = try await Running.run(scratch, options + ["--", "sh", "-c", "test -e {}/a/file"])
        #expect(finished.status == 91, "\(finished.errorText)")
        #expect(finished.errorText.contains("--observe reads"), "\(finished.errorText)")
      }
    }

    // MARK: - Lists and prefetch

    @Test func aListThatIsTooLongIsTold() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let command = "cat {}/photos/*.jpg > /dev/null"
        let finished = try await Running.run(scratch, ["--max-serial-waits", "2", "--", "sh", "-c", command])
        #expect(finished.status == 90, "\(finished.errorText)")
        #expect(finished.errorText.contains("max_serial_waits: at most 2 files waited for one after the other"))
        #expect(finished.errorText.contains("photos/2.jpg by cat"), "\(finished.errorText)")
        #expect(finished.errorText.contains("serial     4 files one after the other"), "\(finished.errorText)")
        let enough = try await MountTests.run([
          Machine.dataless, "check-log", scratch.log.path, "--max-serial-waits", "4",
        ])
        #expect(enough.status == 0, "\(enough.errorText)")
      }
    }

    /// The last of four is read three delays after the listing.
    @Test func whatAListingHasShownLongBeforeIsFound() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let names = (0..<4).map { "{}/photos/\($0).jpg" }.joined(separator: " ")
        let command = "ls {}/photos > /dev/null; cat \(names) > /dev/null"
        let found = try await Self.finding("prefetch", scratch, ["sh", "-c", command])
        #expect(found["outcome"]?.string == "found" && Self.paths(found).contains("photos/3.jpg"), "\(found)")
        let place = found["places"]?.array.first
        #expect(place?["process"]?["comm"]?.string == "cat" && place?["listed_by"]?["comm"]?.string == "ls", "\(found)")
        #expect((place?["lead_ns"]?.int ?? 0) >= 450_000_000, "\(found)")
      }
    }

    @Test func whatNobodyHasListedIsNotVisible() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let names = (0..<4).map { "{}/photos/\($0).jpg" }
        let found = try await Self.finding("prefetch", scratch, ["cat"] + names)
        #expect(found["outcome"]?.string == "none", "\(found)")
      }
    }
  }
}
