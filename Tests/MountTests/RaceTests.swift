import TestSupport
import Testing

extension RealMounts {
  /// All ways of reading one file at once, by many processes, while its content comes and goes: never a wrong byte,
  /// never an error before the end of the volume.
  @Suite struct Races {
    private static let sizes = [
      1, 2, 4095, 4096, 4097, 20_000, 65_536, 100_001, 131_071, 131_072, 131_073, 135_000, 200_000, 262_144, 300_001,
      524_288, 700_001, 1_048_576, 1_048_577, 2_500_000, 3_145_728, 5_242_880,
    ]

    /// Files of both content layouts, and programs of both that can look at themselves.
    private func prepare(_ scratch: Scratch) async throws {
      for size in Self.sizes {
        for twin in ["a", "b"] { try scratch.file("\(twin)-\(size)", size: size) }
      }
      let probe = try await Probe.shared.path()
      try await scratch.shell(
        """
        cp '\(probe)' program-small; cp '\(probe)' program-large; head -c 1500000 a-5242880 >> program-large
        strip program-small; chmod 755 program-*
        """)
    }

    /// Fields of the client's last line.
    private func check(_ answer: Answer, _ volume: Volume) {
      #expect(answer.int("failures") == 0 && answer.int("hung") == 0, "\(answer)")
      let counts = [
        "reads", "preads", "direct_reads", "shared_maps", "private_maps", "kept_maps", "sendfiles", "splices", "execs",
        "kept_handles", "evictions", "evictions_refused", "materializations", "kills",
      ]
      for count in counts { #expect((answer.int(count) ?? 0) > 0, "\(count): \(answer)") }
    }

    @Test(arguments: [
      [], ["--latency", "3ms"], ["--without", "passthrough", "--without", "direct-mapping"],
    ])
    func everyByteIsTheSourcesWhileAllModesMixUntilTheEnd(options: [String]) async throws {
      try await withVolume(options, source: prepare) { volume in
        let device = try #require(Machine.mounts().last { $0.point == volume.mountpoint }?.device)
        let race = try await volume.scratch.startProbe(
          "race", "\(Machine.raceSeconds)", "\(TestSeed.given ?? 0)", "12", volume.scratch.source, volume.mountpoint,
          "\(Machine.runtimeDirectory)/\(device)/control.sock", timeLimit: .seconds(Machine.raceSeconds + 60))
        let seed = await race.line() ?? "no line"
        _ = await race.line { $0 == "ending" }
        // It races on meanwhile: from here on callers may be told that the volume ends, but nothing else.
        let unmounted = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(10))
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        race.closeInput()
        let finished = await race.wait()
        try #require(finished.succeeded, "\(seed) \(finished.shellStatus) \(finished.text) \(finished.errorText)")
        for line in finished.lines where line.hasPrefix("failure") { Issue.record("\(seed): \(line)") }
        let answer = Answer(finished.lines.last ?? "")
        check(answer, volume)
        print("race \(options): \(answer)")
        #expect(!Machine.isMounted(volume.mountpoint))
        let types = try volume.log.records().compactMap { $0["type"]?.string }
        #expect(types.last == "volume.unmounted", "\(types.count) records, the last are \(types.suffix(5))")
      }
    }
  }
}
