import Glibc
import Testing

extension RealMounts {
  /// `dataless run --json`: one answer, apart from all that the command prints.
  @Suite struct RunJSON {
    private static func answer(_ bytes: some Sequence<UInt8>) throws -> JSON { try JSON(parsing: bytes) }

    @Test func aFileHasTheAnswerAndNothingElse() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let file = "\(scratch.root)/result.json"
        try await scratch.shell(#"echo '{"exit_status": 0, "of": "an earlier run"}' > "$ROOT/result.json""#)
        let finished = try await Running.run(
          scratch,
          ["--json", file, "--max-files", "1", "--", "sh", "-c", "echo '{'; echo '{' >&2; cat {}/file-[12]; exit 7"])
        #expect(finished.status == 90)
        let answer = try Self.answer(Array(try await scratch.shell(#"cat "$ROOT/result.json""#).utf8))
        #expect(answer["exit_status"]?.int == 90)
        #expect(answer["reason"]?.string == "budget_exceeded")
        #expect(answer["command"]?["exit_status"]?.int == 7)
        #expect(answer["budget"]?["files"]?.int == 2)
        #expect(answer["children"]?["end"]?.string == "none_left")
        #expect(answer["log"]?.string == scratch.log.path)
        #expect(answer["summary"]?["materialized"]?["files"]?.int == 2, "\(answer)")
        #expect(finished.errorText.contains("2 files"), "the summary stays: \(finished.errorText)")
      }
    }

    /// Also where no file is named: `--json` at the end of the options.
    @Test(arguments: [["--json", "-"], ["--json"], ["--json-fd", "1"], ["--json", "--seed", "1"]])
    func standardOutputIsTheAnswersAlone(options: [String]) async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let finished = try await Running.run(scratch, options + ["--", "sh", "-c", "echo loud; kill -TERM $$"])
        #expect(finished.status == 143)
        let answer = try Self.answer(finished.output)
        #expect(answer["command"]?["signal"]?.string == "SIGTERM")
        #expect(answer["reason"]?.string == "command")
        #expect(finished.errorLines.contains("loud"))
      }
    }

    @Test func aDescriptorIsNotTheCommands() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let finished = try await Running.run(
          scratch, ["--json-fd", "7", "--", "sh", "-c", "echo out; ls /proc/self/fd | grep -c '^7$'; nosuchcommand"],
          startedBy: ["bash", "-c", #"exec 8>&1; "$@" 7>&8 >&2"#, "bash"])
        #expect(finished.status == 127)
        #expect(try Self.answer(finished.output)["exit_status"]?.int == 127)
        #expect(finished.errorLines.contains("0"), "\(finished.errorText)")
      }
    }

    @Test func whatCannotBeWrittenFailsBeforeTheCommandRuns() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        try await scratch.shell(#"mkfifo "$ROOT/fifo""#)
        for options in [["--json", scratch.source], ["--json", "\(scratch.root)/fifo"], ["--json-fd", "77"]] {
          let finished = try await Running.run(scratch, options + ["--", "echo", "ran"])
          #expect(finished.status == 125, "\(finished.errorText)")
          #expect(finished.output.isEmpty)
          #expect(finished.errorText.contains("cannot write JSON"), "\(finished.errorText)")
        }
      }
    }

    @Test func aRunThatCannotBeginAnswersTheError() async throws {
      try await withScratch { scratch in
        let finished = try await MountTests.run(
          [Machine.dataless, "run", scratch.root + "/absent", "--json", "-", "--", "true"])
        #expect(finished.status == 125)
        let message = try Self.answer(finished.output)["error"]?["message"]?.string
        #expect(message?.contains("absent") == true, "\(finished.text)")
      }
    }

    @Test func strictRulesFailOnARuleThatNeverFired() async throws {
      try await withScratch { scratch in
        try Running.tree(scratch)
        let scenario = "\(scratch.root)/scenario.yaml"
        try await scratch.shell(
          #"printf 'rules:\n  - {name: used, match: {path: "file-*"}, latency: 1ms}\n  - {name: typo, match: {path: "fiel-*"}, latency: 1ms}\n' > "$ROOT/scenario.yaml""#
        )
        let arguments = ["--scenario", scenario, "--json", "-", "--", "sh", "-c", "cat {}/file-1 > /dev/null"]
        let lenient = try await Running.run(scratch, arguments)
        #expect(lenient.status == 0, "\(lenient.errorText)")
        try await scratch.shell(#"rm "$LOG""#)
        let strict = try await Running.run(scratch, ["--strict-rules"] + arguments)
        #expect(strict.status == 92, "\(strict.errorText)")
        #expect(strict.errorText.contains("never fired: typo, of 2"), "\(strict.errorText)")
        #expect(try Self.answer(strict.output)["reason"]?.string == "rules_unused")
      }
    }
  }
}
