import Glibc
import Testing

extension RealMounts {
  /// How accesses end whose process ends, or is stopped.
  @Suite struct CoordinationEnds {
    private static let ends = ["coordination.finished", "presenter.finished"]

    private static func source(_ scratch: Scratch) throws {
      for name in ["a", "b"] { try scratch.file(name, size: 100) }
    }

    /// The outcomes, when there are so many.
    private static func outcomes(_ count: Int, _ volume: Volume) async throws -> [String] {
      let records = try await volume.log.wait("\(count) have ended") { records in
        records.count { ends.contains($0["type"]?.string ?? "") } == count
      }
      return records.filter { ends.contains($0["type"]?.string ?? "") }.map { $0["outcome"]?.string ?? "none" }
    }

    @Test func whatAKilledProcessHadHasEnded() async throws {
      try await withVolume([], source: Self.source) { volume in
        let (one, other) = (try await CoordinatingClient(), try await CoordinatingClient())
        #expect(await one("present 1 \(volume.path("b"))") == "1 presents")
        #expect(await one("ask 2 0 0 w:\(volume.path("a"))") == "2 asked")
        #expect(await one("wait 2")?.hasPrefix("2 granted") == true)
        #expect(await other("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        _ = try await volume.log.wait("it waits") { records in
          records.contains { $0["type"]?.string == "coordination.started" && $0["waits_for"] != nil }
        }
        other.child.signal(SIGKILL)
        #expect(try await Self.outcomes(1, volume) == ["ended"])
        one.child.signal(SIGKILL)
        #expect(try await Self.outcomes(3, volume) == ["ended", "ended", "ended"])
      }
    }

    @Test func aProcessWithoutItsMainThreadIsServed() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let alone = try Child([program, "alone", volume.path("a")], timeLimit: .seconds(60))
        #expect(await alone.line() == "granted")
        alone.send("")
        #expect(await alone.line() == "end 0")
        #expect(try await Self.outcomes(1, volume) == ["ok"])
      }
    }

    @Test func aProcessWithoutItsMainThreadIsTakenForStopped() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        let alone = try Child([program, "alone", volume.path("a")], timeLimit: .seconds(60))
        #expect(await alone.line() == "granted")
        let other = try await CoordinatingClient()
        alone.signal(SIGSTOP)
        #expect(await other("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
        #expect(await other("wait 1")?.hasPrefix("1 granted") == true)
        alone.signal(SIGCONT)
        alone.send("")
        #expect(await alone.line() == "end \(ECANCELED)")
        #expect(try await Self.outcomes(1, volume) == ["coordination_taken_away"])
      }
    }

    /// Its process ends at once, but what it had was given back before.
    @Test func whatWasGivenBackHasNotEndedWithItsProcess() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.coordinate.path()
        for _ in 0..<20 { #expect(try await run([program, "many", "2", "r", volume.path("a")]).succeeded) }
        #expect(try await Self.outcomes(40, volume) == [String](repeating: "ok", count: 40))
      }
    }

    /// Both are there when the daemon looks: the intent on a connection that comes after the outer one's end.
    @Test func whatIsAskedForWithinIsTakenUpBeforeTheOuterOneEnds() async throws {
      try await withVolume([], source: Self.source) { volume in
        let client = try await CoordinatingClient()
        let daemon = Int32(try #require(try await volume.status()["pid"]?.int))
        for (flags, inner) in [("0", "r:\(volume.path("a"))"), ("1", "w:\(volume.path("a")) w:\(volume.path("b"))")] {
          #expect(await client("ask 1 0 0 w:\(volume.path("a"))") == "1 asked")
          #expect(await client("wait 1")?.hasPrefix("1 granted") == true)
          kill(daemon, SIGSTOP)
          let asked = [
            await client("ask 2 \(flags) 1 \(inner)"), await client("ask 3 1 1 r:\(volume.path("b"))"),
            await client("end 1"),
          ]
          kill(daemon, SIGCONT)
          #expect(asked == ["2 asked", "3 asked", "1 ended"])
          for number in [2, 3] {
            #expect(await client("wait \(number)")?.hasPrefix("\(number) granted") == true)
            #expect(await client("end \(number)") == "\(number) ended")
          }
        }
        #expect(try await Self.outcomes(6, volume) == [String](repeating: "ok", count: 6))
      }
    }
  }
}
