import Testing

extension RealMounts {
  /// How the reads of each open are served, as `status` and the log say it.
  @Suite struct ReadModes {
    @Test(arguments: [[], ["passthrough"], ["direct-mapping"]])
    func opensAreCountedByTheWayTheyAreRead(without features: [String]) async throws {
      let options = features.flatMap { ["--without", $0] }
      try await withVolume(
        options,
        source: { scratch in
          for (name, size) in [("small", 1000), ("large", 300_000), ("other", 300_000)] {
            try scratch.file(name, size: size)
          }
        }
      ) { volume in
        let dataless = features == ["direct-mapping"] ? "page_cache" : "direct"
        #expect(try await volume.dataless("materialize", volume.path("other")).succeeded)
        // Dataless, resident beside such a handle, dataless, resident alone.
        var holders: [Child] = []
        for name in ["large", "large", "small", "other"] {
          let holder = try await volume.scratch.startProbe("hold", "read", volume.path(name))
          #expect(await holder.line() == "outcome=ok", "\(name)")
          holders.append(holder)
        }
        let status = try await volume.status()
        let alone = try #require(status["fast_paths"]?["resident_reads"]?.string)
        #expect(alone == (Machine.isRoot && features != ["passthrough"] ? "passthrough" : "page_cache"))
        var expected = ["direct": 0, "page_cache": 0, "passthrough": 0]
        for mode in [dataless, "page_cache", dataless, alone] { expected[mode, default: 0] += 1 }
        func check(_ opens: JSON?, _ expected: [String: Int], _ place: String) {
          for (mode, count) in expected { #expect(opens?[mode]?.int == count, "\(place): \(mode)") }
        }
        check(status["opens"]?["now"], expected, "status, now")
        check(status["opens"]?["since_mount"], expected, "status, since the mount")
        let text = try await volume.dataless("status", volume.mountpoint).lines.first { $0.contains("opens ") }
        #expect(text?.contains("4 now (") == true && text?.contains("4 since the mount (") == true, "\(text ?? "")")
        #expect(try await volume.dataless("log", volume.mountpoint).succeeded)
        let counters = try volume.log.records(ofType: "volume.counters").last
        check(counters?["opens"]?["now"], expected, "volume.counters")
        for holder in holders {
          holder.closeInput()
          #expect(await holder.wait().succeeded)
        }
        let closed = try await volume.log.wait("two handles closed") { records in
          records.count { $0["type"]?.string == "handle.closed" } == 2
        }
        for record in closed where record["type"]?.string == "handle.closed" {
          #expect(record["io"]?.string == dataless)
        }
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let last = try volume.log.records().last
        #expect(last?["type"]?.string == "volume.unmounted")
        check(last?["opens"]?["since_mount"], expected, "volume.unmounted")
      }
    }

    /// All passthrough opens of a file name one backing: the kernel refuses another with EIO while one of them is left.
    @Test(.enabled(if: Machine.isRoot, "passthrough needs root"))
    func aBackingLivesAsLongAsOneOfItsOpens() async throws {
      try await withVolume(source: { try $0.file("large", size: 300_000) }) { volume in
        #expect(try await volume.dataless("materialize", volume.path("large")).succeeded)
        func hold() async throws -> Child {
          let holder = try await volume.scratch.startProbe("hold", "read", volume.path("large"))
          #expect(await holder.line() == "outcome=ok")
          return holder
        }
        func openNow() async throws -> Int? { try await volume.status()["opens"]?["now"]?["passthrough"]?.int }
        let (first, second) = (try await hold(), try await hold())
        try #require(try await openNow() == 2)
        first.closeInput()
        #expect(await first.wait().succeeded)
        // RELEASE comes after close(2) has returned.
        var left = 200
        while try await openNow() != 1, left > 0 { left -= 1 }
        let third = try await hold()
        #expect(try await openNow() == 2)
        for holder in [second, third] {
          holder.closeInput()
          #expect(await holder.wait().succeeded)
        }
      }
    }
  }
}
