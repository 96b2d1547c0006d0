import Glibc
import Testing

extension RealMounts {
  /// Globs of users where they are typed: with braces, and with the mountpoint in front of them.
  @Suite struct RulePaths {
    private static func files(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir photos; for name in a.jpg b.png c.gif; do echo $name > photos/$name; done")
    }

    @Test func bracesMeanEachOfTheirWords() async throws {
      try await withScenario(
        "rules: [{name: both, match: {path: 'photos/*.{jpg,png}'}, fault: EIO}]", source: Self.files
      ) { volume in
        for name in ["a.jpg", "b.png"] { #expect(try await volume.read("photos/\(name)").outcome == "EIO") }
        #expect(try await volume.read("photos/c.gif").outcome == "ok")
        for glob in ["*.{jpg,png}", "photos/*.{jpg,png}", "{**/a.*,photos/b.png}"] {
          let shown = try await volume.done(
            "log", volume.mountpoint, "--json", "--type", "materialization.started", "--path", glob)
          #expect(shown.lines.count == 2, "\(glob): \(shown.text)")
        }
        let refused = try await volume.dataless("log", volume.mountpoint, "--path", "*.{jpg")
        #expect(refused.status == 2 && refused.errorText.contains("a '{' is not closed"), "\(refused.errorText)")
      }
    }

    @Test func aMountWhoseRulesBeginWithTheMountpointIsRefused() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        try await scratch.shell(#"ln -s "$MOUNT" "$ROOT/link""#)
        for (root, name, mountpoint) in [
          (scratch.mountpoint, "the mountpoint", scratch.mountpoint), (scratch.source, "SOURCE", scratch.mountpoint),
          (scratch.root + "/link", "the mountpoint", scratch.root + "/link"),
        ] {
          let file = try scratch.scenario("rules:\n  - {match: {path: '\(root)/photos/*.jpg'}, fault: EIO}\n")
          let finished = try await scratch.tryMount(["--scenario", file], mountpoint: mountpoint)
          #expect(finished.status == 2)
          #expect(
            finished.errorText.hasPrefix("\(file):2:20: the path '\(root)/photos/*.jpg' begins with \(name), but"))
          #expect(finished.errorText.contains("Write 'photos/*.jpg'; or "), "\(finished.errorText)")
        }
        #expect(!Machine.isMounted(scratch.mountpoint))
        let file = try scratch.scenario("rules: [{match: {path: '\(scratch.source)/a'}, fault: EIO}]\n")
        let finished = try await run([
          Machine.dataless, "run", scratch.source, "--scenario", file, "--json", "--", "true",
        ])
        #expect(finished.status == 125)
        #expect(try JSON(parsing: finished.output)["error"]?["code"]?.string == "invalid_scenario")
      }
    }

    @Test func changesOfAVolumeAreRefusedToo() async throws {
      try await withVolume(source: Self.files) { volume in
        let path = volume.path("photos/*.jpg")
        let file = try volume.scratch.scenario("rules:\n  - {match: {path: '\(path)'}, fault: EIO}\n")
        for command in [
          ["fault", "add", volume.mountpoint, "EIO", "--path", path],
          ["policy", volume.mountpoint, "rule", "off", "--path", path],
          ["scenario", "apply", volume.mountpoint, file],
        ] {
          let output = try await JSONLines.run(command + ["--json"])
          #expect(output.finished.status == 2 && output.error?["code"]?.string == "invalid_scenario")
          #expect(
            output.error?["message"]?.string?.contains("Write 'photos/*.jpg'; or ") == true, "\(output.finished.text)")
          if command[0] == "scenario" { #expect(output.error?["problems"]?[0]?["file"]?.string == file) }
        }
        for command in [
          ["log", volume.mountpoint, "--path", path], ["gate", "release", volume.mountpoint, "g", "--path", path],
        ] {
          let output = try await JSONLines.run(command + ["--json"])
          #expect(output.finished.status == 2 && output.error?["code"]?.string == "usage", "\(output.finished.text)")
          #expect(output.error?["message"]?.string?.contains("Write 'photos/*.jpg'; or ") == true)
        }
        #expect(try await volume.status()["rule_count"]?.int == 0)
      }
    }

    /// Said before anybody waits for the rule to do something; a name that is there later is matched all the same.
    @Test func aGlobThatMatchesNothingIsSaid() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        try await scratch.shell("mkdir other; ln photos/a.jpg other/b.jpg; ln -s photos newest; : >empty.md")
        let file = try scratch.scenario(
          """
          rules:
            - {name: typo, match: {path: "*.jpeg"}, fault: EIO}
            - {name: half, match: {path: "photos/*"}, latency: 1ms}
            - {name: all, match: {path: "*.jpg"}, latency: 1ms}
          """)
        let finished = try await scratch.tryMount(["--scenario", file])
        let warnings = finished.errorText.split(separator: "\n").filter { $0.contains("warning") }
        #expect(warnings.count == 2, "\(finished.errorText)")
        #expect(warnings.first == "dataless: warning: rule 'typo': nothing in SOURCE matches '*.jpeg' now. Check it.")
        #expect(
          warnings.last?.hasPrefix(
            "dataless: warning: rule 'half' matches 'photos/a.jpg', which is the same file as 'other/b.jpg' (hard links):"
          ) == true)
        let second = try await run([
          Machine.dataless, "run", scratch.source, "--forbid", "*.png", "--forbid", "*.tiff", "--forbid", "newest/**",
          "--forbid", "*.md", "--log", scratch.log.path + "2", "--", "true",
        ])
        #expect(
          second.errorText.contains("warning: forbid: nothing in SOURCE matches '*.tiff' now."), "\(second.errorText)")
        #expect(!second.errorText.contains("matches '*.png'"), "\(second.errorText)")
        for glob in ["newest/**", "*.md"] {
          let sentence = "warning: forbid: what '\(glob)' matches in SOURCE now is never materialized"
          #expect(second.errorText.contains(sentence), "\(second.errorText)")
        }
      }
    }

    /// A rule for a process that its author meant for files: on standard error, and in the answer.
    @Test func aWarningIsSeenWhereverAScenarioIsRead() async throws {
      try await withScratch { scratch in
        try await Self.files(scratch)
        let file = try scratch.scenario("rules:\n  - {match: {process: {exe: tar}}, fault: EIO}\n")
        func expect(_ finished: Finished, _ key: String) throws {
          #expect(finished.errorText.contains("\(file):2:5: warning: ") || key == "warnings", "\(finished.errorText)")
          let found = try JSON(parsing: finished.output)[key]?.array ?? []
          #expect(
            found.count == 1 && found[0]["line"]?.int == 2 && found[0]["file"]?.string == file, "\(finished.text)")
          #expect(found.first?["message"]?.string?.contains("kind: file") == true)
        }
        let text = try await run([Machine.dataless, "scenario", "check", file])
        #expect(text.errorText.hasPrefix("\(file):2:5: warning: this rule also holds"), "\(text.errorText)")
        try expect(try await run([Machine.dataless, "scenario", "check", file, "--json"]), "warnings")
        try expect(try await scratch.tryMount(["--scenario", file, "--json"]), "scenario_warnings")
        try expect(
          try await run([Machine.dataless, "scenario", "apply", scratch.mountpoint, file, "--json"]), "warnings")
        let added = try await run(
          [Machine.dataless, "fault", "add", scratch.mountpoint, "EIO", "--exe", "cat"])
        #expect(added.succeeded && added.errorText.contains("warning: this rule also holds"), "\(added.errorText)")
        try await scratch.shell(#"rm -f "$LOG""#)
        try expect(
          try await run([Machine.dataless, "run", scratch.source, "--scenario", file, "--json", "--", "true"]),
          "scenario_warnings")
      }
    }
  }
}
