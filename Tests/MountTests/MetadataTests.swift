import Testing

extension RealMounts {
  /// All metadata is the source's, whether content is there or not.
  @Suite struct Metadata {
    /// Every kind of entry and of name, with xattrs and, where the tools are there, ACLs.
    static func everyKind(_ scratch: Scratch) async throws {
      try scratch.file("plain", size: 12_345)
      try scratch.file("empty", size: 0)
      try scratch.file("block", size: 4096)
      try await scratch.shell(
        """
        mkdir -p deep/a/b/c dirs/sticky dirs/closed dirs/empty
        chmod 1777 dirs/sticky; chmod 0750 dirs/closed
        head -c 100 /dev/zero > deep/a/b/c/leaf
        ln -s ../plain deep/relative; ln -s /nowhere/at/all deep/dangling
        ln -s "$(printf 'x%.0s' $(seq 1 3000))" deep/long-target
        ln plain hard1; ln plain deep/hard2
        ln -s target deep/symlink; ln deep/symlink deep/hard-symlink
        mkfifo fifo
        truncate -s 300000 sparse; printf end >> sparse
        truncate -s 5G huge
        head -c 100 /dev/zero > setuid; chmod 4755 setuid
        head -c 100 /dev/zero > private; chmod 0000 private
        : > "$(printf 'name%.0s' $(seq 1 63))abc"
        printf data > "$(printf 'not-utf8-\\xff\\xfe\\x80')"
        mkdir "$(printf 'dir-\\xe9')"; printf data > "$(printf 'dir-\\xe9')/$(printf '\\xc3')"
        printf data > "$(printf 'tab\\tnewline\\nescape\\e[31m')"
        printf data > ' leading and trailing '; printf data > -rf; printf data > 'back\\slash'; printf data > ...
        touch -d '1970-01-01 00:00:00 UTC' plain; touch -d '2038-01-19 03:14:08.123456789 UTC' sparse
        touch -d '1901-12-13 20:45:53 UTC' private
        touch -a -d '2001-02-03 04:05:06.789012345 UTC' block
        touch -d '2003-03-03 03:03:03.030303030 UTC' dirs/empty
        python3 - 2>/dev/null <<'END' || true
        import socket
        socket.socket(socket.AF_UNIX).bind("socket")
        END
        """)
      if Machine.hasACLTools {
        try await scratch.shell(
          """
          setfattr -n user.note -v 'some text' plain; setfattr -n user.empty plain
          setfattr -n user.binary -v 0x00ff10 deep
          setfattr -n user.long -v "$(printf 'v%.0s' $(seq 1 2000))" block
          setfacl -m u:12345:rw,g:54321:r block; setfacl -d -m u:12345:rwx dirs; setfacl -m u:12345:x dirs/closed
          """)
      }
      if Machine.isRoot {
        try await scratch.shell(
          """
          chown 12345:54321 empty; chown -h 1:1 deep/symlink
          mknod character c 1 3; mknod block-device b 7 200
          setfattr -n trusted.note -v secret block; setfattr -n security.note -v label block || true
          setcap cap_net_raw+ep setuid 2>/dev/null || true
          """)
      }
      // readlink(2) moves an access time, and no flag stops it: one in the future stays, whoever looks first.
      try await scratch.shell("find . -type l -exec touch -h -a -d '2030-01-01 00:00:00 UTC' {} +")
    }

    static func dump(_ path: String, _ options: String...) async throws -> [String] {
      let finished = try await run([try await Probe.shared.path(), "dump", path] + options, timeLimit: .seconds(60))
      try #require(finished.succeeded, "dump of \(path): \(finished.shellStatus) \(finished.errorText)")
      return finished.lines
    }

    /// Compares line by line, so that a difference names its entry.
    static func expectEqual(_ volume: [String], _ source: [String], sourceLocation: SourceLocation = #_sourceLocation) {
      #expect(volume.count == source.count, sourceLocation: sourceLocation)
      for (volume, source) in zip(volume, source) where volume != source {
        Issue.record("volume: \(volume)\nsource: \(source)", sourceLocation: sourceLocation)
      }
    }

    @Test func metadataOfEveryKindOfEntryIsTheSources() async throws {
      try await withVolume(source: Self.everyKind) { volume in
        let source = try await Self.dump(volume.scratch.source)
        try #require(source.count > 30)
        Self.expectEqual(try await Self.dump(volume.mountpoint), source)
        #expect(try await volume.materializedFiles() == 0)
      }
    }

    @Test func metadataStaysTheSameThroughMaterializationEvictionAndRemount() async throws {
      try await withVolume(source: { scratch in
        try await Self.everyKind(scratch)
        try await scratch.shell("rm huge")
      }) { volume in
        let source = try await Self.dump(volume.scratch.source)
        let materialized = try await volume.dataless("materialize", volume.mountpoint, timeLimit: .seconds(60))
        #expect(materialized.succeeded, "\(materialized.errorText)")
        #expect(try await volume.materializedFiles() > 10)
        Self.expectEqual(try await Self.dump(volume.mountpoint), source)
        // Two names of one file are refused by design, and named.
        _ = try await volume.dataless("evict", volume.path("deep/a"))
        Self.expectEqual(try await Self.dump(volume.mountpoint), source)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let again = try await volume.scratch.mount()
        Self.expectEqual(try await Self.dump(again.mountpoint), source)
      }
    }

    @Test func contentOfEveryKindOfFileIsTheSources() async throws {
      try await withVolume(source: { scratch in
        try await Self.everyKind(scratch)
        try await scratch.shell("rm huge")
        for size in [1, 4095, 4097, 131_071, 131_072, 131_073, 1_048_576, 3_000_001] {
          try scratch.file("size-\(size)", size: size)
        }
      }) { volume in
        let volumeDump = try await Self.dump(volume.mountpoint, "content")
        Self.expectEqual(volumeDump, try await Self.dump(volume.scratch.source, "content"))
      }
    }

    @Test(arguments: [["a/first", "b/second"], ["b/second", "a/first"]])
    func hardLinksAreOneInodeWhicheverNameIsSeenFirst(order: [String]) async throws {
      try await withVolume(source: { scratch in
        scratch.directory("a")
        scratch.directory("b")
        try scratch.file("a/first", size: 5000)
        try await scratch.shell("ln a/first b/second")
      }) { volume in
        for name in order {
          let stages = try await run(["stat", "-c", "%i %h", volume.path(name)])
          let source = try await run(["stat", "-c", "%i %h", "\(volume.scratch.source)/a/first"])
          #expect(stages.text == source.text)
        }
        // Content read by one name is there by the other.
        try await volume.read(order[0])
        try await volume.read(order[1])
        #expect(try await volume.fileAttempts().count == 1)
      }
    }

    @Test func filesOverFourGigabytesHaveTheirSizeAndContent() async throws {
      try await withVolume(source: { scratch in
        try #require(Machine.freeBytes(at: scratch.root) > 6 << 30, "needs 6 GiB of disk")
        try await scratch.shell("truncate -s 4294967296 large; printf 'the end' >> large")
      }) { volume in
        let size = try await run(["stat", "-c", "%s", volume.path("large")])
        #expect(size.text == "4294967303\n")
        let answer = try await volume.probe("read", volume.path("large"), "4294967290", "100", timeLimit: .seconds(120))
        #expect(answer.first?.bytes == 13)
        let source = try await volume.probe("read", "\(volume.scratch.source)/large", "4294967290", "100")
        #expect(answer.first?.hash == source.first?.hash)
      }
    }

    @Test func blocksAreZeroUntilTheContentIsThereAndThenFull() async throws {
      try await withVolume(["--latency", "1500ms"], source: { try $0.file("file", size: 100_000) }) { volume in
        let probe = try await volume.scratch.startProbe("stages", volume.path("file"))
        #expect(await probe.line() == "reading")
        try await volume.log.waitForWaiters(1)
        probe.closeInput()
        let finished = await probe.wait()
        let stages = Answer(try #require(finished.lines.dropFirst().first))
        #expect(stages.int("before") == 0)
        #expect(stages.int("during") == 0)
        #expect(try #require(stages.int("after")) * 512 >= 100_000)
        for kept in ["inode_kept", "mtime_kept", "ctime_kept"] { #expect(stages.int(kept) == 1, "\(kept)") }
      }
    }

    @Test func stateIsAnAttributeThatIsNotListed() async throws {
      try await withVolume(source: { scratch in
        scratch.directory("directory")
        try scratch.file("directory/file", size: 5000)
        try scratch.file("empty", size: 0)
        try await scratch.shell("ln -s directory/file link")
      }) { volume in
        func look(_ path: String) async throws -> [String: String] {
          let answers = try await volume.probe("look", volume.path(path))
          return answers.reduce(into: [:]) { $0.merge($1.values) { first, _ in first } }
        }
        let directory = try await look("directory")
        #expect(directory["state"] == "dataless")
        #expect(directory["state_listed"] == "0")
        let before = try await look("directory/file")
        #expect(before["state"] == "dataless")
        #expect(before["state_listed"] == "0")
        #expect(before["blocks"] == "0")
        try await volume.read("directory/file")
        let after = try await look("directory/file")
        #expect(after["state"] == "resident")
        #expect(after["state_listed"] == "0")
        #expect(try await look("empty")["state"] != "dataless")
        let ofLink = try await run(["getfattr", "-h", "-n", "user.dataless.state", volume.path("link")])
        #expect(!ofLink.succeeded, "a symbolic link has no such attribute: \(ofLink.text)")
      }
    }

    @Test(.enabled(if: Machine.hasSetpriv, "needs root"))
    func modesAndACLsAreEnforcedForOtherUsers() async throws {
      try await withVolume(
        ["--allow-other"],
        source: { scratch in
          for name in ["open", "closed", "by-acl", "not-by-acl"] { try scratch.file(name, size: 100) }
          try await scratch.shell(
            """
            chmod 0644 open; chmod 0600 closed; chmod 0600 by-acl; chmod 0644 not-by-acl
            setfacl -m u:\(Machine.ordinaryID):r by-acl; setfacl -m u:\(Machine.ordinaryID):- not-by-acl
            """)
        }
      ) { volume in
        func canRead(_ name: String) async throws -> Bool {
          let id = Machine.ordinaryID
          return try await run(
            ["setpriv", "--reuid", id, "--regid", id, "--clear-groups", "cat", volume.path(name)]
          ).succeeded
        }
        for (name, allowed) in [("open", true), ("closed", false), ("by-acl", true), ("not-by-acl", false)] {
          let could = try await canRead(name)
          #expect(could == allowed, "\(name)")
        }
      }
    }

    @Test(.enabled(if: Machine.isRoot, "needs root"))
    func otherFileSystemsInTheSourceAreEmptyDirectoriesUnlessAsked() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir other; mount -t tmpfs none other; echo inside > other/file; echo 1 > here")
        let volume = try await scratch.mount()
        #expect(try await run(["ls", volume.path("other")]).text == "")
        #expect(try await volume.status()["items"]?["other_file_systems"]?.int == 1)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let crossing = try await scratch.mount(["--cross-mounts"])
        #expect(try await run(["cat", crossing.path("other/file")]).text == "inside\n")
        #expect(try await crossing.status()["items"]?["other_file_systems"]?.int == 0)
      }
    }

    @Test func ourOwnCacheIsNotPartOfTheVolume() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir -p d/own-cache; echo 1 > d/file")
        let mounted = try await scratch.tryMount(cache: scratch.source + "/d/own-cache")
        try #require(mounted.succeeded, "\(mounted.errorText)")
        let listed = try await run(["ls", "-A", scratch.mountpoint + "/d"])
        #expect(listed.text == "file\n")
        let looked = try await run(["stat", scratch.mountpoint + "/d/own-cache"])
        #expect(!looked.succeeded)
      }
    }

    @Test func holesAreDataUntilTheContentIsThere() async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell(
          "truncate -s 1M sparse; printf end | dd of=sparse bs=1M seek=1 conv=notrunc status=none")
      }) { volume in
        func seek() async throws -> (Int?, Int?) {
          let answers = try await volume.probe("look", volume.path("sparse"))
          let answer = try #require(answers.first { $0["seek_data"] != nil })
          return (answer.int("seek_data"), answer.int("seek_hole"))
        }
        let dataless = try await seek()
        #expect(dataless == (0, 1_048_579), "a copying tool must not take what is not local for zeros")
        try await volume.read("sparse")
        let resident = try await seek()
        #expect(resident == (1_048_576, 0) || resident == (0, 1_048_579), "\(resident)")
      }
    }
  }
}
