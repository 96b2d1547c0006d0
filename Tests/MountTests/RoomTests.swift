import Testing

extension RealMounts {
  /// Pins, the limit on local content, and a disk that gets full.
  @Suite struct Rooms {
    /// Files that have content files of their own: 256 KiB each.
    private static let size = 256 << 10

    private static func files(_ scratch: Scratch) throws {
      for name in ["a", "b", "c", "d"] { try scratch.file(name, size: size) }
    }

    private func states(_ volume: Volume) async throws -> [String: String] {
      try await volume.list().compactMapValues { $0["kind"]?.string == "file" ? $0["state"]?.string : nil }
    }

    private func resident(_ volume: Volume) async throws -> [String] {
      try await states(volume).filter { $0.value == "resident" }.keys.sorted()
    }

    private func evictions(_ volume: Volume) async throws -> [String] {
      try await volume.records().filter { $0["type"]?.string == "eviction.finished" }.map {
        "\($0["path"]?.string ?? "?") \($0["by"]?.string ?? "?")"
      }
    }

    /// Reads files one after the other. close(2) returns before the volume hears of it, and a file counts as used at
    /// its close, too: on a busy machine the next would be used before it.
    private func use(_ names: [String], _ volume: Volume) async throws {
      for name in names {
        let hash = try await volume.sourceHash(name)
        #expect(try await volume.read(name).hash == hash)
        var asked = 0
        while asked < 500, try await volume.list()[name]?["open_handles"]?.int != 0 { asked += 1 }
        #expect(asked < 500, "\(name) is still open")
      }
    }

    @Test func aPinnedTreeIsFetchedAndKept() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir -p dir/deep")
        for name in ["dir/one", "dir/deep/two", "other"] { try scratch.file(name, size: 5000) }
      }) { volume in
        #expect(try await volume.dataless("pin", volume.path("dir")).text == "")
        try await volume.log.wait("both files") { records in
          records.count { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" } == 2
        }
        let attempts = try await volume.fileAttempts()
        #expect(attempts.map { $0["trigger"]?.string } == ["eager", "eager"])
        #expect(try await resident(volume) == ["dir/deep/two", "dir/one"])
        let refused = try await volume.dataless("evict", volume.mountpoint, "--json")
        #expect(refused.status == 1 && refused.text.contains(#""reason":"pinned""#) && refused.text.contains("EPERM"))
        let shown = try await run(
          ["getfattr", "--only-values", "-n", "user.com.apple.fileprovider.pinned#PX", volume.path("dir")])
        #expect(shown.text == "1")
        #expect(try await volume.list()["dir/deep/two"]?["policy"]?.string == "eager")
        try await volume.done("unpin", volume.path("dir"))
        try await volume.done("evict", volume.path("dir"))
        #expect(try await resident(volume) == [])
      }
    }

    @Test func theAttributePinsOnAWritableVolume() async throws {
      try await withVolume(["--scratch"], source: { try $0.file("file", size: 5000) }) { volume in
        let name = "user.com.apple.fileprovider.pinned#PX"
        #expect(try await run(["setfattr", "-n", name, "-v", "2", volume.path("file")]).status != 0)
        #expect(try await run(["setfattr", "-n", name, "-v", "1", volume.path("file")]).succeeded)
        try await volume.log.wait("the file") { records in
          records.contains { $0["type"]?.string == "materialization.finished" }
        }
        #expect(try await volume.dataless("evict", volume.path("file")).errorText.contains("EPERM"))
        #expect(try await run(["setfattr", "-x", name, volume.path("file")]).succeeded)
        try await volume.done("evict", volume.path("file"))
      }
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func theQuotaEvictsWhatWasUsedLeastRecently(options: [String]) async throws {
      try await withVolume(["--quota", "800k"] + options, source: Self.files) { volume in
        try await use(["a", "b", "c", "a", "d"], volume)
        let evicted = try await evictions(volume)
        #expect(evicted == ["b quota"])
        let kept = try await resident(volume)
        #expect(kept == ["a", "c", "d"])
        let room = try await volume.status()["room"]
        #expect(room?["quota_bytes"]?.int == 800 << 10)
        #expect(room?["used_bytes"]?.int ?? .max <= 800 << 10)
        try await volume.done("set", volume.mountpoint, "quota=300k")
        try await volume.log.wait("two more") { records in
          records.count { $0["type"]?.string == "eviction.finished" } == 3
        }
        #expect(try await resident(volume) == ["d"])
      }
    }

    @Test func whereNothingCanGoThereIsENOSPC() async throws {
      try await withVolume(["--quota", "600k", "--scratch"], source: Self.files) { volume in
        let holders = [
          try await volume.scratch.startProbe("hold", "read", volume.path("a")),
          try await volume.scratch.startProbe("hold", "read", volume.path("b")),
        ]
        for holder in holders { #expect(await holder.line()?.hasPrefix("outcome=ok") == true) }
        let read = try await run(["cat", volume.path("c")])
        #expect(read.status != 0 && read.errorText.contains("No space left"))
        let written = try await run(
          ["dd", "if=/dev/zero", "of=\(volume.path("new"))", "bs=64k", "count=16", "status=none"])
        #expect(written.status != 0 && written.errorText.contains("No space left"))
        for holder in holders {
          holder.closeInput()
          await holder.wait()
        }
        // What was written is there, and counts; the two that were open can go.
        #expect(try await run(["cat", volume.path("c")]).succeeded)
        let size = try await run(["stat", "-c", "%s", volume.path("new")]).text
        #expect((Int(size.dropLast()) ?? .max) <= 600 << 10)
      }
    }

    @Test func pressureEvictsAndNamesItself() async throws {
      try await withVolume(source: Self.files) { volume in
        for name in ["a", "b", "c"] { try await volume.read(name) }
        let holder = try await volume.scratch.startProbe("hold", "open", volume.path("a"))
        #expect(await holder.line() == "outcome=ok")
        let some = try await volume.json("pressure", "200k", volume.mountpoint)
        #expect(some["files"]?.int == 1 && some["bytes"]?.int == Self.size)
        #expect(try await resident(volume) == ["a", "c"])
        let negative = try await volume.dataless("pressure", "-1", volume.mountpoint)
        #expect(negative.status == 2 && negative.errorText.contains("malformed size '-1'"), "\(negative.errorText)")
        let rest = try await volume.dataless("pressure", "1GiB", volume.mountpoint)
        #expect(rest.status == 1 && rest.errorText.contains("ENOSPC"))
        #expect(try await resident(volume) == ["a"])
        #expect(try await evictions(volume) == ["b pressure", "c pressure"])
        holder.closeInput()
        await holder.wait()
      }
    }

    @Test func aPinOutlivesTheMountOfAKeptVolume() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir d; echo pinned > d/file")
        let options = ["--state", "\(scratch.root)/state"]
        var volume = try await scratch.mount(options)
        try await volume.done("pin", volume.path("d"))
        try await volume.log.wait("the file") { records in
          records.contains { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" }
        }
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        volume = try await scratch.mount(options)
        #expect(try await run(["ls", volume.path("d")]).text == "file\n")
        #expect(try await volume.dataless("evict", volume.path("d/file")).errorText.contains("EPERM"))
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
      }
    }

    @Test func whatWasUsedBeforeTheMountOfAKeptVolumeIsInOrder() async throws {
      try await withScratch { scratch in
        try Self.files(scratch)
        let options = ["--state", "\(scratch.root)/state"]
        var volume = try await scratch.mount(options)
        try await use(["c", "a", "b", "d", "c"], volume)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        volume = try await scratch.mount(options)
        #expect(try await run(["ls", volume.mountpoint]).succeeded)
        // Used later than all that was used before the mount.
        try await volume.read("a")
        try await volume.done("pressure", "1", volume.mountpoint)
        try await volume.done("pressure", "1", volume.mountpoint)
        #expect(try await evictions(volume) == ["b pressure", "d pressure"])
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        // The next run begins where this one was.
        volume = try await scratch.mount(options)
        #expect(try await run(["ls", volume.mountpoint]).succeeded)
        try await volume.done("pressure", "1", volume.mountpoint)
        #expect(try await evictions(volume).last == "c pressure")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
      }
    }

    /// Readers in parallel and a small quota: everybody gets his bytes, and the cache stays small.
    @Test func manyReadersShareASmallQuota() async throws {
      try await withVolume(
        ["--quota", "300k"],
        source: { scratch in
          for number in 0..<40 { try scratch.file("f\(number)", size: 5000 + number * 1000) }
        }
      ) { volume in
        let script =
          "cd \(volume.mountpoint) && ls | xargs -P 4 -n 1 sh -c 'cmp -s \"$0\" \"\(volume.scratch.source)/$0\"'"
        _ = try await volume.scratch.shell(script)
        #expect(try await volume.status()["room"]?["used_bytes"]?.int ?? .max <= 300 << 10)
        #expect(try await evictions(volume).allSatisfy { $0.hasSuffix(" quota") })
      }
    }
  }
}
