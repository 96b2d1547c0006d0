import Glibc
import Testing

/// With `--json`, what failed is JSON, too: one envelope for all commands (docs/JSON.md). Nothing is mounted here.
@Suite struct JSONErrors {
  /// Every command with arguments that are right but for the path, which is on no volume.
  static let commands: [[String]] = [
    ["unmount", "/proc"], ["log", "/proc"], ["summary", "/proc"], ["mark", "/proc", "x"], ["status", "/proc"],
    ["ls", "/proc"], ["materialize", "/proc"], ["evict", "/proc"], ["refresh", "/proc"], ["conflicts", "/proc"],
    ["set", "/proc", "latency=1s"],
    ["scenario", "show", "/proc"], ["scenario", "apply", "/proc", "/dev/null"], ["gate", "list", "/proc"],
    ["gate", "wait", "/proc", "g"], ["gate", "release", "/proc", "g"], ["gate", "open", "/proc", "g"],
    ["gate", "close", "/proc", "g"], ["fault", "add", "/proc", "EIO"], ["fault", "list", "/proc"],
    ["fault", "remove", "/proc", "x"], ["policy", "/proc"], ["policy", "/proc", "off"], ["offline", "/proc"],
    ["online", "/proc"], ["explain", "/proc"],
  ]

  @Test(arguments: commands)
  func aPathOnNoVolume(command: [String]) async throws {
    let output = try await JSONLines.run(command + ["--json"])
    #expect(output.finished.status == 3 && output.lines.count == 1)
    #expect(output.error?["code"]?.string == "not_a_volume")
    let message = try #require(output.error?["message"]?.string)
    #expect(output.finished.errorText == "dataless: \(message)\n", "the same words for a person")
  }

  /// Mistakes that the argument parser finds, before any command runs.
  @Test(arguments: commands + [["mount", "/proc", "/tmp"], ["scenario", "check", "x"], ["nosuch"], ["gate"], []])
  func aWrongCommandLine(command: [String]) async throws {
    for wrong in [command + ["--json", "--bogus"], command + ["--bogus", "--json"]] {
      let output = try await JSONLines.run(wrong)
      #expect(output.finished.status == 2 && output.lines.count == 1)
      #expect(output.error?["code"]?.string == "usage" && output.error?["errno"]?.string == "EINVAL")
    }
  }

  /// What the command itself finds to be wrong with its arguments.
  @Test(arguments: [
    ["log", "/proc", "--type", "bogus"], ["set", "/proc", "latency"],
    ["gate", "release", "/proc", "g", "--fail", "EIOO"],
    ["mount", "a", "b", "--seed", "-1"], ["policy", "/proc", "maybe"], ["mount", "synthetic:files=x", "/tmp"],
  ])
  func aWrongArgument(command: [String]) async throws {
    let output = try await JSONLines.run(command + ["--json"])
    #expect(output.finished.status == 2 && output.error?["code"]?.string == "usage", "\(output.finished.text)")
  }

  @Test func behindTheTwoDashesTheWordIsNotOurs() async throws {
    let finished = try await run([Machine.dataless, "mark", "/proc", "--", "--json"])
    #expect(finished.status == 3 && finished.output.isEmpty)
    let executed = try await run([Machine.dataless, "exec", "--materialize", "default", "--", "echo", "--json"])
    #expect(executed.text == "--json\n")
  }

  @Test func execAnswersOnlyWhatFailsBeforeTheCommandRuns() async throws {
    for (command, status, code) in [
      (["--materialize", "default", "--", "/nonexistent"], 127, "not_found"),
      (["--materialize", "default", "--", "/dev/null"], 126, "not_executable"),
      (["--materialize", "maybe", "--", "true"], 125, "usage"), (["--", "true"], 125, "usage"),
    ] {
      let output = try await JSONLines.run(["exec", "--json"] + command)
      #expect(output.finished.status == Int32(status) && output.error?["code"]?.string == code)
    }
    let finished = try await run(
      [Machine.dataless, "exec", "--json", "--materialize", "default", "--", "sh", "-c", "echo out; exit 3"])
    #expect(finished.status == 3 && finished.text == "out\n")
  }

  /// The place to which `run` was to write its answer gets what is wrong with the command line, too.
  @Test func runAnswersWhereItWasTold() async throws {
    try await withScratch { scratch in
      let file = "\(scratch.root)/result.json"
      for options in [["--json", file], ["--json=\(file)"], ["--json-fd", "1"], ["--json-fd=1"], ["--json"]] {
        for wrong in [
          ["run", scratch.source, "--bogus"], ["run", scratch.root + "/absent"],
          ["run", scratch.source, "--seed", "x"],
        ] {
          let finished = try await run([Machine.dataless] + wrong + options + ["--", "true"])
          #expect(finished.status == 125 && !finished.errors.isEmpty)
          let written =
            options[0].contains("json=") || options.last == file
            ? try await scratch.shell(#"cat "$ROOT/result.json""#) : finished.text
          let error = try JSON(parsing: written.utf8)["error"]
          #expect(error?["exit_status"]?.int == 125, "\(options): \(written)")
          #expect(error?["code"]?.string == (wrong.last?.hasSuffix("absent") == true ? "failed" : "usage"))
        }
      }
    }
  }

  /// Where standard error is the place of the JSON, it is alone there.
  @Test func standardErrorIsTheJSONsAlone() async throws {
    for wrong in [["--bogus"], []] {
      let finished = try await run(
        [Machine.dataless, "run", "/nonexistent", "--json-fd", "2"] + wrong + ["--", "true"])
      #expect(finished.status == 125 && finished.errorLines.count == 1)
      #expect(try JSON(parsing: finished.errors)["error"]?["exit_status"]?.int == 125)
    }
  }

  @Test func aScenarioThatIsRefusedNamesItsPlaces() async throws {
    try await withScratch { scratch in
      let file = try scratch.scenario("latency: soon\nrules: [{fault: EIOO}]\n")
      for command in [["scenario", "check", file], ["mount", "--scenario", file, scratch.source, scratch.mountpoint]] {
        let output = try await JSONLines.run(command + ["--json"])
        #expect(output.finished.status == 2 && output.error?["code"]?.string == "invalid_scenario")
        let problems = output.error?["problems"]?.array ?? []
        #expect(problems.compactMap { $0["line"]?.int } == [1, 2])
        #expect(problems.allSatisfy { $0["file"]?.string == file && $0["message"] != nil })
        #expect(
          output.finished.errorLines.first?.hasPrefix("\(file):1:") == true, "places stand first on standard error")
      }
    }
  }

  @Test func aSystemCallThatFailsIsNamed() async throws {
    let output = try await JSONLines.run(["log", "/nonexistent", "--json"])
    #expect(output.finished.status == 1 && output.error?["errno"]?.string == "ENOENT")
    let mounted = try await JSONLines.run(["mount", "/nonexistent", "/nonexistent", "--json"])
    #expect(mounted.finished.status == 1 && mounted.error?["errno"]?.string == "ENOENT", "\(mounted.finished.text)")
  }
}
