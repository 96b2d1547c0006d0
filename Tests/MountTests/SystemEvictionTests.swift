import Testing

extension RealMounts {
  /// Rules by which the system makes files dataless by itself.
  @Suite struct SystemEvictions {
    private func evictions(_ volume: Volume, _ count: Int) async throws -> [JSON] {
      let records = try await volume.log.wait("\(count) evictions") { records in
        records.count { $0["type"]?.string == "eviction.finished" } >= count
      }
      return records.filter { $0["type"]?.string == "eviction.finished" }
    }

    private func state(_ volume: Volume, _ name: String) async throws -> String? {
      try await volume.list()[name]?["state"]?.string
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func anIdleFileBecomesDatalessByItself(options: [String]) async throws {
      let scenario = "rules: [{name: tidy, match: {path: large}, evict: {idle: 300ms}}]"
      try await withScenario(
        scenario, options,
        source: { scratch in
          try scratch.file("large", size: 300_000)
          try scratch.file("other", size: 300_000)
        }
      ) { volume in
        for name in ["large", "other"] { try await volume.read(name) }
        let evicted = try await evictions(volume, 1)
        #expect(evicted.map { $0["by"]?.string } == ["rule:tidy"])
        #expect(evicted.map { $0["path"]?.string } == ["large"])
        #expect(try await run(["stat", "-c", "%b", volume.path("large")]).text == "0\n")
        #expect(try await state(volume, "other") == "resident")
        let hash = try await volume.sourceHash("large")
        #expect(try await volume.read("large").hash == hash)
        let attempts = try await volume.fileAttempts().filter { $0["path"]?.string == "large" }
        #expect(attempts.compactMap { $0["file_attempt"]?.int } == [1, 2])
      }
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func anOpenFileIsEvictedWhenItIsClosed(options: [String]) async throws {
      let scenario = "rules: [{name: soon, match: {path: file}, evict: {after_materialization: 200ms}}]"
      try await withScenario(
        scenario, options,
        source: { scratch in
          try scratch.file("file", size: 300_000)
          try scratch.file("witness", size: 1000)
        }
      ) { volume in
        let holder = try await volume.scratch.startProbe("hold", "read", volume.path("file"))
        #expect(await holder.line() == "outcome=ok")
        // The witness is materialized later and evicted at its time: the other one's has come and gone by then.
        try await volume.done(
          "scenario", "apply", volume.mountpoint,
          try volume.scratch.scenario(
            "rules: [{name: soon, evict: {after_materialization: 200ms}}]", name: "second.yaml"))
        try await volume.read("witness")
        #expect(try await evictions(volume, 1).map { $0["path"]?.string } == ["witness"])
        #expect(try await state(volume, "file") == "resident")
        holder.closeInput()
        await holder.wait()
        let evicted = try await evictions(volume, 2)
        #expect(evicted.last?["path"]?.string == "file" && evicted.last?["by"]?.string == "rule:soon")
      }
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func aMappedFileIsLeftAloneAsLongAsItIsMapped(options: [String]) async throws {
      try await withVolume(options, source: { try $0.file("file", size: 300_000) }) { volume in
        let hash = try await volume.sourceHash("file")
        _ = try await run([Machine.dataless, "materialize", volume.path("file")])
        let holder = try await volume.scratch.startProbe("maphold", volume.path("file"))
        #expect(await holder.line() == "mapped")
        // Not before: until it is mapped it would be idle.
        let rule = try volume.scratch.scenario(
          "rules: [{name: soon, match: {path: file}, evict: {idle: 100ms}}]", name: "idle.yaml")
        try await volume.done("scenario", "apply", volume.mountpoint, rule)
        if options.isEmpty {
          try await volume.log.wait("a refusal") { records in
            records.contains { $0["type"]?.string == "eviction.refused" && $0["by"]?.string == "rule:soon" }
          }
        }
        holder.closeInput()
        #expect(await holder.wait().lines.last.flatMap { Answer($0).hash } == hash)
        #expect(try await evictions(volume, 1).first?["by"]?.string == "rule:soon")
      }
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func statSaysResidentAndTheFirstReadWaits(options: [String]) async throws {
      try await withScenario(
        "latency: 50ms\nrules: [{name: trap, match: {path: file}, evict: {before_first_read: on}}]", options,
        source: { try $0.file("file", size: 300_000) }
      ) { volume in
        let hash = try await volume.sourceHash("file")
        for round in 1...3 {
          try await volume.done("materialize", volume.path("file"))
          #expect(try await run(["stat", "-c", "%b", volume.path("file")]).text != "0\n", "round \(round)")
          let read = try await volume.read("file")
          #expect(read.hash == hash)
          #expect(read.duration >= .milliseconds(50), "round \(round): the first read waits")
        }
        // Only where no other handle is open.
        let holder = try await volume.scratch.startProbe("hold", "read", volume.path("file"))
        #expect(await holder.line() == "outcome=ok")
        let before = try await volume.fileAttempts().count
        #expect(try await volume.read("file").hash == hash)
        #expect(try await volume.fileAttempts().count == before)
        holder.closeInput()
        await holder.wait()
        let events = try await volume.records(ofType: "eviction.finished")
        #expect(events.count >= 3 && events.allSatisfy { $0["by"]?.string == "rule:trap" })
      }
    }

    @Test func rulesOfALiveVolumeHoldForWhatIsResidentAlready() async throws {
      try await withVolume(source: { scratch in
        for name in 1...300 { try scratch.file("f\(name)", size: 5000) }
        try scratch.file("kept", size: 5000)
      }) { volume in
        try await volume.done("materialize", volume.mountpoint)
        let file = try volume.scratch.scenario("rules: [{name: r, match: {path: 'f*'}, evict: {idle: 0}}]")
        try await volume.done("scenario", "apply", volume.mountpoint, file)
        #expect(try await evictions(volume, 300).count == 300)
        let explained = try await volume.json("explain", volume.path("f1"))
        let parts = explained["parts"]?.array ?? []
        #expect(parts.last?["part"]?.string == "evict" && parts.last?["rule"]?.string == "r")
        try await volume.done("scenario", "apply", volume.mountpoint, try volume.scratch.scenario("{}"))
        try await volume.read("f1")
        #expect(try await state(volume, "f1") == "resident")
        #expect(try await state(volume, "kept") == "resident")
      }
    }

    /// Files whose bytes are all the same, read and mapped by several processes while the system evicts them in every
    /// way.
    @Test(arguments: [[], ["--without", "passthrough"], ["--without", "direct-mapping"]])
    func noReaderSeesAWrongByteWhileTheSystemEvicts(options: [String]) async throws {
      let rules = """
        rules:
          - {name: open, match: {path: [f1, f2]}, evict: {before_first_read: on, idle: 1ms}}
          - {name: idle, match: {path: f3}, evict: {idle: 0}}
          - {name: age, evict: {after_materialization: 2ms}}
        """
      let names = (1...4).map { "f\($0)" }
      try await withScenario(
        rules, options,
        source: { scratch in
          for (index, name) in names.enumerated() {
            try scratch.file(name, content: [UInt8](repeating: UInt8(index + 1), count: 100_000 * (index + 1)))
          }
        }
      ) { volume in
        let readers = try await (0..<4).asyncMap { _ in
          try Child(
            [try await Probe.shared.path(), "uniform", "\(Machine.raceSeconds)"] + names.map { volume.path($0) },
            timeLimit: .seconds(Machine.raceSeconds + 30))
        }
        for reader in readers {
          let finished = await reader.wait()
          #expect(finished.succeeded, "\(finished.shellStatus) \(finished.errorText)")
          for line in finished.lines where line.hasPrefix("failure") { Issue.record("\(options): \(line)") }
          let answer = Answer(finished.lines.last ?? "")
          #expect(answer.int("handles") ?? 0 > 0 && answer.int("refused") == 0, "\(answer)")
        }
        let evicted = try await volume.records(ofType: "eviction.finished")
        let rules = Set(evicted.compactMap { $0["by"]?.string })
        #expect(rules == ["rule:open", "rule:idle", "rule:age"])
        print("system eviction race \(options): \(evicted.count) evictions")
      }
    }

    /// The system evicts what a tool asks for again and again: each round is an attempt of the same file.
    @Test func anOscillationCanBeCountedInTheLog() async throws {
      try await withScenario(
        "rules: [{name: pressure, evict: {after_materialization: 1ms}}]", source: { try $0.file("file", size: 9000) }
      ) { volume in
        for round in 1...5 {
          try await volume.read("file")
          _ = try await evictions(volume, round)
        }
        let attempts = try await volume.fileAttempts()
        #expect(attempts.compactMap { $0["file_attempt"]?.int } == [1, 2, 3, 4, 5])
        #expect(try await evictions(volume, 5).allSatisfy { $0["by"]?.string == "rule:pressure" })
      }
    }
  }
}
