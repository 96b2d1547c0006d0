import Testing

extension RealMounts {
  /// What is expected of a command, with a real volume.
  @Suite struct Expecting {
    private static func files(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir photos secret")
      for index in 0..<4 { try scratch.file("photos/\(index).jpg", size: 1000) }
      try scratch.file("secret/key", size: 10)
    }

    /// Flags and the scenario's section together; the log says the same later.
    @Test func whatIsViolatedIsToldWithItsCallerAndTheStatusIs90() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        try await scratch.shell(
          #"printf 'expect:\n- {match: {process: {exe: cat}}, forbid: "secret/**"}\n- max_wait: 1m\n' > "$ROOT/ci.yaml""#
        )
        let finished = try await Running.run(
          scratch,
          [
            "--scenario", "\(scratch.root)/ci.yaml", "--max-files", "4", "--max-needless", "0", "--allow", "photos/**",
            "--json", "\(scratch.root)/result.json", "--", "sh", "-c",
            "cat {}/photos/*.jpg {}/secret/key > /dev/null; exit 7",
          ])
        #expect(finished.status == 90, "\(finished.errorText)")
        let answer = try JSON(parsing: Array(try await scratch.shell(#"cat "$ROOT/result.json""#).utf8))
        #expect(answer["reason"]?.string == "budget_exceeded")
        let verdict = try #require(answer["verdict"])
        #expect(verdict["outcome"]?.string == "violated" && verdict["gaps"]?.array.isEmpty == true, "\(verdict)")
        let outcomes = verdict["expectations"]?.array.map {
          "\($0["name"]?.string ?? "") \($0["outcome"]?.string ?? "")"
        }
        #expect(
          outcomes == [
            "max_files violated", "max_needless held", "allow violated", "expect-1.forbid violated",
            "expect-2.max_wait held",
          ], "\(verdict)")
        let forbidden = verdict["violations"]?.array.filter { $0["expectation"]?.string == "expect-1.forbid" } ?? []
        // The name was looked up in a folder of which all is forbidden, too.
        #expect(forbidden.map { $0["path"]?.string } == ["secret", "secret/key"])
        #expect(forbidden.first?["process"]?["name"]?.string == "cat" && forbidden.first?["main_thread"]?.bool == true)
        #expect(forbidden.first?["ancestors"]?.array.first?["name"]?.string == "sh")
        #expect(finished.errorText.contains("expectation violated: allow:"), "\(finished.errorText)")
        #expect(finished.errorText.contains("budget exceeded: 5 files materialized, --max-files 4"))

        let later = try await MountTests.run([
          Machine.dataless, "check-log", scratch.log.path, "--expect", "\(scratch.root)/ci.yaml", "--max-files", "4",
          "--max-needless", "0", "--allow", "photos/**", "--json",
        ])
        #expect(later.status == 90, "\(later.errorText)")
        let line = try #require(later.lines.first)
        #expect(try JSON(parsing: Array(line.utf8))["expectations"] == verdict["expectations"])
      }
    }

    /// One after the other, and several at once; what holds leaves the command its status.
    @Test func parallelIsWhatIsInFlight() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let read =
          "import sys, concurrent.futures as f; f.ThreadPoolExecutor(4).map(lambda n: open(n).read(), sys.argv[1:])"
        func run(_ command: String) async throws -> Int32? {
          try await Running.run(
            scratch, ["--latency", "300ms", "--min-parallel", "1.5", "--max-parallel", "4", "--", "sh", "-c", command]
          ).status
        }
        #expect(try await run("cat {}/photos/*.jpg > /dev/null") == 90)
        #expect(try await run("python3 -c '\(read)' {}/photos/*.jpg; exit 3") == 3)
      }
    }

    /// A log says what the run knew: nothing was done, or not all of it.
    @Test func whatWasNotDoneIsKnownFromTheLogToo() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let file = "\(scratch.root)/paths.baseline"
        func run(_ log: String, _ command: [String]) async throws -> Finished {
          try await MountTests.run(
            [
              Machine.dataless, "run", "--log", "\(scratch.root)/\(log)", "--cache-dir", scratch.cache, scratch.source,
              "--max-files", "3", "--baseline", file, "--update-baseline", "--",
            ] + command)
        }
        func check(_ log: String) async throws -> Finished {
          try await MountTests.run([
            Machine.dataless, "check-log", "\(scratch.root)/\(log)", "--max-files", "3", "--baseline", file,
            "--update-baseline",
          ])
        }
        let whole = try await run("whole", ["cat", "{}/photos/0.jpg", "{}/photos/1.jpg"])
        #expect(whole.status == 0, "\(whole.errorText)")
        let entries = try await scratch.shell("cat '\(file)'")
        let none = try await run("none", ["/nonexistent"])
        #expect(none.status == 127 && none.errorText.contains("could not be executed (ENOENT)"), "\(none.errorText)")
        let told = try await run("told", ["python3", "-c", Self.endsWell, "{}/photos/0.jpg"])
        #expect(told.status == 0 && told.errorText.contains("was told to end"), "\(told.errorText)")
        let expected: [(String, Int32, String)] = [
          ("none", 91, "could not be executed (ENOENT)"), ("told", 0, "(SIGTERM)"),
        ]
        for (log, status, reason) in expected {
          let checked = try await check(log)
          #expect(checked.status == status && checked.errorText.contains(reason), "\(log): \(checked.errorText)")
        }
        #expect(try await scratch.shell("cat '\(file)'") == entries)
      }
    }

    /// Has `dataless run` told to end, and ends with status 0 when it is told itself.
    private static let endsWell = """
      import os, signal, sys
      open(sys.argv[1], "rb").read()
      signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
      os.kill(os.getppid(), signal.SIGTERM)
      signal.sigwait([signal.SIGTERM])
      """

    @Test func aBaselineIsWrittenAndThenHeldAgainst() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let file = "\(scratch.root)/paths.baseline"
        func run(_ options: [String], _ command: String) async throws -> Finished {
          try await Running.run(scratch, ["--baseline", file] + options + ["--", "sh", "-c", command])
        }
        let absent = try await run([], "true")
        #expect(absent.status == 125 && absent.errorText.contains("--update-baseline"), "\(absent.errorText)")
        let first = try await run(["--update-baseline"], "cat {}/photos/[01].jpg")
        #expect(first.status == 0, "\(first.errorText)")
        let text = try await scratch.shell("cat '\(file)'")
        #expect(
          text.split(separator: "\n").dropFirst(2) == [
            "directory .", "directory photos", "file photos/0.jpg", "file photos/1.jpg",
          ])
        let second = try await run([], "cat {}/photos/[02].jpg")
        #expect(second.status == 90, "\(second.errorText)")
        #expect(second.errorText.contains("photos/2.jpg by cat") && second.errorText.contains("  file photos/1.jpg"))
      }
    }
  }
}
