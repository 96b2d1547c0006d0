import Testing

extension RealMounts {
  /// What is asked for is what happens; the numbers are in the log beside each other.
  @Suite struct Latency {
    @Test func readerWaitsAsLongAsAskedAndTheLogSaysSo() async throws {
      try await withVolume(["--latency", "250ms"], source: { try $0.file("file", size: 1000) }) { volume in
        let answer = try await volume.read("file")
        #expect(answer.duration >= .milliseconds(250))
        #expect(try await volume.read("file").outcome == "ok")
        #expect(try await volume.fileAttempts().count == 1, "resident")
        let records = try await volume.records()
        let finished = try #require(
          records.last { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" })
        #expect(finished["requested_delay_ns"]?.int == 250_000_000)
        #expect(try #require(finished["delay_ns"]?.int) >= 250_000_000)
        #expect(try #require(finished["duration_ns"]?.int) >= 250_000_000)
        let waiter = try #require(finished["waiters"]?[0])
        #expect(try #require(waiter["blocked_ns"]?.int) >= 250_000_000)
        #expect(waiter["outcome"]?.string == "ok")
      }
    }

    @Test func concurrencyLimitsAttemptsAndTheRestQueue() async throws {
      // The gate makes them begin together.
      try await withScenario(
        "rules: [{name: start, match: {path: 'file-*'}, gate: start}]", ["--latency", "100ms", "--concurrency", "2"],
        source: { scratch in
          for index in 0..<6 { try scratch.file("file-\(index)", size: 1000) }
        }
      ) { volume in
        let paths = (0..<6).map { volume.path("file-\($0)") }
        let readers = try Child([try await Probe.shared.path(), "threads", "6"] + paths)
        try await volume.waitForCallers(6, at: "start")
        try await volume.done("gate", "release", volume.mountpoint, "start")
        #expect(await readers.wait().lines.count == 6)
        let records = try await volume.records().filter {
          $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file"
        }
        #expect(records.count == 6)
        // When each had its slot, not how long it queued: who leaves the gate a little later queues a little less.
        let slots = try records.map { record in
          func value(_ field: String) throws -> Int { try #require(record[field]?.int) }
          let end = try value("monotonic_ns")
          return try end - value("duration_ns") + value("held_ns") + value("queued_ns")..<end
        }
        let together = slots.map { slot in slots.count { $0.contains(slot.lowerBound) } }
        #expect(together.max() == 2, "\(slots)")
        let first = try #require(slots.map(\.lowerBound).min())
        #expect(try #require(slots.map(\.upperBound).max()) - first >= 300_000_000, "\(slots)")
        let queued = try records.map { try #require($0["queued_ns"]?.int) }.sorted()
        #expect(queued.prefix(2) == [0, 0] && queued[5] > 0, "\(queued)")
      }
    }

    @Test func bandwidthIsSharedByAllFetches() async throws {
      try await withVolume(
        ["--bandwidth", "2MB/s"],
        source: { scratch in
          for index in 0..<2 { try scratch.file("file-\(index)", size: 600_000) }
        }
      ) { volume in
        let paths = (0..<2).map { volume.path("file-\($0)") }
        let finished = try await run([try await Probe.shared.path(), "threads", "2"] + paths)
        #expect(finished.lines.allSatisfy { Answer($0).outcome == "ok" && Answer($0).bytes == 600_000 })
        // From the log: the second reader may begin late.
        let records = try await volume.records().filter { $0["kind"]?.string == "file" }
        let first = try #require(
          records.first { $0["type"]?.string == "materialization.started" }?["monotonic_ns"]?.int)
        let last = try #require(
          records.last { $0["type"]?.string == "materialization.finished" }?["monotonic_ns"]?.int)
        #expect(last - first >= 550_000_000, "1.2 MB at 2 MB/s")
      }
    }

    @Test func attributesAndDirectoriesHaveNoLatencyOfTheirOwn() async throws {
      try await withVolume(
        ["--latency", "20s"],
        source: { scratch in
          try await scratch.shell("mkdir -p d; echo 1 > d/file; setfattr -n user.note -v text d/file || true")
        }
      ) { volume in
        let looked = try await run(["ls", "-la", volume.path("d")], timeLimit: .seconds(10))
        #expect(looked.succeeded)
        let attributes = try await run(["getfattr", "-d", volume.path("d/file")], timeLimit: .seconds(10))
        #expect(attributes.succeeded)
      }
    }

    @Test func twoHundredProcessesWaitAtTheSameTime() async throws {
      try await withVolume(
        ["--latency", "1s"],
        source: { scratch in
          for index in 0..<200 { try scratch.file("file-\(index)", size: 4096) }
        }
      ) { volume in
        let paths = (0..<200).map { volume.path("file-\($0)") }
        let finished = try await run([try await Probe.shared.path(), "processes"] + paths, timeLimit: .seconds(60))
        #expect(finished.lines.count == 200)
        #expect(finished.lines.allSatisfy { Answer($0).outcome == "ok" })
        // One after the other would be 200 s; the measured number is the benchmark's business.
        #expect(finished.duration < .seconds(20))
        let status = try await volume.status()
        #expect(status["materialized"]?["files"]?.int == 200)
      }
    }

    @Test func statusNamesAttemptsInFlightAndWhoWaits() async throws {
      try await withVolume(["--latency", "60s"], source: { try $0.file("file", size: 1000) }) { volume in
        let reader = try Child(["cat", volume.path("file")])
        try await volume.log.waitForWaiters(1)
        let flight = try #require(try await volume.status()["in_flight"]?[0])
        #expect(flight["path"]?["path"]?.string == "file" || flight["path"]?.string == "file")
        #expect(flight["kind"]?.string == "file")
        let waiter = try #require(flight["waiters"]?[0])
        #expect(waiter["comm"]?.string == "cat")
        #expect(waiter["pid"]?.int == Int(reader.pid))
        #expect(waiter["main_thread"]?.bool == true)
        #expect(waiter["trigger"]?.string == "read")
        reader.signal(9)
        #expect(await reader.wait().signal == 9)
      }
    }
  }
}
