import Testing

extension RealMounts {
  /// A source that changes, and `dataless refresh`: what is seen by name, and what those see who have the file open or
  /// mapped.
  @Suite struct Refreshes {
    struct Change: Sendable, CustomTestStringConvertible {
      let name: String
      let script: String
      /// What a refresh of the volume counts.
      let counts: [String: Int]
      /// Where the file is afterwards.
      var path: String? = "d/file"
      var testDescription: String { name }
    }

    static let changes = [
      Change(name: "grown", script: "printf more >> d/file", counts: ["changed": 1]),
      Change(name: "shrunk", script: "truncate -s 1000 d/file", counts: ["changed": 1]),
      Change(name: "replaced", script: "cp other d/new; mv d/new d/file", counts: ["changed": 1]),
      Change(name: "replaced by a known file", script: "mv other d/file", counts: ["renamed": 1]),
      Change(
        name: "rewritten at the same size", script: "printf XXXX | dd of=d/file conv=notrunc status=none",
        counts: ["changed": 1]),
      Change(name: "removed", script: "rm d/file", counts: ["gone": 1], path: nil),
      // ext4 gives its inode number to the next file at once.
      Change(
        name: "removed, and its inode number given to a file of the same size and mtime",
        script: "touch -r d/file ref; rm d/file; head -c 600000 /dev/urandom > d/next; touch -r ref d/next; rm ref",
        counts: ["added": 1, "gone": 1], path: "d/next"),
    ]
    static let renamed = Change(
      name: "renamed", script: "mv d/file e/renamed", counts: ["renamed": 1], path: "e/renamed")

    struct Case: Sendable, CustomTestStringConvertible {
      let change: Change
      let options: [String]
      var testDescription: String { ([change.name] + options).joined(separator: " ") }
    }

    /// Every change, with the kernel reading content by itself, and through the page cache.
    static func cases(_ changes: [Change]) -> [Case] {
      changes.flatMap { change in
        [[], ["--without", "passthrough"]].map { Case(change: change, options: $0) }
      }
    }

    private func prepare(_ scratch: Scratch) async throws {
      scratch.directory("d")
      scratch.directory("e")
      try scratch.file("d/file", size: 600_000)
      try scratch.file("other", size: 450_000)
    }

    /// A volume whose directories are listed.
    private func withListed(
      _ options: [String] = [], _ body: (Volume, _ oldHash: String?) async throws -> Void
    ) async throws {
      try await withVolume(options, source: prepare) { volume in
        _ = try await run(["ls", "-lR", volume.mountpoint])
        try await body(volume, try await volume.sourceHash("d/file"))
      }
    }

    private func refresh(_ volume: Volume, _ change: Change) async throws {
      try await volume.scratch.shell(change.script)
      let result = try await volume.json("refresh", volume.mountpoint)
      for word in ["added", "changed", "gone", "renamed", "kept", "failure_count"] {
        #expect(result[word]?.int == change.counts[word] ?? 0, "\(change.name): \(word)")
      }
    }

    /// By name the volume shows and gives what SOURCE has.
    private func checkNames(_ volume: Volume, _ change: Change) async throws {
      if change.path != "d/file" {
        #expect(try await run(["stat", volume.path("d/file")]).errorText.contains("No such file"))
      }
      guard let path = change.path else { return }
      let format = ["stat", "-c", "%s %Y %Z %i %h"]
      let shown = try await run(format + [volume.path(path)])
      let real = try await run(format + ["\(volume.scratch.source)/\(path)"])
      #expect(shown.text == real.text)
      let hash = try await volume.sourceHash(path)
      for _ in 0..<2 { #expect(try await volume.read(path).hash == hash) }
      #expect(try await volume.probe("map", "shared", volume.path(path)).first?.hash == hash)
    }

    @Test(arguments: changes + [renamed])
    func aDatalessFileShowsWhatTheSourceHasWithoutAFetch(change: Change) async throws {
      try await withListed { volume, _ in
        try await refresh(volume, change)
        if let path = change.path {
          let size = try await run(["stat", "-c", "%s %b", volume.path(path)])
          let real = try await run(["stat", "-c", "%s", "\(volume.scratch.source)/\(path)"])
          #expect(size.text == real.text.dropLast() + " 0\n")
        }
        let listed = try await run(["ls", volume.path("d"), volume.path("e")])
        let real = try await run(["ls", volume.path("d"), volume.path("e")])
        #expect(listed.text == real.text)
        #expect(try await volume.fileAttempts().isEmpty)
        try await checkNames(volume, change)
      }
    }

    @Test(arguments: changes + [renamed])
    func anOpenDatalessHandleGetsESTALE(change: Change) async throws {
      try await withListed { volume, hash in
        let opened = try await volume.scratch.startProbe("version", "open", volume.path("d/file"))
        let mapped = try await volume.scratch.startProbe("version", "map", volume.path("d/file"))
        #expect(await opened.line() == "ready")
        #expect(await mapped.line() == "ready")
        try await refresh(volume, change)
        for holder in [opened, mapped] { holder.closeInput() }
        let (read, touched) = (
          Answer(await opened.wait().lines.last ?? ""), Answer(await mapped.wait().lines.last ?? "")
        )
        if change.name == "renamed" {
          #expect(read.hash == hash && touched.hash == hash, "the same version: \(read) \(touched)")
        } else {
          #expect(read.outcome == "ESTALE" && read.bytes == 0, "\(read)")
          #expect(touched.outcome == "SIGBUS", "\(touched)")
        }
        try await checkNames(volume, change)
      }
    }

    @Test(arguments: changes + [renamed])
    func aFetchUnderWayEndsWithESTALEAndTheNameIsTheNewVersion(change: Change) async throws {
      try await withListed(["--bandwidth", "100kB/s"]) { volume, _ in
        let reader = try await volume.scratch.startProbe("read", volume.path("d/file"))
        try await volume.log.waitForWaiters(1)
        // The fetch would take seconds; it is under way now.
        try await refresh(volume, change)
        try await volume.done("set", volume.mountpoint, "bandwidth=none")
        let answer = Answer(try #require(await reader.wait().lines.first))
        #expect(answer.bytes == 0 && answer.outcome == "ESTALE", "\(answer)")
        try await checkNames(volume, change)
      }
    }

    @Test(arguments: cases(changes))
    func whoHasAResidentFileOpenOrMappedKeepsItsVersion(given: Case) async throws {
      try await withListed(given.options) { volume, hash in
        try await volume.read("d/file")
        let opened = try await volume.scratch.startProbe("version", "read", volume.path("d/file"))
        let mapped = try await volume.scratch.startProbe("version", "map", volume.path("d/file"))
        #expect(Answer(await opened.line() ?? "").hash == hash)
        #expect(await opened.line() == "ready")
        #expect(await mapped.line() == "ready")
        try await refresh(volume, given.change)
        try await checkNames(volume, given.change)
        for holder in [opened, mapped] { holder.closeInput() }
        let old = Answer(await opened.wait().lines.last ?? "")
        #expect(old.hash == hash && old.int("size") == 600_000 && old.outcome == "ok", "\(old)")
        #expect(Answer(await mapped.wait().lines.last ?? "").hash == hash)
        try await checkFreed(volume, keeping: given.change.path)
      }
    }

    /// Only what the names lead to is left in the cache, once the others are closed.
    private func checkFreed(_ volume: Volume, keeping path: String?) async throws {
      let records = try await volume.log.wait("the old version is freed") { records in
        records.contains { $0["type"]?.string == "eviction.finished" }
      }
      let freed = records.filter { $0["type"]?.string == "eviction.finished" }
      #expect(freed.map { $0["by"]?.string } == ["source"])
      #expect(freed.first?["bytes"]?.int == 600_000)
      let status = try await volume.status()
      #expect(status["items"]?["files_resident"]?.int == (path == nil ? 0 : 1))
      guard status["fast_paths"]?["resident_reads"]?.string == "passthrough" else { return }
      #expect(status["opens"]?["since_mount"]?["passthrough"]?.int ?? 0 > 0)
    }

    /// What is made in a directory inherits the ACL that SOURCE has for it now.
    @Test func aDefaultACLOfSourceIsInherited() async throws {
      try await withVolume(["--scratch"], source: { scratch in try await scratch.shell("mkdir -p d e; touch d/x") }) {
        volume in
        let seen = try await volume.scratch.shell(
          #"""
          ls -R "$MOUNT" > /dev/null; umask 0
          setfacl -d -m u::rwx,g::---,o::--- d; "$DATALESS" refresh "$MOUNT" > /dev/null
          touch "$MOUNT/d/new"; stat -c %a "$MOUNT/d/new"
          setfacl -k d; "$DATALESS" refresh "$MOUNT" > /dev/null
          touch "$MOUNT/d/newer"; stat -c %a "$MOUNT/d/newer"
          """#)
        #expect(seen == "600\n666\n")
      }
    }

    @Test func aRenamedFileStaysResident() async throws {
      try await withListed { volume, hash in
        try await volume.read("d/file")
        try await refresh(volume, Self.renamed)
        #expect(try await volume.list()["e/renamed"]?["state"]?.string == "resident")
        try await checkNames(volume, Self.renamed)
        #expect(try await volume.fileAttempts().count == 1)
        let change = try await volume.records(ofType: "source.changed").first
        #expect(change?["change"]?.string == "renamed")
        #expect(change?["old_path"]?.string == "d/file")
        #expect(change?["path"]?.string == "e/renamed")
        #expect(try await volume.records(ofType: "refresh.finished").first?["by"]?.string == "command")
      }
    }

    @Test func hardLinksChangeTogetherAndAreRenamedOneByOne() async throws {
      try await withVolume(source: { scratch in
        try scratch.file("one", size: 200_000)
        try await scratch.shell("mkdir d; ln one d/two")
      }) { volume in
        try await volume.read("d/two")
        try await volume.scratch.shell("mv d/two d/three")
        let renamed = try await volume.json("refresh", volume.mountpoint)
        #expect(renamed["renamed"]?.int == 1)
        #expect(try await volume.list()["d/three"]?["state"]?.string == "resident")
        try await volume.scratch.shell("echo changed >> one")
        #expect(try await volume.json("refresh", volume.mountpoint)["changed"]?.int == 2)
        let hash = try await volume.sourceHash("one")
        for name in ["one", "d/three"] { #expect(try await volume.read(name).hash == hash) }
        let inodes = try await run(["stat", "-c", "%i %h", volume.path("one"), volume.path("d/three")])
        #expect(Set(inodes.lines).count == 1)
        #expect(try await volume.fileAttempts().count == 2, "one file, twice")
      }
    }

    @Test(arguments: [[], ["--without", "name-epoch"]])
    func aNameThatCameIsThereAndOneThatWentIsNot(options: [String]) async throws {
      try await withListed(options) { volume, _ in
        let before = try await run(["bash", "-c", "cd \"$0\"; test ! -e new; cat d/absent; ls", volume.path("d")])
        #expect(before.text == "file\n")
        try await volume.scratch.shell("echo text > d/new; rm d/file; mkdir e/sub; echo in > e/sub/x")
        let result = try await volume.json("refresh", volume.mountpoint)
        #expect(result["added"]?.int == 2 && result["gone"]?.int == 1)
        let after = try await run(
          ["bash", "-c", "cd \"$0\"; test ! -e d/file && cat d/new && ls d e && cat e/sub/x", volume.mountpoint])
        #expect(after.lines == ["text", "d:", "new", "", "e:", "sub", "in"].filter { !$0.isEmpty }, "\(after.text)")
      }
    }

    @Test func aFileThatBecomesADirectoryAndBack() async throws {
      try await withListed { volume, _ in
        try await volume.read("d/file")
        try await volume.scratch.shell("rm d/file; mkdir d/file; echo inside > d/file/x")
        #expect(try await volume.json("refresh", volume.path("d/file"))["changed"]?.int == 1)
        #expect(try await run(["cat", volume.path("d/file/x")]).text == "inside\n")
        try await volume.scratch.shell("rm -r d/file; echo flat > d/file")
        #expect(try await volume.json("refresh", volume.path("d"))["changed"]?.int == 1)
        #expect(try await run(["cat", volume.path("d/file")]).text == "flat\n")
      }
    }

    @Test func aVanishedDirectoryTakesItsResidentFilesWithIt() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell(
          "mkdir -p d/e; for i in 1 2 3; do head -c 200000 /dev/urandom > d/e/$i; done; echo x > y")
      }) { volume in
        _ = try await run(["bash", "-c", "cat \"$0\"/d/e/* \"$0\"/y | wc -c", volume.mountpoint])
        let hash = try await volume.sourceHash("d/e/2")
        let opened = try await volume.scratch.startProbe("version", "read", volume.path("d/e/2"))
        _ = await opened.line { $0 == "ready" }
        let inside = try Child([
          "bash", "-c", "cd \"$0\"; echo in; read; ls; test -e 1 && echo still", volume.path("d/e"),
        ])
        #expect(await inside.line() == "in")
        try await volume.scratch.shell("rm -r d")
        #expect(try await volume.json("refresh", volume.mountpoint)["gone"]?.int == 1)
        #expect(try await run(["ls", volume.mountpoint]).lines == ["y"])
        inside.closeInput()
        #expect(await inside.wait().text == "in\n")
        opened.closeInput()
        #expect(Answer(await opened.wait().lines.last ?? "").hash == hash)
        try await volume.log.wait("all is freed") { records in
          records.count { $0["type"]?.string == "eviction.finished" } == 3
        }
        #expect(try await volume.status()["items"]?["files"]?.int == 1)
      }
    }

    @Test func aDatalessDirectoryIsNotListed() async throws {
      try await withVolume(source: prepare) { volume in
        let nothing = try await volume.json("refresh", volume.mountpoint)
        #expect(nothing["directories"]?.int == 0)
        _ = try await run(["ls", volume.mountpoint])
        try await volume.scratch.shell("rm d/file")
        #expect(try await volume.json("refresh", volume.mountpoint)["directories"]?.int == 1)
        #expect(try await volume.list()["d"]?["state"]?.string == "dataless")
        #expect(try await volume.directoryAttempts().count == 1)
      }
    }

    @Test func theRootShowsItsNewMode() async throws {
      try await withListed { volume, _ in
        try await volume.scratch.shell("chmod 700 .")
        #expect(try await volume.json("refresh", volume.mountpoint)["changed"]?.int == 1)
        #expect(try await run(["stat", "-c", "%a", volume.mountpoint]).text == "700\n")
        try await volume.scratch.shell("chmod 755 .")
      }
    }

    @Test func aPollRefreshesByItself() async throws {
      try await withListed { volume, _ in
        try await volume.done("set", volume.mountpoint, "poll=100ms")
        try await volume.scratch.shell("printf more >> d/file")
        try await volume.log.wait("the poll's record") { records in
          records.contains { $0["type"]?.string == "refresh.finished" && $0["by"]?.string == "poll" }
        }
        #expect(try await run(["stat", "-c", "%s", volume.path("d/file")]).text == "600004\n")
        try await volume.done("set", volume.mountpoint, "poll=none")
        let change = try await volume.records(ofType: "source.changed").first
        #expect(change?["by"]?.string == "poll")
        #expect(change?["old"]?["size"]?.int == 600_000 && change?["new"]?["size"]?.int == 600_004)
      }
    }

    @Test func whatCannotBeRefreshedIsNamed() async throws {
      try await withListed { volume, _ in
        let nowhere = try await volume.dataless("refresh", volume.path("d/nowhere"))
        #expect(nowhere.status == 1 && nowhere.errorText.contains("ENOENT"), "\(nowhere.errorText)")
        try await volume.done("offline", volume.mountpoint)
        let offline = try await volume.dataless("refresh", volume.mountpoint)
        #expect(offline.status == 1 && offline.errorText.contains("ETIMEDOUT"), "\(offline.errorText)")
        #expect(try await volume.dataless("refresh", volume.scratch.source).status == 3)
      }
    }

    /// Files whose bytes are all their version's, written anew in place and by rename while they are read, mapped and
    /// refreshed.
    @Test(arguments: [[], ["--without", "passthrough"], ["--without", "direct-mapping", "--without", "name-epoch"]])
    func noReaderSeesTwoVersionsWhileTheSourceChangesAllTheTime(options: [String]) async throws {
      let names = (1...4).map { "f\($0)" }
      try await withVolume(
        options,
        source: { scratch in
          for name in names { try scratch.file(name, content: [UInt8](repeating: 1, count: 200_000)) }
        }
      ) { volume in
        let writer = try Child(
          [
            "python3", "-c",
            """
            import os, random, sys
            source, version = sys.argv[1], 1
            while True:
              version = version % 250 + 1
              name = source + "/f%d" % random.randint(1, 4)
              data = bytes([version]) * random.choice([3000, 5000, 150000, 200000, 300000])
              if random.random() < 0.5:
                with open(name + "~", "wb") as file: file.write(data)
                os.rename(name + "~", name)
              else:
                with open(name, "wb") as file: file.write(data)
            """, volume.scratch.source,
          ], timeLimit: .seconds(Machine.raceSeconds + 60))
        let refresher = try Child(
          ["bash", "-c", "while \"$0\" refresh \"$1\" >/dev/null; do :; done", Machine.dataless, volume.mountpoint],
          timeLimit: .seconds(Machine.raceSeconds + 60))
        let readers = try await (0..<4).asyncMap { _ in
          try Child(
            [try await Probe.shared.path(), "uniform", "\(Machine.raceSeconds)"] + names.map { volume.path($0) },
            timeLimit: .seconds(Machine.raceSeconds + 30))
        }
        var handles = 0
        for reader in readers {
          let finished = await reader.wait()
          #expect(finished.succeeded, "\(finished.shellStatus) \(finished.errorText)")
          for line in finished.lines where line.hasPrefix("failure") { Issue.record("\(options): \(line)") }
          handles += Answer(finished.lines.last ?? "").int("handles") ?? 0
        }
        for child in [writer, refresher] {
          child.signal(9)
          await child.wait()
        }
        #expect(handles > 0)
        print("refresh race \(options): \(handles) handles read")
      }
    }
  }
}

extension Sequence {
  func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
