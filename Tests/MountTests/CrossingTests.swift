import Testing

extension RealMounts {
  /// Cases that lie between the other suites: ways of calling crossed with what is staged.
  @Suite struct Crossings {
    private static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir -p a/b/c; echo y > a/b/y; echo x > a/x; cp /bin/true program")
      try scratch.file("file", size: 50_000)
    }

    private static func listed(_ volume: Volume) async throws -> [String] {
      try await volume.directoryAttempts().compactMap { $0["path"]?.string }
    }

    @Test func aListedDirectoryIsNotListedAgain() async throws {
      try await withVolume(source: Self.tree) { volume in
        for _ in 0..<3 {
          let names = try await run(["ls", "-f", volume.path("a")]).lines
          #expect(names.sorted() == [".", "..", "b", "x"])
        }
        #expect(try await Self.listed(volume) == ["", "a"])
      }
    }

    @Test func creatingInADatalessDirectoryListsItAndFails() async throws {
      try await withVolume(source: Self.tree) { volume in
        let touched = try await run(["touch", volume.path("a/b/new")])
        #expect(touched.errorText.contains("Read-only file system"))
        #expect(try await Self.listed(volume) == ["", "a", "a/b"])
        #expect(try await volume.materializedFiles() == 0)
      }
    }

    @Test func cloningADatalessFileFailsAndMaterializesNothing() async throws {
      try await withVolume(source: Self.tree) { volume in
        let cloned = try await run(["cp", "--reflink=always", volume.path("file"), volume.scratch.root + "/clone"])
        #expect(!cloned.succeeded)
        #expect(try await volume.materializedFiles() == 0)
      }
    }

    @Test func entriesOfAnotherDeviceHaveNumbersOfTheirOwn() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir other; mount -t tmpfs none other; echo inside > other/file; echo 1 > here")
        var numbers: [String] = []
        for _ in 0..<2 {
          let volume = try await scratch.mount(["--cross-mounts"])
          numbers.append(try await run(["stat", "-c", "%i", volume.path("other/file")]).text)
          let here = try await run(["stat", "-c", "%i", volume.path("here")])
          let source = try await run(["stat", "-c", "%i", "\(scratch.source)/here"])
          #expect(here.text == source.text)
          #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        }
        let number = try #require(UInt64(numbers[0].dropLast()))
        #expect(number >> 63 == 1 && numbers[0] == numbers[1], "the same on the next mount")
      }
    }

    @Test func policyReachesEveryWayOfReading() async throws {
      let ways = [["read"], ["map", "private"], ["map", "shared"], ["sendfile"], ["splice"]]
      try await withVolume(source: Self.tree) { volume in
        _ = try await run(["ls", volume.mountpoint])
        try await volume.done("policy", volume.mountpoint, "off")
        let probe = try await Probe.shared.path()
        for way in ways {
          let answer = Answer(try #require(try await run([probe] + way + [volume.path("file")]).lines.first))
          #expect(answer.outcome == (way[0] == "map" ? "SIGBUS" : "EDEADLK"), "\(way)")
        }
        let refusedProgram = try await run(["sh", "-c", "\"$1\"", "-", volume.path("program")])
        #expect(refusedProgram.status == 126)
        #expect(try await volume.materializedFiles() == 0)
        let refused = try await volume.records(ofType: "materialization.refused")
        #expect(refused.count { $0["path"]?.string == "file" } == ways.count, "the kernel's repeats are no refusals")
        try await volume.done("policy", volume.mountpoint, "on")
        #expect(try await run(["sh", "-c", "\"$1\"", "-", volume.path("program")]).succeeded)
      }
    }

    @Test func anOfflineStoreFailsListingsAndLookupsToo() async throws {
      try await withVolume(source: Self.tree) { volume in
        _ = try await run(["ls", volume.mountpoint])
        try await volume.done("offline", volume.mountpoint)
        #expect(try await run(["ls", volume.path("a")]).errorText.contains("timed out"))
        #expect(try await run(["stat", volume.path("a/x")]).errorText.contains("timed out"))
        try await volume.done("online", volume.mountpoint)
        #expect(try await run(["ls", volume.path("a")]).succeeded)
      }
    }

    @Test(arguments: ["ls", "stat"])
    func aKilledListerOrLookerEndsAtOnce(command: String) async throws {
      try await withVolume(["--directory-latency", "1h"], source: Self.tree) { volume in
        let path = volume.path(command == "ls" ? "" : "absent")
        let trigger = command == "ls" ? "readdir" : "lookup"
        let killed = try Child([command, path])
        try await volume.log.waitForWaiters(1, trigger: trigger)
        killed.signal(9)
        let finished = await killed.wait()
        #expect(finished.signal == 9 && !finished.timedOut)
        let records = try await volume.log.wait("its end") { records in
          records.contains { $0["type"]?.string == "wait.finished" }
        }
        let ended = records.last { $0["type"]?.string == "wait.finished" }
        #expect(ended?["outcome"]?.string == "EINTR" && ended?["trigger"]?.string == trigger)
      }
    }

    @Test func commandsThroughABindMountOfAPartMeanThatPart() async throws {
      try await withVolume(
        source: { try await $0.shell("mkdir -p part view; echo outer > same; echo inner > part/same") }
      ) { volume in
        let view = volume.scratch.source + "/view"
        _ = try await run(["cat", volume.path("same"), volume.path("part/same")])
        try #require(try await run(["mount", "--bind", volume.path("part"), view]).succeeded)
        let evicted = try await run([Machine.dataless, "evict", view + "/same"])
        _ = try await run(["umount", view])
        #expect(evicted.succeeded, "\(evicted.errorText)")
        let states = try await volume.list()
        #expect(states["same"]?["state"]?.string == "resident")
        #expect(states["part/same"]?["state"]?.string == "dataless")
      }
    }

    @Test func aLogThatIsNoFileIsRefused() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkfifo ../pipe")
        for log in ["/dev/full", scratch.root + "/pipe"] {
          let mounted = try await run(
            [Machine.dataless, "mount", "--log", log, scratch.source, scratch.mountpoint], timeLimit: .seconds(20))
          #expect(mounted.status == 1 && mounted.errorText.contains("no regular file (EINVAL)"), "\(log)")
        }
      }
    }

    @Test func aCacheInTheSourceThatIsMadeByTheMountIsNotShown() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir d; echo 1 > d/file")
        let mounted = try await scratch.tryMount(cache: scratch.source + "/d/made")
        try #require(mounted.succeeded, "\(mounted.errorText)")
        #expect(try await run(["ls", "-A", scratch.mountpoint + "/d"]).text == "file\n")
      }
    }

    @Test func rulesKnowUserCgroupAndAncestor() async throws {
      let scenario = """
        rules:
          - {name: user, match: {path: u, process: {uid: 4711}}, fault: EPERM}
          - {name: group, match: {path: g, process: {cgroup: "**"}}, fault: ENOSPC}
          - {name: parent, match: {path: p, ancestor: {exe: find}}, fault: ESTALE}
        """
      try await withScenario(
        scenario, ["--allow-other"],
        source: { scratch in for name in ["u", "g", "p"] { try scratch.file(name, size: 100) } }
      ) { volume in
        let user = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups", "cat"]
        #expect(try await run(user + [volume.path("u")]).errorText.contains("Operation not permitted"))
        #expect(try await run(["cat", volume.path("u")]).succeeded)
        #expect(try await run(["cat", volume.path("g")]).errorText.contains("No space left"))
        let child = ["find", volume.path("p"), "-exec", "cat", "{}", ";"]
        #expect(try await run(child).errorText.contains("Stale file handle"))
        #expect(try await run(["cat", volume.path("p")]).succeeded)
        let rules = try await volume.records(ofType: "materialization.finished").compactMap { $0["rule"]?.string }
        #expect(rules == ["user", "group", "parent"])
      }
    }
  }
}
