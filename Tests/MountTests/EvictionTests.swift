import Testing

extension RealMounts {
  /// Dropping content again, and what forbids it.
  @Suite struct Eviction {
    @Test func evictDropsContentAndTheNextReadMaterializesAgain() async throws {
      try await withVolume(source: { scratch in
        try scratch.file("small", size: 5000)
        try scratch.file("large", size: 700_000)
      }) { volume in
        for name in ["small", "large"] {
          let hash = try await volume.sourceHash(name)
          for round in 1...3 {
            let read = try await volume.read(name)
            #expect(read.hash == hash, "\(name), round \(round)")
            let resident = try await run(["stat", "-c", "%b", volume.path(name)])
            #expect(resident.text != "0\n")
            let evicted = try await volume.json("evict", volume.path(name))
            #expect(evicted["files"]?.int == 1)
            let dataless = try await run(["stat", "-c", "%b", volume.path(name)])
            #expect(dataless.text == "0\n")
            #expect(try await volume.list()[name]?["state"]?.string == "dataless")
          }
          let attempts = try await volume.fileAttempts().filter { $0["path"]?.string == name }
          #expect(attempts.count == 3)
          #expect(attempts.compactMap { $0["file_attempt"]?.int } == [1, 2, 3])
        }
        let events = try await volume.records().filter { $0["type"]?.string == "eviction.finished" }
        #expect(events.count { $0["kind"]?.string == "file" } == 6)
        #expect(events.allSatisfy { $0["by"]?.string == "command" })
      }
    }

    @Test func mappedContentIsRefetchedAfterEviction() async throws {
      try await withVolume(source: { try $0.file("file", size: 300_000) }) { volume in
        let hash = try await volume.sourceHash("file")
        for _ in 0..<3 {
          let mapped = try await volume.probe("map", "shared", volume.path("file"))
          #expect(mapped.first?.hash == hash)
          let evicted = try await volume.dataless("evict", volume.path("file"))
          #expect(evicted.succeeded, "\(evicted.errorText)")
        }
        #expect(try await volume.fileAttempts().count == 3)
      }
    }

    @Test(arguments: ["open", "read"])
    func anOpenFileIsRefusedWithEBUSY(how: String) async throws {
      try await withVolume(source: { try $0.file("file", size: 5000) }) { volume in
        try await volume.read("file")
        let holder = try await volume.scratch.startProbe("hold", how, volume.path("file"))
        #expect(await holder.line() == "outcome=ok")
        let refused = try await volume.dataless("evict", volume.path("file"))
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("EBUSY"))
        #expect(refused.errorText.contains("file"))
        #expect(refused.errorLines.count == 1)
        let event = try await volume.records().last { $0["type"]?.string == "eviction.refused" }
        #expect(event?["errno"]?.string == "EBUSY")
        #expect(try await volume.list()["file"]?["state"]?.string == "resident")
        holder.closeInput()
        await holder.wait()
        let evicted = try await volume.dataless("evict", volume.path("file"))
        #expect(evicted.succeeded, "\(evicted.errorText)")
      }
    }

    @Test func aMappedFileIsRefusedWithEBUSYThoughItIsClosed() async throws {
      try await withVolume(source: { try $0.file("file", size: 300_000) }) { volume in
        try await volume.read("file")
        let holder = try await volume.scratch.startProbe("maphold", volume.path("file"))
        #expect(await holder.line() == "mapped")
        let refused = try await volume.dataless("evict", volume.path("file"))
        #expect(!refused.succeeded && refused.errorText.contains("EBUSY"), "\(refused.errorText)")
        holder.closeInput()
        let hash = try await volume.sourceHash("file")
        let end = await holder.wait()
        #expect(end.lines.last.flatMap { Answer($0).hash } == hash)
        #expect(try await volume.dataless("evict", volume.path("file")).succeeded)
      }
    }

    @Test func aCloseThatIsUnderWayIsWaitedFor() async throws {
      try await withVolume(source: { try $0.file("file", size: 5000) }) { volume in
        // close(2) returns before the volume hears of it: without a wait some of these would be refused.
        for round in 0..<40 {
          try await volume.read("file")
          let evicted = try await volume.dataless("evict", volume.path("file"))
          #expect(evicted.succeeded, "round \(round): \(evicted.errorText)")
        }
      }
    }

    @Test func aFileWithSeveralNamesIsRefusedWithEMLINK() async throws {
      try await withVolume(source: { scratch in
        try scratch.file("file", size: 5000)
        try await scratch.shell("ln file second")
      }) { volume in
        try await volume.read("file")
        let refused = try await volume.dataless("evict", volume.path("file"))
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("EMLINK"))
      }
    }

    @Test func aDirectoryEvictsItsChildrenAndBecomesDatalessItself() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        let all = try await run(["grep", "-r", "anything", volume.path("one")])
        #expect(!all.timedOut)
        #expect(try await volume.materializedFiles() == 30)
        let evicted = try await volume.json("evict", volume.path("one"))
        #expect(evicted["files"]?.int == 30)
        #expect(evicted["directories"]?.int == 3)
        let items = try await volume.list()
        #expect(items["one"]?["state"]?.string == "dataless")
        #expect(items["one/two"] == nil)
        let before = try await volume.directoryAttempts().count
        let found = try await run(["find", volume.path("one"), "-type", "f"])
        #expect(found.lines.count == 30)
        #expect(try await volume.directoryAttempts().count == before + 3)
        #expect(try await volume.fileAttempts().count == 30)
      }
    }

    @Test func anEvictedDirectoryShowsTheSourceAsItIsThen() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir d; echo old > d/file; echo old > d/removed")
      }) { volume in
        #expect(try await run(["cat", volume.path("d/file")]).text == "old\n")
        try await volume.scratch.shell("echo newer > d/file; echo added > d/added; rm d/removed")
        let evicted = try await volume.dataless("evict", volume.path("d"))
        #expect(evicted.succeeded, "\(evicted.errorText)")
        #expect(try await run(["ls", volume.path("d")]).lines == ["added", "file"])
        #expect(try await run(["cat", volume.path("d/file")]).text == "newer\n")
        #expect(try await run(["cat", volume.path("d/added")]).text == "added\n")
      }
    }

    @Test func oneRefusalDoesNotStopTheEvictionOfAVolume() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell(
          """
          mkdir -p one/deep two three; for i in 1 2 3 4; do echo $i > one/deep/$i; echo $i > two/$i; echo $i > three/$i; done
          ln one/deep/1 three/other
          """)
      }) { volume in
        let all = ["one/deep", "two", "three"].flatMap { directory in (1...4).map { volume.path("\(directory)/\($0)") }
        }
        _ = try await run(["cat"] + all)
        let holder = try await volume.scratch.startProbe("hold", "open", volume.path("two/3"))
        #expect(await holder.line() == "outcome=ok")
        let finished = try await volume.dataless("evict", volume.mountpoint, "--json")
        #expect(finished.status == 1)
        let result = try #require(try JSONLines(finished).answer)
        #expect(result["files"]?.int == 10)
        // Two names are one file; what keeps them, and the root, stays listed without being a refusal of its own.
        let failures = result["failures"]?.array ?? []
        #expect(Set(failures.compactMap { $0["errno"]?.string }) == ["EMLINK", "EBUSY"])
        #expect(failures.count == 2 && result["failure_count"]?.int == 2)
        #expect(result["refused"] == nil && result["interrupted"]?.bool == false)
        let items = try await volume.list()
        #expect(items["one"]?["state"]?.string == "listed" && items["one/deep"]?["state"]?.string == "listed")
        #expect(items["two"]?["state"]?.string == "listed" && items["three"]?["state"]?.string == "listed")
        #expect(items["two/1"]?["state"]?.string == "dataless" && items["two/3"]?["state"]?.string == "resident")
        let told = try await volume.dataless("evict", volume.mountpoint)
        #expect(told.status == 1 && told.errorText.contains("EMLINK") && told.errorText.contains("two/3: "))
        holder.closeInput()
        await holder.wait()
        #expect(try await volume.dataless("evict", volume.path("two")).succeeded)
        #expect(try await volume.list()["two"]?["state"]?.string == "dataless")
      }
    }

    @Test func twentyRefusalsAreNamedAndJSONHasAll() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir d; for i in $(seq 30); do echo $i > d/$i; ln d/$i d/link-$i; done; echo x > d/x")
      }) { volume in
        _ = try await volume.dataless("materialize", volume.mountpoint)
        let told = try await volume.dataless("evict", volume.mountpoint)
        #expect(told.status == 1)
        #expect(told.errorText.split(separator: "\n").count == 21)
        #expect(told.errorText.contains("10 more items; --json names them all"))
        let finished = try await volume.dataless("evict", volume.mountpoint, "--json")
        #expect(try JSONLines(finished).answer?["failures"]?.array.count == 30)
      }
    }

    @Test func withStopTheEvictionEndsAtTheFirstRefusalAndNamesIt() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir d; for i in 1 2 3 4 5 6; do echo $i > d/file-$i; done")
      }) { volume in
        _ = try await run(["cat"] + (1...6).map { volume.path("d/file-\($0)") })
        let holder = try await volume.scratch.startProbe("hold", "open", volume.path("d/file-4"))
        #expect(await holder.line() == "outcome=ok")
        let refused = try await volume.dataless("evict", "--stop", volume.path("d"))
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("d/file-4"))
        #expect(refused.errorText.contains("EBUSY"))
        let items = try await volume.list()
        #expect(items["d"]?["state"]?.string != "dataless")
        #expect(items["d/file-4"]?["state"]?.string == "resident")
        holder.closeInput()
        await holder.wait()
        #expect(try await volume.dataless("evict", volume.path("d")).succeeded)
      }
    }

    @Test func aWholeVolumeIsEvictedAndASecondCopyOfItReadsNothing() async throws {
      try await withVolume(source: { scratch in
        try await NoContent.someFiles(scratch)
        try await scratch.shell("rm hard")
      }) { volume in
        let target = volume.scratch.root + "/target"
        let copy = ["rsync", "-a", volume.mountpoint + "/", target]
        #expect(try await run(copy).succeeded)
        #expect(try await volume.materializedFiles() == 31)
        let evicted = try await volume.dataless("evict", volume.mountpoint)
        #expect(evicted.succeeded, "\(evicted.errorText)")
        #expect(try await volume.status()["items"]?["bytes_resident"]?.int == 0)
        #expect(try await run(copy).succeeded)
        #expect(try await volume.materializedFiles() == 31, "nothing more")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let fresh = try await volume.scratch.mount()
        #expect(try await run(copy).succeeded)
        #expect(try await fresh.materializedFiles() == 0)
      }
    }

    @Test func materializeBringsEverythingInAndCountsIt() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        let result = try await volume.json("materialize", volume.path("one"))
        #expect(result["files"]?.int == 30)
        #expect(result["failures"]?.array.isEmpty ?? true)
        let attempts = try await volume.fileAttempts()
        #expect(attempts.count == 30)
        #expect(attempts.allSatisfy { $0["trigger"]?.string == "command" })
        let looked = try await volume.dataless("ls", volume.path("plain"))
        #expect(looked.text.contains("dataless"))
        let more = try await volume.dataless("materialize", volume.path("plain"), volume.path("absent"))
        #expect(more.status == 1)
        #expect(more.errorText.contains("ENOENT"))
        #expect(more.errorText.contains("absent"))
        #expect(try await volume.list()["plain"]?["state"]?.string == "resident")
      }
    }
  }
}
