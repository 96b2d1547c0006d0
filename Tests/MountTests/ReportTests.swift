import Glibc
import Testing

extension RealMounts {
  /// `--report` of `dataless run` and `dataless summary`.
  @Suite struct Reports {
    private static func reports(_ scratch: Scratch, _ prefix: String) -> [String] {
      ["junit", "html", "markdown", "json", "trace", "collapsed"].flatMap {
        ["--report", "\($0)=\(scratch.root)/\(prefix)-\($0)"]
      }
    }

    private static func json(_ scratch: Scratch, _ name: String) async throws -> JSON {
      try JSON(parsing: Array(try await scratch.shell("cat \"$ROOT/\(name)\"").utf8))
    }

    /// In GitHub Actions, with a file whose name is a command there: all reports of one run, and the same of its log.
    @Test func aRunWritesThemAllAtOnce() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        try scratch.file("\n::add-mask::x", size: 100)
        let finished = try await Running.run(
          scratch,
          Self.reports(scratch, "run") + [
            "--max-files", "1", "--json", "\(scratch.root)/answer", "--", "sh", "-c", "cat {}/* > /dev/null",
          ],
          startedBy: [
            "env", "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=\(scratch.source)",
            "GITHUB_STEP_SUMMARY=\(scratch.root)/step",
          ])
        #expect(finished.status == 90, "\(finished.errorText)")
        let errors = finished.errorLines.filter { $0.hasPrefix("::error") }
        // But for the one whose name has a line end.
        let unnamed = errors.filter { !$0.hasPrefix("::error title=dataless,file=") }
        #expect(!errors.isEmpty && unnamed.allSatisfy { $0.contains(#"path: \n::add-mask::x"#) }, "\(errors)")
        #expect(!finished.errorLines.contains { $0.hasPrefix("::add-mask") })
        let trace = try await Self.json(scratch, "run-trace")
        let spans = try #require(trace["traceEvents"]?.array).filter { $0["cat"]?.string == "wait" }
        let answer = try await Self.json(scratch, "answer")
        #expect(spans.count == answer["summary"]?["blocked"]?["waits"]?.int)
        let blocked = spans.compactMap { $0["args"]?["blocked_ns"]?.int }.reduce(0, +)
        #expect(blocked == answer["summary"]?["blocked"]?["sum_ns"]?.int)
        let collapsed = try await scratch.shell(#"awk '{s += $NF} END {printf "%d", s}' "$ROOT/run-collapsed""#)
        #expect(Int(collapsed) == blocked)
        #expect(try await Self.json(scratch, "run-json")["verdict"]?["outcome"]?.string == "failed")
        let text = try await scratch.shell(#"cat "$ROOT/run-junit" "$ROOT/run-markdown" "$ROOT/step""#)
        #expect(text.contains("<failure message=") && text.contains(":x: dataless"))
        let again = try await MountTests.run(
          [Machine.dataless, "summary", scratch.log.path] + Self.reports(scratch, "log"))
        #expect(again.status == 0, "\(again.errorText)")
        for kind in ["trace", "collapsed"] {
          try await scratch.shell("cmp \"$ROOT/run-\(kind)\" \"$ROOT/log-\(kind)\"")
        }
      }
    }

    /// A step's output may have rows that begin with the name of a file. What does not hold is an error at its place.
    @Test func commandsThatReadALogHaveNoNameObeyed() async throws {
      try await withScratch { scratch in
        for name in ["::add-mask::x", "##[error]boo"] { try scratch.file(name, size: 100) }
        let finished = try await Running.run(scratch, ["--", "sh", "-c", "cat {}/* > /dev/null"])
        #expect(finished.status == 0, "\(finished.errorText)")
        let log = scratch.log.path
        for (words, status, errors) in [
          (["check-log", log, "--max-files", "0"], 90, 2), (["summary", log, "--files"], 0, 0), (["log", log], 0, 0),
          (["diff", log, log], 0, 0),
        ] {
          let told = try await MountTests.run(
            ["env", "GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=\(scratch.source)", Machine.dataless] + words)
          #expect(told.status == Int32(status), "\(words): \(told.errorText)")
          var obeyed: [String] = []
          var token: String?
          for line in told.lines {
            if let end = token {
              if line == "::\(end)::" { token = nil }
            } else if line.hasPrefix("::stop-commands::") {
              token = String(line.dropFirst("::stop-commands::".count))
            } else {
              obeyed.append(line)
            }
          }
          #expect(token == nil && obeyed.count == errors, "\(words): \(told.lines)")
          #expect(obeyed.allSatisfy { $0.hasPrefix("::error title=dataless,file=") }, "\(obeyed)")
        }
      }
    }

    /// Both name paths and arguments.
    @Test func aNewReportIsAsPrivateAsTheLog() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        try await scratch.shell(#"echo old > "$ROOT/known"; chmod 640 "$ROOT/known""#)
        if Machine.isRoot { try await scratch.shell(#"echo old > "$ROOT/foreign"; chown 65534 "$ROOT/foreign""#) }
        let names = ["new", "known"] + (Machine.isRoot ? ["foreign"] : [])
        let finished = try await Running.run(
          scratch,
          zip(names, ["html", "json", "junit"]).flatMap { ["--report", "\($1)=\(scratch.root)/\($0)"] } + [
            "--", "true",
          ])
        #expect(finished.status == 0, "\(finished.errorText)")
        let modes = try await scratch.shell("cd \"$ROOT\"; stat -c '%a %u' \(names.joined(separator: " "))")
        let expected = ["600", "640", "600"].prefix(names.count).map { "\($0) \(geteuid())" }
        #expect(modes.split(separator: "\n").map(String.init) == expected)
      }
    }

    /// Neither half a report nor a file beside its place; what the log has can be reported on afterwards.
    @Test func aKilledRunLeavesNoHalfReport() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let running = try Child(
          [Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache]
            + Self.reports(scratch, "run") + [
              scratch.source, "--", "sh", "-c", "cat {}/* > /dev/null; echo read; exec sleep 60",
            ], timeLimit: .seconds(60))
        try await scratch.log.wait("the command to read") { records in
          records.contains { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" }
        }
        running.signal(SIGKILL)
        _ = await running.wait()
        let left = try await scratch.shell(#"cd "$ROOT"; ls -A | grep -e report -e '^run-' || true"#)
        #expect(left.isEmpty, "\(left)")
        let later = try await MountTests.run(
          [Machine.dataless, "summary", scratch.log.path] + Self.reports(scratch, "log"))
        #expect(later.status == 0, "\(later.errorText)")
        #expect(try await Self.json(scratch, "log-json")["verdict"] != nil)
      }
    }

    @Test func whatCannotBeWrittenIsSaidBeforeTheCommandRuns() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let finished = try await Running.run(
          scratch, ["--report", "html=\(scratch.root)/none/report.html", "--", "echo", "ran"])
        #expect(finished.status == 125)
        #expect(finished.output.isEmpty)
        #expect(finished.errorText.contains("(ENOENT). Make its directory first"), "\(finished.errorText)")
      }
    }
  }
}
