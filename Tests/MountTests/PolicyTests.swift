import Testing

extension RealMounts {
  /// Who may materialize, as real programs meet it.
  @Suite struct Policy {
    private func withSlowVolume(_ body: (Volume) async throws -> Void) async throws {
      try await withVolume(
        ["--latency", "150ms"],
        source: { scratch in
          scratch.directory("directory")
          for name in ["a", "b", "c", "directory/d"] { try scratch.file(name, size: 5000) }
        }, test: body)
    }

    /// The program of TN3150, written for macOS, behaves as the note says.
    @Test func theProgramOfTheTechnoteMeetsWhatItExpects() async throws {
      try await withSlowVolume { volume in
        let program = try await ClientProgram.tn3150.path()
        let polite = try await run([program, "polite", volume.path("a")])
        #expect(polite.status == 0, "\(polite.text)")
        try await volume.done("set", volume.mountpoint, "latency=2s")
        let two = try await run([program, "two", volume.path("b")])
        #expect(two.status == 0, "\(two.text)")
        let refusals = try await volume.records().filter { $0["type"]?.string == "materialization.refused" }
        #expect(refusals.map { $0["policy"]?.string } == ["thread", "thread"])
        #expect(refusals.allSatisfy { $0["errno"]?.string == "EDEADLK" })
        #expect(try await volume.materializedFiles() == 2)
      }
    }

    /// A whole tree of processes, also one whose starter is gone, and the listing of a dataless directory.
    @Test func anUnmodifiedProgramAndAllItStartsAreRefused() async throws {
      try await withSlowVolume { volume in
        let script = "cat c; (sh -c 'cat a' &) ; wait; ls directory; sh -c 'exec cat b'"
        let finished = try await run(
          [
            Machine.dataless, "exec", "--materialize", "off", "--", "sh", "-c",
            "cd '\(volume.mountpoint)' && \(script) 2>&1",
          ])
        // Names: the root itself is dataless at first, so that even `cat c` is a lookup in it.
        #expect(!finished.text.isEmpty)
        #expect(!finished.text.contains("\u{0}"))
        #expect(try await volume.materializedFiles() == 0)
        // One of them is an orphan that nobody waits for.
        let records = try await volume.log.wait("four refusals") { records in
          records.count { $0["type"]?.string == "materialization.refused" } >= 4
        }
        let refusals = records.filter { $0["type"]?.string == "materialization.refused" }
        #expect(refusals.allSatisfy { $0["policy"]?.string == "process" })
        let after = try await run(["cat", volume.path("c")])
        #expect(after.status == 0)
      }
    }
  }
}
