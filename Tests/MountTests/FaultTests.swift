import Testing

extension RealMounts {
  /// Planned failures: seen as often as asked for, by every way of reading, and named in the log.
  @Suite struct Faults {
    @Test func failOnceIsSeenExactlyOnceByEveryWayOfReading() async throws {
      let ways = [["read"], ["map", "private"], ["map", "shared"], ["sendfile"], ["splice"], ["mapwrite"]]
      try await withVolume(
        source: { scratch in for index in ways.indices { try scratch.file("file-\(index)", size: 50_000) } }
      ) { volume in
        try await volume.done(
          "fault", "add", volume.mountpoint, "EIO", "--path", "file-*", "--attempt", "{first: 1}", "--name", "once")
        let probe = try await Probe.shared.path()
        for (index, way) in ways.enumerated() {
          let path = volume.path("file-\(index)")
          let first = Answer(try #require(try await run([probe] + way + [path]).lines.first))
          #expect(first.outcome == (["map": "SIGBUS", "mapwrite": "EFAULT"][way[0]] ?? "EIO"), "\(way)")
          let second = Answer(try #require(try await run([probe] + way + [path]).lines.first))
          #expect(second.outcome == "ok", "\(way)")
          let hash = try await volume.sourceHash("file-\(index)")
          #expect(second.hash == hash, "\(way)")
          let ends = try await volume.records(ofType: "materialization.finished")
            .filter { $0["path"]?.string == "file-\(index)" }
          #expect(ends.compactMap { $0["outcome"]?.string } == ["EIO", "ok"], "\(way)")
          #expect(ends[0]["rule"]?.string == "once" && ends[1]["rule"] == nil)
        }
      }
    }

    /// At once, through one descriptor or mapping: the kernel's own repeats count as none, the caller's own tries as
    /// one each.
    @Test func everyTryOfTheCallerIsOneAttempt() async throws {
      let ways = ["touch", "write", "pipe", "path", "sendfile", "splice"]
      let sizes = [3000, 50_000]
      try await withVolume(
        source: { scratch in
          for way in ways { for size in sizes { try scratch.file("\(way)-\(size)", size: size) } }
        }
      ) { volume in
        try await volume.done(
          "fault", "add", volume.mountpoint, "EIO", "--path", "*-*", "--attempt", "{first: 3}", "--name", "thrice")
        let probe = try await Probe.shared.path()
        for way in ways {
          let failure = ["touch": "SIGBUS", "sendfile": "EIO", "splice": "EIO"][way] ?? "EFAULT"
          for size in sizes {
            let name = "\(way)-\(size)"
            let line = try #require(try await run([probe, "again", way, volume.path(name), "4"]).lines.first)
            #expect(line == "outcomes=\(failure),\(failure),\(failure),ok", "\(name)")
            let ends = try await volume.records(ofType: "materialization.finished")
              .filter { $0["path"]?.string == name }
            #expect(ends.compactMap { $0["outcome"]?.string } == ["EIO", "EIO", "EIO", "ok"], "\(name)")
          }
        }
      }
    }

    @Test func faultsAreAddedListedAndRemoved() async throws {
      try await withVolume(source: { try $0.file("file", size: 1000) }) { volume in
        let mountpoint = volume.mountpoint
        // Listed before: the fault is for directories, too.
        _ = try await run(["stat", volume.path("file")])
        let name = try await volume.done("fault", "add", mountpoint, "ESTALE", "--after", "50%").text
        #expect(name == "rule-1\n")
        #expect(try await volume.read("file").outcome == "ESTALE")
        let failed = try await volume.records(ofType: "materialization.finished").last
        #expect(failed?["bytes"]?.int == 0, "half of it had come, and was thrown away")
        #expect(try await volume.done("fault", "list", mountpoint).text.hasPrefix("rule-1: {\"errno\":\"ESTALE\""))
        try await volume.done("fault", "remove", mountpoint, "rule-1")
        #expect(try await volume.read("file").outcome == "ok")
        let gone = try await volume.dataless("fault", "remove", mountpoint, "rule-1")
        let words = "there is no rule named 'rule-1'. The scenario has no rules."
        #expect(
          gone.status == 2
            && gone.errorText == "dataless: cannot remove a rule of \(mountpoint): \(words)\n", "\(gone.errorText)")
        let wrong = try await volume.dataless("fault", "add", mountpoint, "EIOO")
        #expect(wrong.status == 2 && wrong.errorText.contains("Did you mean 'EIO'?"))
        let changes = try await volume.records(ofType: "configuration.changed")
        #expect(changes.compactMap { $0["what"]?.string } == ["rules", "rules"])
        #expect(changes[0]["after"]?["fault"]?["errno"]?.string == "ESTALE" && changes[0]["before"] == nil)
        #expect(changes[1]["before"]?["name"]?.string == "rule-1" && changes[1]["after"] == nil)
      }
    }

    @Test func anOfflineStoreTimesOutAtOnceAndComesBack() async throws {
      try await withVolume(
        ["--latency", "1h"], source: { scratch in for name in ["a", "b"] { try scratch.file(name, size: 1000) } }
      ) { volume in
        try await volume.done("set", volume.mountpoint, "latency=0")
        #expect(try await volume.read("a").outcome == "ok")
        try await volume.done("set", volume.mountpoint, "latency=1h")
        try await volume.done("offline", volume.mountpoint)
        let failed = try await volume.read("b")
        #expect(failed.outcome == "ETIMEDOUT" && failed.duration < .seconds(20))
        #expect(try await volume.read("a").outcome == "ok", "what is resident needs no store")
        #expect(try await volume.status()["offline"]?.bool == true)
        #expect(try await volume.done("status", volume.mountpoint).text.contains("OFFLINE"))
        try await volume.done("set", volume.mountpoint, "latency=0")
        try await volume.done("online", volume.mountpoint)
        #expect(try await volume.read("b").outcome == "ok")
        let ends = try await volume.records(ofType: "materialization.finished").filter { $0["path"]?.string == "b" }
        #expect(ends.map { $0["rule"]?.string } == ["offline", nil])
      }
    }

    @Test func anAttemptIsGivenUpAfterItsTime() async throws {
      try await withVolume(
        ["--latency", "1h", "--give-up-after", "300ms"], source: { try $0.file("file", size: 1000) }
      ) { volume in
        let answer = try await volume.read("file")
        #expect(answer.outcome == "ETIMEDOUT")
        #expect(answer.duration >= .milliseconds(300) && answer.duration < .seconds(10))
        let end = try #require(
          try await volume.records(ofType: "materialization.finished").last { $0["kind"]?.string == "file" })
        #expect(end["rule"]?.string == "give_up_after" && end["outcome"]?.string == "ETIMEDOUT")
      }
    }
  }
}
