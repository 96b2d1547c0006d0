import Testing

extension RealMounts {
  /// The finding *together* in the logs of real programs that write to what others have open, each in its own way.
  @Suite struct Together {
    /// Two processes: one has the file open for reading while the other writes to it, in the way that is asked for.
    private static let program = """
      import fcntl, os, struct, sys
      mode, path = sys.argv[1], os.path.join(sys.argv[2], "file")
      (asked, ask), (answered, answer) = os.pipe(), os.pipe()
      inherited = os.open(path, os.O_WRONLY | os.O_APPEND) if mode == "inherited" else -1
      if not os.fork():
          if mode == "inherited": os.write(inherited, b"child"); os.write(answer, b"x"); os.read(asked, 1); os._exit(0)
          reader = os.open(path, os.O_RDONLY)
          if mode == "reader": fcntl.flock(reader, fcntl.LOCK_SH)
          os.read(reader, 10); os.write(answer, b"x"); os.read(asked, 1); os._exit(0)
      os.read(answered, 1)
      if mode == "later": os.write(ask, b"x"); os.wait()
      if mode == "rename":
          writer = os.open(path + ".new", os.O_WRONLY | os.O_CREAT)
      else:
          writer = inherited if mode == "inherited" else os.open(path, os.O_WRONLY | os.O_APPEND)
      other = os.open(path + ".lock", os.O_WRONLY | os.O_CREAT) if mode == "other" else writer
      if mode in ("flock", "other"): fcntl.flock(other, fcntl.LOCK_EX)
      if mode == "mapped":
          import mmap
          writer = os.open(path, os.O_RDWR)
          with mmap.mmap(writer, 0) as pages: pages[0] = 65; pages.flush()
          os.close(writer); os.write(ask, b"x"); os.wait(); os._exit(0)
      if mode == "posix": fcntl.lockf(writer, fcntl.LOCK_EX)
      if mode == "ofd": fcntl.fcntl(writer, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
      os.write(writer, b"more"); os.write(writer, b"and more")
      if mode == "flock": fcntl.flock(writer, fcntl.LOCK_UN)
      if mode == "rename": os.rename(path + ".new", path)
      if mode != "later": os.write(ask, b"x"); os.wait()
      """

    /// Two processes that write to one database, and read it, at the same time.
    private static let database = """
      import os, sqlite3, sys
      def connect():
          base = sqlite3.connect(os.path.join(sys.argv[2], "base"), isolation_level=None, timeout=60)
          base.execute("pragma journal_mode=" + sys.argv[1]); return base
      base = connect(); base.execute("create table t(a)"); base.close()
      first, second = os.pipe(), os.pipe()
      child = os.fork()
      base = connect(); base.execute("select count(*) from t").fetchone()
      # Both have it open from now on.
      hears, says = (first[0], second[1]) if child else (second[0], first[1])
      os.write(says, b"x"); os.read(hears, 1)
      for number in range(20):
          base.execute("insert into t values (?)", (number,)); base.execute("select count(*) from t").fetchone()
      if not child: os._exit(0)
      assert os.wait()[1] == 0 and base.execute("select count(*) from t").fetchone() == (40,)
      """

    private struct Outcome {
      let finding: JSON
      let records: [JSON]
      var count: Int? { finding["count"]?.int }
      var outcome: String? { finding["outcome"]?.string }
    }

    /// - Parameter command: `{}` is the mountpoint.
    private static func outcome(_ scratch: Scratch, _ command: [String]) async throws -> Outcome {
      try scratch.file("file", size: 1000)
      let finished = try await Running.run(scratch, ["--scratch", "--"] + command)
      #expect(finished.status == 0, "\(finished.errorText)")
      let summary = try await MountTests.run([Machine.dataless, "summary", scratch.log.path, "--json"])
      let findings = try JSON(parsing: summary.text.utf8)["findings"]?.array ?? []
      return Outcome(
        finding: try #require(findings.first { $0["kind"]?.string == "together" }),
        records: try scratch.log.records(ofType: "handle.together"))
    }

    /// What `check-log --max-together 0` says of the log.
    private static func verdict(_ scratch: Scratch) async throws -> Finished {
      try await MountTests.run([Machine.dataless, "check-log", scratch.log.path, "--max-together", "0"])
    }

    @Test func aWriterWithoutALockIsFound() async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.program, "plain", "{}"])
        #expect(found.outcome == "found" && found.count == 1 && found.finding["unknown_count"]?.int == 0, "\(found)")
        // One open is told once.
        #expect(found.records.count == 1 && found.records.first?["locked"]?.bool == false, "\(found.records)")
        let place = found.finding["places"]?.array.first
        #expect(place?["paths"]?.array.first?["path"]?.string == "file", "\(found)")
        #expect(place?["process"]?["comm"]?.string == "python3" && place?["other"]?["comm"]?.string == "python3")
        #expect(place?["process"]?["pid"]?.int != place?["other"]?["pid"]?.int, "\(found)")
        let verdict = try await Self.verdict(scratch)
        #expect(verdict.status == 90, "\(verdict.text)\(verdict.errorText)")
        #expect(verdict.text.contains("  file by python3"), "\(verdict.text)")
        #expect(verdict.text.contains(" beside python3"), "\(verdict.text)")
      }
    }

    @Test(arguments: ["flock", "posix", "ofd", "other", "reader"]) func whoLocksIsNot(mode: String) async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.program, mode, "{}"])
        #expect(found.outcome == "none" && found.count == 0, "\(found)")
        #expect(found.records.map { $0["locked"]?.bool } == [true], "\(found.records)")
        #expect(try await Self.verdict(scratch).status == 0)
      }
    }

    @Test func whoStoresToAMappingIsUnknown() async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.program, "mapped", "{}"])
        #expect(found.outcome == "unknown" && found.count == 0 && found.finding["unknown_count"]?.int == 1, "\(found)")
        #expect(found.records.map { $0["reason"]?.string } == ["mapped"], "\(found.records)")
        let verdict = try await Self.verdict(scratch)
        #expect(verdict.status == 91, "\(verdict.text)\(verdict.errorText)")
        #expect(verdict.text.contains("1 file (file) written to beside others"), "\(verdict.text)")
      }
    }

    @Test(arguments: ["rename", "inherited"]) func whatHasOneOpenAloneIsNot(mode: String) async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.program, mode, "{}"])
        #expect(found.outcome == "none" && found.records.isEmpty, "\(found) \(found.records)")
      }
    }

    /// The kernel tells of a close later than the program goes on: for a moment nobody knows.
    @Test func whoWritesWhenTheOtherHasClosedIsNot() async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.program, "later", "{}"])
        #expect(found.count == 0 && found.records.allSatisfy { $0["locked"]?.bool == nil }, "\(found) \(found.records)")
      }
    }

    /// A shell has the file open while one that it starts writes to it: once with an intent, and once without.
    @Test(arguments: [true, false]) func whoCoordinatesIsNot(announces: Bool) async throws {
      try await withScratch { scratch in
        let intent = announces ? "'\(Machine.dataless)' coordinate --write {}/file -- " : ""
        let found = try await Self.outcome(
          scratch, ["sh", "-c", "exec 3< {}/file; \(intent)sh -c 'echo more >> {}/file'; true"])
        #expect(found.outcome == (announces ? "none" : "found") && found.count == (announces ? 0 : 1), "\(found)")
        #expect(found.records.map { $0["locked"]?.bool } == [false], "\(found.records)")
      }
    }

    @Test(arguments: ["delete", "wal"]) func twoProcessesWithOneDatabaseAreNot(journal: String) async throws {
      try await withScratch { scratch in
        let found = try await Self.outcome(scratch, ["python3", "-c", Self.database, journal, "{}"])
        #expect(found.outcome == "none" && found.count == 0, "\(found) \(found.records)")
        // The index of its log is a mapping: who has which lock while it is stored to nobody sees.
        let seen = found.records.filter { $0["reason"]?.string != "mapped" }
        #expect(!seen.isEmpty && seen.allSatisfy { $0["locked"]?.bool == true }, "\(found.records)")
      }
    }
  }
}
