import Testing

extension RealMounts {
  /// How metadata looks.
  @Suite struct Presentations {
    private static func stat(_ volume: Volume, _ path: String) async throws -> Answer {
      try #require(try await volume.probe("act", "stat", volume.path(path)).first)
    }

    @Test(arguments: ["zero", "one", "real"])
    func blocksOfADatalessFileAreAsAsked(blocks: String) async throws {
      try await withVolume(
        ["--present", "blocks=\(blocks)", "--latency", "1500ms"], source: { try $0.file("file", size: 100_000) }
      ) { volume in
        let source = try #require(
          try await volume.probe("act", "stat", "\(volume.scratch.source)/file").first?.int("blocks"))
        let expected = ["zero": 0, "one": 1, "real": source][blocks]
        let probe = try await volume.scratch.startProbe("stages", volume.path("file"))
        #expect(await probe.line() == "reading")
        try await volume.log.waitForWaiters(1)
        probe.closeInput()
        let stages = Answer(try #require(await probe.wait().lines.dropFirst().first))
        #expect(stages.int("before") == expected && stages.int("during") == expected)
        #expect(stages.int("after") == source)
        let du = try await run(["du", "--block-size=512", volume.path("file")])
        #expect(du.text.hasPrefix("\(source)\t"))
      }
    }

    /// The known loss of data: tar takes a file of no blocks for one large hole, and does not read it.
    @Test(arguments: ["zero", "one"])
    func sparseTarLosesAFileOfNoBlocksAndKeepsOneOfOneBlock(blocks: String) async throws {
      try await withVolume(["--present", "blocks=\(blocks)"], source: { try $0.file("file", size: 100_000) }) {
        volume in
        let archive = "\(volume.scratch.root)/archive.tar"
        let tar = try await run(["tar", "-C", volume.mountpoint, "-S", "-cf", archive, "file"])
        try #require(tar.succeeded, "\(tar.errorText)")
        try await volume.scratch.shell("mkdir \"$ROOT/out\"; tar -C \"$ROOT/out\" -xf \"$ROOT/archive.tar\"")
        let copy = "\(volume.scratch.root)/out/file"
        let isCopy = try await run(["cmp", copy, "\(volume.scratch.source)/file"]).succeeded
        let isZeros = try await run(["cmp", "-n", "100000", copy, "/dev/zero"]).succeeded
        #expect(isCopy == (blocks == "one") && isZeros == (blocks == "zero"))
        // The volume is not to blame: nobody asked it for content, and it has it.
        #expect(try await volume.fileAttempts().count == (blocks == "one" ? 1 : 0))
        let hash = try await volume.sourceHash("file")
        #expect(try await volume.read("file").hash == hash)
      }
    }

    @Test func theChangeTimeMovesOnceWhenContentComes() async throws {
      try await withVolume(["--present", "ctime=bump"], source: { try $0.file("file", size: 100_000) }) { volume in
        let source = try await volume.probe("act", "stat", "\(volume.scratch.source)/file").first?["ctime"]
        #expect(try await Self.stat(volume, "file")["ctime"] == source)
        try await volume.scratch.shell("touch \"$ROOT/before\"")
        try await volume.read("file")
        let moved = try await Self.stat(volume, "file")["ctime"]
        #expect(moved != source)
        // As `find -newercm` sees it: after what was touched before the read.
        let newer = try await run(["find", volume.path("file"), "-newercm", "\(volume.scratch.root)/before"])
        #expect(newer.lines.count == 1)
        try await volume.read("file")
        #expect(try await Self.stat(volume, "file")["ctime"] == moved)
        try await volume.done("evict", volume.path("file"))
        #expect(try await Self.stat(volume, "file")["ctime"] == moved, "it stays at eviction")
        try await volume.read("file")
        let again = try await Self.stat(volume, "file")["ctime"]
        #expect(again != moved && again != source)
        try await volume.done("set", volume.mountpoint, "present.ctime=stable")
        #expect(try await Self.stat(volume, "file")["ctime"] == source)
      }
    }

    @Test func aDatalessFileThatLooksLikeAHoleIsCopiedAsOne() async throws {
      try await withVolume(["--present", "seek=hole"], source: { try $0.file("file", size: 100_000) }) { volume in
        func seek(_ kind: String) async throws -> Answer {
          try #require(try await volume.probe("act", kind, volume.path("file"), "100").first)
        }
        #expect(try await seek("data").outcome == "ENXIO")
        #expect(try await seek("hole").int("result") == 100)
        try await volume.read("file")
        #expect(try await seek("data").int("result") == 100)
        #expect(try await seek("hole").int("result") == 100_000)
        try await volume.done("evict", volume.path("file"))
        try await volume.done("set", volume.mountpoint, "present.seek=data")
        #expect(try await seek("data").int("result") == 100)
        #expect(try await volume.fileAttempts().count == 1)
      }
    }

    @Test func theStateHasTheNameAndTheWordsOfOpenVFS() async throws {
      try await withVolume(["--present", "state=openvfs"], source: { try $0.file("file", size: 100_000) }) { volume in
        func value() async throws -> String {
          try await run(["getfattr", "--only-values", "-n", "user.openvfs.data", "-e", "hex", volume.path("file")]).text
        }
        func bytes(_ attribute: String) async throws -> String? {
          try await volume.probe("act", "getxattr", volume.path("file"), attribute).first?["value"]
        }
        let inode = try await run(["stat", "-c", "%i", volume.path("file")]).lines.first ?? ""
        func map(_ size: String, _ state: String) -> String {
          let id = "\\x\(String(0xa0 + inode.utf8.count, radix: 16))\(inode)"
          return "\\x85\\xa4etag\\xa0\\xa6fileid\(id)\\xa8pinstate\\x03\\xa4size\(size)\\xa5state\(state)"
        }
        // 100,000 is 0x186a0; 0 when it is local. \x01: dehydrated, \x00: hydrated.
        #expect(try await bytes("user.openvfs.data") == map("\\xce\\x00\\x01\\x86\\xa0", "\\x01"))
        #expect(try await bytes("user.dataless.state") == "dataless", "what CDataless asks for is there, too")
        let listed = try await run(["getfattr", volume.path("file")])
        #expect(listed.text.contains("user.openvfs.data"))
        #expect(!(try await value()).isEmpty)
        try await volume.read("file")
        #expect(try await bytes("user.openvfs.data") == map("\\x00", "\\x00"))
      }
    }

    @Test func theStateIsNamedByTheUserOrByNobody() async throws {
      try await withScenario(
        "present: {state: {name: user.where, dataless: away, resident: here, listed: on}}",
        source: { scratch in
          try scratch.file("file", size: 1000)
          try await scratch.shell("setfattr -n user.where -v source file; setfattr -n user.note -v text file")
        }
      ) { volume in
        func value(_ name: String) async throws -> String? {
          let answer = try #require(try await volume.probe("act", "getxattr", volume.path("file"), name).first)
          return answer["value"] ?? answer.outcome
        }
        #expect(try await value("user.where") == "away")
        let names = try await run(["getfattr", volume.path("file")]).lines.dropFirst()
        #expect(names.sorted() == ["user.note", "user.where"], "once, though SOURCE has one of this name")
        try await volume.read("file")
        #expect(try await value("user.where") == "here")
        try await volume.done("set", volume.mountpoint, "present.state=none")
        #expect(try await value("user.where") == "source")
        #expect(try await value("user.dataless.state") == "ENODATA")
        try await volume.done("set", volume.mountpoint, "present.state=dataless")
        #expect(try await value("user.dataless.state") == "resident")
      }
    }

    private static func type(_ volume: Volume) async throws -> String {
      let table = try await run(["cat", "/proc/self/mountinfo"])
      let line = table.lines.first { $0.contains(" \(volume.mountpoint) ") } ?? ""
      return line.components(after: " - ").first ?? ""
    }

    @Test func aVolumeOfAnotherTypeIsFoundByAllCommands() async throws {
      try await withVolume(["--present", "subtype=other-fs"], source: { try $0.file("file", size: 1000) }) { volume in
        #expect(try await Self.type(volume) == "fuse.other-fs")
        let status = try await volume.status()
        #expect(status["present"]?["subtype"]?.string == "other-fs")
        try await volume.done("materialize", volume.path("file"))
        #expect(try await volume.list()["file"]?["state"]?.string == "resident")
        let fixed = try await volume.dataless("set", volume.mountpoint, "present.subtype=sshfs")
        #expect(fixed.status == 2)
        #expect(fixed.errorText.contains("cannot be changed from 'other-fs' to 'sshfs'. Unmount it, and mount it with"))
        let file = try volume.scratch.scenario("seed: 1\npresent: {subtype: sshfs}\n", name: "other.yaml")
        let applied = try await volume.dataless("scenario", "apply", volume.mountpoint, file)
        #expect(applied.status == 2 && applied.errorText.contains("\(file):"))
        #expect(try await volume.status()["seed"]?.int == 0)
        // A scenario that says nothing of it fits every mount.
        let silent = try volume.scratch.scenario("seed: 2\n", name: "silent.yaml")
        try await volume.done("scenario", "apply", volume.mountpoint, silent)
        // Without its daemon it is still known, and cleaned up.
        let pid = try #require(status["pid"]?.int)
        _ = try await run(["kill", "-9", "\(pid)"])
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded && !Machine.isMounted(volume.mountpoint), "\(unmounted.errorText)")
      }
    }

    @Test(.enabled(if: !Machine.isRoot || Machine.hasSetpriv, "needs unshare and setpriv to become one"))
    func anOrdinaryUsersVolumeOfAnotherTypeIsFoundToo() async throws {
      try await withOrdinaryUser(
        """
        echo text > source/file
        "$DATALESS" mount --present subtype=other-fs --profile openvfs source volume
        grep " $PWD/volume " /proc/self/mountinfo | grep -q ' - fuse.other-fs '
        "$DATALESS" status | grep -q 'openvfs: files by read, open'
        cmp source/file volume/file
        "$DATALESS" evict volume/file
        kill -9 "$("$DATALESS" status --json volume | sed -n 's/.*"pid" *: *\\([0-9]*\\).*/\\1/p' | head -n 1)"
        until [ "$("$DATALESS" mount --present subtype=other-fs source volume 2>&1 | grep -c 'already')" = 0 ]; do :; done
        cmp source/file volume/file
        "$DATALESS" unmount volume
        ! grep -q " $PWD/volume " /proc/self/mountinfo
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func aLiveChangeIsSeenByTheNextStat() async throws {
      let count = 6000
      try await withVolume(source: { scratch in
        try await scratch.shell("for i in $(seq 1 \(count)); do echo content > $i; done")
      }) { volume in
        func blocks() async throws -> Set<String> {
          Set(try await run(["find", volume.mountpoint, "-type", "f", "-printf", "%b\\n"]).lines)
        }
        func count(_ blocks: String) async throws -> Int {
          try await run(["find", volume.mountpoint, "-type", "f", "-printf", "%b\\n"]).lines.count { $0 == blocks }
        }
        #expect(try await count("0") == 6000)
        let holder = try await volume.scratch.startProbe("hold", "open", volume.path("7"))
        #expect(await holder.line() == "outcome=ok")
        for (value, expected) in [("one", "1"), ("zero", "0"), ("real", "8")] {
          try await volume.done("set", volume.mountpoint, "present.blocks=\(value)")
          #expect(try await blocks() == [expected], "\(value)")
          let open = try await run(["stat", "-L", "-c", "%b", "/proc/\(holder.pid)/fd/3"])
          #expect(open.lines == [expected], "of an open file, too")
        }
        holder.closeInput()
        await holder.wait()
        let status = try await volume.status()
        #expect(
          status["present"]?["blocks"]?.string == "real" && status["options"]?["present_blocks"]?.string == "real")
        #expect(
          try await volume.done("status", volume.mountpoint).text.contains("blocks real, ctime stable, seek data"))
        let changes = try await volume.records(ofType: "configuration.changed")
        #expect(changes.map { $0["after"]?["present.blocks"]?.string } == ["one", "zero", "real"])
        #expect(changes.map { $0["before"]?["present.blocks"]?.string } == [nil, "one", "zero"])
        #expect(try await volume.fileAttempts().isEmpty)
      }
    }
  }
}

extension String {
  /// The words behind the first place of a text.
  fileprivate func components(after text: String) -> [String] {
    guard let range = firstRange(of: text) else { return [] }
    return self[range.upperBound...].split(separator: " ").map(String.init)
  }
}
