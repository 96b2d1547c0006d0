import Glibc
import Testing

extension RealMounts {
  /// `interrupt: fatal` and `any`, each with a handler with and without SA_RESTART and with SIGKILL, in sequence on one
  /// reader.
  @Suite struct Interrupts {
    private static let scenario = "rules: [{match: {kind: file}, gate: g}]"

    private static func files(_ scratch: Scratch) throws {
      for name in ["a", "b"] { try scratch.file(name, size: 1000) }
    }

    @Test func onlyFatalSignalsEndAWaitByDefault() async throws {
      try await withScenario(Self.scenario, source: Self.files) { volume in
        let reader = try await volume.scratch.startProbe("interrupted", volume.path("a"), volume.path("b"))
        try await volume.waitForCallers(1, at: "g")
        reader.signal(SIGUSR1)
        reader.signal(SIGUSR2)
        try await volume.done("gate", "release", volume.mountpoint, "g")
        let first = Answer(try #require(await reader.line()))
        #expect(first.outcome == "ok" && first.bytes == 1000)
        #expect(first["restarting"] == "1" && first["others"] == "1", "the handlers run when the wait is over")
        try await volume.waitForCallers(1, at: "g")
        reader.signal(SIGUSR1)
        reader.signal(SIGKILL)
        #expect(await reader.wait().signal == SIGKILL)
        let ends = try await volume.log.wait("two ends") { records in
          records.count { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" } == 2
        }.filter { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" }
        #expect(ends.compactMap { $0["outcome"]?.string } == ["ok", "cancelled"])
      }
    }

    @Test func everySignalEndsAWaitWhenAskedFor() async throws {
      try await withScenario(Self.scenario, ["--interrupt", "any"], source: Self.files) { volume in
        #expect(try await volume.status()["options"]?["interrupt"]?.string == "any")
        let reader = try await volume.scratch.startProbe("interrupted", volume.path("a"), volume.path("b"))
        // SA_RESTART does not help: the reply itself says EINTR.
        for (signal, counts) in [(SIGUSR1, ("1", "0")), (SIGUSR2, ("1", "1"))] {
          try await volume.waitForCallers(1, at: "g")
          reader.signal(signal)
          let answer = Answer(try #require(await reader.line()))
          #expect(answer.outcome == "EINTR")
          #expect(answer["restarting"] == counts.0 && answer["others"] == counts.1)
        }
        // The mode can be changed while somebody waits.
        try await volume.waitForCallers(1, at: "g")
        try await volume.done("set", volume.mountpoint, "interrupt=fatal")
        reader.signal(SIGUSR2)
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(Answer(try #require(await reader.line())).outcome == "ok")
        try await volume.waitForCallers(1, at: "g")
        reader.signal(SIGKILL)
        #expect(await reader.wait().signal == SIGKILL)
      }
    }
  }
}
