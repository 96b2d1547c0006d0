import Testing

extension RealMounts {
  /// A scenario in a file, changed while the volume is mounted, and explained.
  @Suite struct Scenarios {
    @Test func settingsOfALiveVolumeHoldFromNowOn() async throws {
      try await withVolume(
        source: { scratch in for name in ["a", "b", "c"] { try scratch.file(name, size: 1000) } }
      ) { volume in
        #expect(try await volume.read("a").outcome == "ok")
        try await volume.done("set", volume.mountpoint, "latency=300ms", "seed=7")
        #expect(try await volume.read("b").duration >= .milliseconds(300))
        let status = try await volume.status()
        #expect(status["options"]?["latency_ns"]?.int == 300_000_000 && status["seed"]?.int == 7)
        // All are changed, or none.
        let wrong = try await volume.dataless("set", volume.mountpoint, "latency=0", "bandwith=1MB/s")
        #expect(wrong.status == 2)
        #expect(wrong.errorText.contains("bandwith=1MB/s:1:1: unknown setting 'bandwith'. Did you mean 'bandwidth'?"))
        #expect(try await volume.read("c").duration >= .milliseconds(300))
        let change = try #require(try await volume.records(ofType: "configuration.changed").first)
        #expect(change["what"]?.string == "settings" && change["by"]?.string == "command")
        #expect(change["before"]?["latency"] == nil && change["after"]?["latency"]?.string == "300ms")
        #expect(try await volume.records(ofType: "configuration.changed").count == 1)
      }
    }

    @Test func optionsOverrideTheFile() async throws {
      try await withScenario(
        "latency: 1h\nseed: 3\nrules: [{match: {path: slow}, latency: 400ms}]\n", ["--latency", "0", "--seed", "9"],
        source: { scratch in for name in ["slow", "fast"] { try scratch.file(name, size: 1000) } }
      ) { volume in
        #expect(try await volume.read("fast").duration < .seconds(20), "and not an hour")
        #expect(try await volume.read("slow").duration >= .milliseconds(400))
        let status = try await volume.status()
        #expect(status["seed"]?.int == 9 && status["rule_count"]?.int == 1)
      }
    }

    @Test func aBadScenarioKeepsTheOldOne() async throws {
      try await withScenario(
        "rules: [{name: r, match: {path: file}, fault: ENXIO}]", source: { try $0.file("file", size: 1000) }
      ) { volume in
        let before = try await volume.done("scenario", "show", volume.mountpoint).text
        let bad = try volume.scratch.scenario(
          "seed: 1\nrules:\n  - {match: {path: file}, latency: 1s}\n  - {mach: {path: x}, fault: EIO}\n",
          name: "bad.yaml")
        let refused = try await volume.dataless("scenario", "apply", volume.mountpoint, bad)
        #expect(refused.status == 2)
        #expect(refused.errorText.contains("\(bad):4:6: unknown field 'mach' in a rule. Did you mean 'match'?"))
        #expect(try await volume.done("scenario", "show", volume.mountpoint).text == before)
        #expect(try await volume.read("file").outcome == "ENXIO")
        // The same through the daemon, which trusts no client.
        let answer = try await volume.scratch.shell(
          """
          for socket in /run/dataless/*/control.sock ${XDG_RUNTIME_DIR:-/nonexistent}/dataless/*/control.sock; do
            [ -S "$socket" ] && grep -q "$MOUNT" "${socket%/*}/session.json" || continue
            curl --silent --unix-socket "$socket" -X PUT --data-binary 'rules: 5' http://dataless/v1/scenario || true
          done
          """)
        #expect(answer.contains(#""code":"invalid_scenario""#))
        #expect(try await volume.read("file").outcome == "ENXIO")
        #expect(try await volume.records(ofType: "configuration.changed").isEmpty)
      }
    }

    @Test func whatIsShownCanBeApplied() async throws {
      try await withScenario(
        "latency: {preset: s3}\nrules: [{match: {path: \"*.jpg\"}, gate: g}, {fault: EIO}]", source: { _ in }
      ) { volume in
        let shown = try await volume.done("scenario", "show", volume.mountpoint).text
        let file = try volume.scratch.scenario(shown, name: "shown.json")
        try await volume.done("scenario", "apply", volume.mountpoint, file)
        #expect(try await volume.done("scenario", "show", volume.mountpoint).text == shown)
        #expect(try await volume.gates().count == 1)
        let replaced = try #require(try await volume.records(ofType: "configuration.changed").last)
        #expect(replaced["what"]?.string == "scenario" && replaced["before"] == replaced["after"])
      }
    }

    @Test func errorsInAScenarioNameFileAndLine() async throws {
      try await withScratch { scratch in
        let bad = try scratch.scenario("latency: 1s\nseed: -4\nrules:\n  - fault: EIOO\n", name: "bad.yaml")
        let mounted = try await scratch.tryMount(["--scenario", bad])
        #expect(mounted.status == 2 && mounted.errorLines.count == 2)
        #expect(mounted.errorLines.first?.hasPrefix("\(bad):2:7: ") == true)
        #expect(mounted.errorLines.last?.hasPrefix("\(bad):4:12: unknown errno 'EIOO'.") == true)
        let ran = try await run([Machine.dataless, "run", scratch.source, "--scenario", bad, "--", "true"])
        #expect(ran.status == 125 && ran.errorLines == mounted.errorLines)
        let checked = try await run([Machine.dataless, "scenario", "check", bad])
        #expect(checked.status == 2 && checked.errorLines == mounted.errorLines)
        let absent = try await scratch.tryMount(["--scenario", scratch.root + "/none.yaml"])
        #expect(absent.status == 1 && absent.errorText.contains("ENOENT"))
        let input = try await scratch.shell(
          "echo 'rules: [{fault: EIO}]' | \"$DATALESS\" scenario check - ")
        #expect(input == "-: valid, 1 rule\n")
      }
    }

    @Test func explainSaysWhatWouldHappenAndTouchesNothing() async throws {
      try await withScenario(
        """
        latency: 20ms
        rules:
          - {name: jpg, match: {path: "*.jpg", size: ">1k"}, fault: EIO}
          - {name: tar, match: {process: {comm: bash}}, materialize: off}
          - {name: again, match: {path: "*.jpg"}, fault: ENOENT, gate: g}
        """,
        source: { scratch in
          try scratch.file("a.jpg", size: 5000)
          scratch.directory("d")
          try scratch.file("d/x", size: 10)
        }
      ) { volume in
        _ = try await run(["ls", volume.mountpoint])
        let answer = try await volume.json("explain", volume.path("a.jpg"))
        let parts = Dictionary(
          (answer["parts"]?.array ?? []).map { ($0["part"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first }
        )
        #expect(parts["latency"]?["value"]?.string == "20ms" && parts["latency"]?["rule"] == nil)
        #expect(parts["fault"]?["value"]?.string == "EIO" && parts["fault"]?["rule"]?.string == "jpg")
        #expect(parts["gate"]?["rule"]?.string == "again")
        #expect(answer["rules"]?.array.compactMap { $0["verdict"]?.string } == ["decides", "no_match", "decides"])
        #expect(answer["trigger"]?.string == "read" && answer["attempt"]?.int == 1)
        let shell = try Child(["bash", "-c", "read; :"])
        let process = try await volume.json("explain", volume.path("a.jpg"), "--pid", "\(shell.pid)")
        #expect(process["rules"]?[1]?["verdict"]?.string == "decides" && process["process"]?["comm"]?.string == "bash")
        shell.closeInput()
        await shell.wait()
        let directory = try await volume.done("explain", volume.path("d")).text
        #expect(directory.contains("d (directory, dataless): readdir, attempt 1"))
        #expect(directory.contains("jpg: does not match: the path does not match"))
        // Below a dataless directory nothing is known, and nothing is looked up.
        let unknown = try await volume.dataless("explain", volume.path("d/x"))
        #expect(unknown.status == 1 && unknown.errorText.contains("dataless directory"))
        #expect(try await volume.dataless("explain", volume.path("a.jpg"), "--pid", "999999999").status == 1)
        #expect(try await volume.dataless("explain", volume.path("a.jpg"), "--trigger", "reed").status == 1)
        #expect(try await volume.fileAttempts().isEmpty)
        #expect(try await volume.directoryAttempts().count == 1)
      }
    }

    @Test func aRecordedLogIsReplayedOnALiveVolume() async throws {
      try await withVolume(
        ["--latency", "120ms"], source: { scratch in for name in ["a", "b"] { try scratch.file(name, size: 100) } }
      ) { volume in
        #expect(try await volume.read("a").outcome == "ok")
        let log = try #require(try await volume.status()["log"]?.string)
        // The record of that attempt has to be in the file.
        #expect(try await volume.fileAttempts().count == 1)
        try await volume.done("set", volume.mountpoint, "latency={replay: \(log)}")
        #expect(try await volume.read("b").duration >= .milliseconds(120))
        let end = try #require(try await volume.records(ofType: "materialization.finished").last)
        #expect(try #require(end["requested_delay_ns"]?.int) >= 120_000_000, "as long as the first really took")
        let absent = try await volume.dataless("set", volume.mountpoint, "latency={replay: /absent.jsonl}")
        #expect(absent.status == 2 && absent.errorText.contains("/absent.jsonl"))
      }
    }
  }
}
