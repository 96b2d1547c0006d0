import Testing

extension RealMounts {
  /// Who may materialize, by the volume's own word.
  @Suite struct PolicyRules {
    private static func tree(_ scratch: Scratch) throws {
      try scratch.file("file", size: 1000)
      scratch.directory("d")
      try scratch.file("d/x", size: 10)
    }

    @Test func aProgramThatMayNotMaterializeGetsEDEADLKAtOnce() async throws {
      try await withVolume(["--latency", "1h"], source: Self.tree) { volume in
        _ = try await run(["stat", volume.path("file")])
        try await volume.done(
          "policy", volume.mountpoint, "rule", "off", "--exe", "dataless-probe", "--name", "no-probe")
        try await volume.done("policy", volume.mountpoint, "rule", "off", "--exe", "ls")
        let refused = try await volume.read("file")
        #expect(refused.outcome == "EDEADLK", "without the hour of latency")
        #expect(try await volume.read("d/x").outcome == "EDEADLK", "a lookup in a dataless directory")
        let listed = try await run(["ls", volume.path("d")])
        #expect(listed.status == 2 && listed.errorText.contains("deadlock"))
        // Others may, and then there is nothing to refuse.
        try await volume.done("set", volume.mountpoint, "latency=0")
        #expect(try await run(["cat", volume.path("file")]).succeeded)
        #expect(try await volume.read("file").outcome == "ok")
        let records = try await volume.records(ofType: "materialization.refused")
        #expect(records.compactMap { $0["policy"]?.string } == ["rule:no-probe", "rule:no-probe", "rule:rule-2"])
        #expect(records.allSatisfy { $0["errno"]?.string == "EDEADLK" })
        #expect(records[0]["requested_delay_ns"]?.int == 3_600_000_000_000)
        #expect(records.compactMap { $0["trigger"]?.string } == ["read", "lookup", "readdir"])
        let status = try await volume.status()
        #expect(status["materialized"]?["refusals"]?.int == 3)
        let summary = try await volume.json("summary", volume.mountpoint)
        let probe = try #require(summary["processes"]?.array.first { $0["comm"]?.string == "dataless-probe" })
        #expect(probe["refusals"]?.int == 2 && probe["refused"]?["files"]?.int == 1)
        #expect(probe["refused"]?["bytes"]?.int == 1000 && probe["refused"]?["directories"]?.int == 1)
        #expect(try await volume.done("summary", volume.mountpoint).text.contains("would have materialized"))
        try await volume.done("policy", volume.mountpoint, "remove", "no-probe")
        #expect(try await volume.read("d/x").outcome == "ok")
      }
    }

    @Test func theVolumesOwnAnswerHoldsForEverybodyElse() async throws {
      try await withVolume(source: Self.tree) { volume in
        _ = try await run(["stat", volume.path("file")])
        try await volume.done("policy", volume.mountpoint, "off")
        try await volume.done("policy", volume.mountpoint, "rule", "on", "--exe", "cat")
        #expect(try await volume.read("file").outcome == "EDEADLK")
        #expect(try await volume.done("policy", volume.mountpoint).text.hasSuffix("everybody else: off\n"))
        #expect(try await run(["cat", volume.path("file")]).succeeded)
        // What the tester asks for is no program under test.
        try await volume.done("materialize", volume.path("d"))
        try await volume.done("policy", volume.mountpoint, "on")
        #expect(try await volume.read("d/x").outcome == "ok")
        let refused = try await volume.records(ofType: "materialization.refused")
        #expect(refused.compactMap { $0["policy"]?.string } == ["volume"])
      }
    }
  }
}
