import Glibc
import Testing

extension RealMounts {
  /// `dataless reset`: a volume as freshly mounted, between two tests.
  @Suite struct Resets {
    private static let scenario = """
      latency: 1ms
      rules:
        - {name: first-fails, match: {path: a, attempt: {first: 1}}, fault: EIO}
        - {name: hold, match: {path: held}, gate: g}
      """

    private static func source(_ scratch: Scratch) throws {
      for name in ["a", "b", "pinned", "held"] { try scratch.file(name, size: 5000) }
      scratch.directory("d")
      try scratch.file("d/x", size: 100)
    }

    /// What a test may look at before it begins.
    private func look(_ volume: Volume) async throws -> [String: JSON] {
      let status = try await volume.status()
      var seen = try await volume.list()
      for key in ["materialized", "opens", "gates", "offline", "rule_count", "seed", "options", "profile", "in_flight"]
      {
        seen["status.\(key)"] = status[key]
      }
      seen["scenario"] = .string(try await volume.done("scenario", "show", volume.mountpoint).text)
      return seen
    }

    @Test func afterAResetTheVolumeIsAsFreshlyMounted() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let fresh = try await look(volume)
        for round in 1...2 {
          #expect(try await volume.read("a").outcome == "EIO", "round \(round)")
          #expect(try await volume.read("a").outcome == "ok")
          #expect(try await volume.read("d/x").outcome == "ok")
          try await volume.done("pin", volume.path("pinned"))
          try await volume.done("gate", "open", volume.mountpoint, "g")
          #expect(try await volume.read("held").outcome == "ok")
          try await volume.done("set", volume.mountpoint, "latency=2ms", "seed=7")
          try await volume.done("fault", "add", volume.mountpoint, "ENOSPC", "--path", "b")
          try await volume.done("offline", volume.mountpoint)
          try await volume.done("mark", volume.mountpoint, "round")
          let reset = try await volume.json("reset", volume.mountpoint)
          #expect((reset["files"]?.int ?? 0) >= 3 && reset["directories"]?.int == 2)
          #expect(try await look(volume) == fresh)
          let inventory = try await volume.dataless("inventory", volume.mountpoint, "--since", "round")
          #expect(inventory.status == 1 && inventory.errorText.contains("no mark"))
        }
        // The log can be cut there: what comes later has higher numbers, and is the next test's.
        let records = try await volume.records()
        let resets = records.filter { $0["type"]?.string == "volume.reset" }
        #expect(resets.count == 2 && resets.allSatisfy { $0["by"]?.string == "command" })
        #expect(resets.first?["counters"]?["materialized"]?["failures"]?.int == 1)
        let attempts = records.filter { $0["type"]?.string == "materialization.started" && $0["path"]?.string == "a" }
        let cut = try #require(resets.first?["seq"]?.int)
        #expect(attempts.count == 4 && attempts.filter { ($0["seq"]?.int ?? 0) > cut }.count == 2)
        let summary = try await volume.json("summary", volume.mountpoint)
        #expect(summary["sections"]?.array.contains { $0["label"]?.string == "reset" } == true)
      }
    }

    @Test func whatStandsInTheWayIsNamedAndNothingIsChanged() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        try await volume.done("offline", volume.mountpoint)
        try await volume.done("online", volume.mountpoint)
        try await volume.done("set", volume.mountpoint, "seed=7")
        #expect(try await volume.read("b").outcome == "ok")
        let holder = try Child(["sh", "-c", #"exec 3< "$0"; echo open; read -r line"#, volume.path("b")])
        #expect(await holder.line() == "open")
        let refused = try await volume.dataless("reset", volume.mountpoint, "--json")
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("'b' (1 open handle)") && refused.errorText.contains("(EBUSY)"))
        let line = try JSON(parsing: try #require(refused.lines.last).utf8)
        #expect(line["error"]?["code"]?.string == "busy" && line["error"]?["errno"]?.string == "EBUSY")
        #expect(try await volume.status()["seed"]?.int == 7)
        #expect(try await volume.list("b")["b"]?["state"]?.string == "resident")
        holder.closeInput()
        await holder.wait()

        let reader = try await volume.scratch.startProbe("read", volume.path("held"))
        try await volume.waitForCallers(1, at: "g")
        let held = try await volume.dataless("reset", volume.mountpoint)
        #expect(held.status == 1 && held.errorText.contains("'held' (being materialized"))
        try await volume.done("gate", "release", volume.mountpoint, "g")
        await reader.wait()
        // The reader has closed it a moment ago at most.
        try await volume.done("reset", volume.mountpoint)
        #expect(try await volume.status()["seed"]?.int == 0)
      }
    }

    @Test func whatOnlyAMountForgetsIsRefused() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        #expect(try await volume.read("a").outcome == "ok")
        try await volume.done("reset", volume.mountpoint)
        #expect(try await volume.list("")["a"] == nil, "the root is dataless")
        try await volume.scratch.shell(#"echo more >> "$MOUNT/b"; chmod 600 "$MOUNT/a""#)
        let dirty = try await volume.dataless("reset", volume.mountpoint)
        #expect(dirty.status == 1 && dirty.errorText.contains("'b' (written to on the volume"))
        #expect(dirty.errorText.contains("of names or attributes"))
      }
      try await withScratch { scratch in
        try Self.source(scratch)
        let volume = try await scratch.mount(["--state", scratch.root + "/state"])
        let kept = try await volume.dataless("reset", volume.mountpoint)
        #expect(kept.status == 1 && kept.errorText.contains("--state") && kept.errorText.contains("EOPNOTSUPP"))
      }
    }

    @Test func aFileOfSeveralNamesIsNamed() async throws {
      try await withVolume(
        [],
        source: { scratch in
          try Self.source(scratch)
          try await scratch.shell("ln a linked")
        }
      ) { volume in
        #expect(try await volume.read("a").outcome == "ok")
        let refused = try await volume.dataless("reset", volume.mountpoint)
        #expect(refused.status == 1 && refused.errorText.contains("2 names (hard links)"))
      }
    }
  }
}
