import Glibc
import Testing

extension RealMounts {
  /// Ctrl-C, and a connection that is closed, while a command works on many files.
  @Suite struct InterruptedCommands {
    /// More than a command asks for at once; each waits at a gate.
    private static func files(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir a b; for i in $(seq 100); do echo $i > a/$i; echo $i > b/$i; done")
    }

    /// Waits until so many attempts at files have ended so.
    private static func ends(_ count: Int, _ outcome: String, _ volume: Volume) async throws {
      _ = try await volume.log.wait("\(count) files \(outcome)") { records in
        records.count {
          $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file"
            && $0["outcome"]?.string == outcome
        } >= count
      }
    }

    private static let scenario = "rules: [{match: {kind: file}, gate: g}]"

    @Test func interruptedMaterializeSaysWhatIsDoneAndEndsThere() async throws {
      for json in [false, true] {
        try await withScenario(Self.scenario, source: Self.files) { volume in
          let command = try Child(
            [Machine.dataless, "materialize", volume.path("a"), volume.path("b")] + (json ? ["--json"] : []))
          try await volume.waitForCallers(64, at: "g")
          try await volume.done("gate", "release", volume.mountpoint, "g", "--count", "5")
          try await Self.ends(5, "ok", volume)
          command.signal(SIGINT)
          let finished = await command.wait()
          #expect(finished.status == 130)
          if json {
            let output = try JSONLines(finished)
            let result = try #require(output.answer)
            #expect(output.error?["code"]?.string == "interrupted" && output.error?["exit_status"]?.int == 130)
            #expect(result["files"]?.int == 5 && result["interrupted"]?.bool == true)
            #expect(result["unfinished"]?.array.compactMap { $0["path"]?.string } == ["a", "b"])
            #expect(result["failure_count"]?.int == 0, "what was given up is no failure")
          } else {
            #expect(finished.text.contains("materialized 5 files"))
            #expect(finished.errorText.contains("interrupted: \(volume.path("a")) is not done"))
            #expect(finished.errorText.contains("and 1 path after it"))
          }
          #expect(try await volume.status()["in_flight"]?.array.isEmpty == true)
          try await volume.done("gate", "open", volume.mountpoint, "g")
          #expect(try await volume.materializedFiles() == 5, "nothing goes on by itself")
        }
      }
    }

    @Test func killedMaterializeEndsInTheDaemonToo() async throws {
      try await withScenario(Self.scenario, source: Self.files) { volume in
        let command = try Child([Machine.dataless, "materialize", volume.mountpoint])
        try await volume.waitForCallers(64, at: "g")
        command.signal(SIGKILL)
        #expect(await command.wait().signal == SIGKILL)
        try await Self.ends(64, "cancelled", volume)
        try await volume.done("gate", "open", volume.mountpoint, "g")
        #expect(try await volume.materializedFiles() == 0)
      }
    }
  }
}
