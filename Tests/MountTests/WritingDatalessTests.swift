import Testing

extension RealMounts {
  /// What changes of dataless files and directories wait for, and what they leave alone.
  @Suite struct WritingDataless {
    private static func entries(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir -p dir/deep; for i in 1 2 3 4 5 6 7 8; do echo \"content $i\" > f$i; done")
      try scratch.file("large", size: 300_000)
      try scratch.file("dir/in", size: 200_000)
      try scratch.file("dir/deep/in", size: 5000)
      try await scratch.shell("touch -d 2001-01-01 * dir/* dir/deep")
    }

    private static func triggers(_ volume: Volume) async throws -> [String] {
      try await volume.fileAttempts().map { "\($0["trigger"]?.string ?? "?") \($0["path"]?.string ?? "?")" }
    }

    /// SOURCE as it is, but for access times: scripts read it, too.
    static func source(_ volume: Volume) async throws -> [String] {
      try await Metadata.dump(volume.scratch.source, "content").map { line in
        line.split(separator: " ").filter { !$0.hasPrefix("atime=") }.joined(separator: " ")
      }
    }

    /// Runs a script on the volume. - Returns: Triggers of attempts at files since the mount.
    private static func after(
      _ script: String, options: [String] = [], test: (Volume, [String]) async throws -> Void = { _, _ in }
    ) async throws {
      try await withVolume(["--scratch"] + options, source: entries) { volume in
        let before = try await source(volume)
        try await volume.scratch.shell(Writing.prelude + script)
        try await test(volume, try await triggers(volume))
        Metadata.expectEqual(try await source(volume), before)
      }
    }

    @Test func metadataIsChangedWithoutAFetch() async throws {
      try await Self.after(
        """
        chmod 600 f1; [ "$(stat -c %a f1)" = 600 ]; touch -d 2005-05-05 f2; [ "$(stat -c %Y f2)" = "$(date -d 2005-05-05 +%s)" ]
        setfattr -n user.note -v text f3; [ "$(getfattr --only-values -n user.note f3)" = text ]
        setfattr -x user.note f3; chmod 700 dir; [ "$(stat -c %b f1)" = 0 ]
        """
      ) { volume, triggers in
        #expect(triggers == [])
        // Its content still comes, with the mode that it has now.
        let content = try await run(["cat", volume.path("f1")]).text
        let mode = try await run(["stat", "-c", "%a", volume.path("f1")]).text
        #expect(content == "content 1\n" && mode == "600\n")
      }
    }

    @Test func namesAreMovedWithoutAFetch() async throws {
      try await Self.after(
        """
        mv f1 moved; mv dir/in dir/deep/elsewhere; mv dir renamed; ls renamed/deep > ../listing
        [ "$(cat ../listing)" = "$(printf 'elsewhere\\nin')" ]; [ "$(stat -c %s renamed/deep/elsewhere)" = 200000 ]
        """
      ) { volume, triggers in
        #expect(triggers == [])
        // By its name in the store.
        #expect(try await run(["cat", volume.path("moved")]).text == "content 1\n")
        let hash = try await volume.sourceHash("dir/in")
        #expect(try await volume.read("renamed/deep/elsewhere").hash == hash)
        #expect(try await Self.triggers(volume) == ["read moved", "read renamed/deep/elsewhere"])
      }
    }

    @Test func aLocalFileReplacesADatalessOneWithoutAFetch() async throws {
      try await Self.after(
        """
        echo new > new; mv new f1; [ "$(cat f1)" = new ]; rm f2; [ ! -e f2 ]
        """
      ) { _, triggers in #expect(triggers == []) }
    }

    @Test func aDatalessTreeIsRemovedWithoutAFetch() async throws {
      try await Self.after(
        """
        rm -rf dir; [ ! -e dir ]; mkdir dir; [ -z "$(ls -A dir)" ]; rmdir dir
        """
      ) { volume, triggers in
        let materialized = try await volume.materializedFiles()
        #expect(triggers == [] && materialized == 0)
      }
    }

    @Test func theFirstWriteMaterializes() async throws {
      try await Self.after(
        """
        echo more >> f1; [ "$(cat f1)" = "$(printf 'content 1\\nmore')" ]
        printf X | dd of=large bs=1 seek=1000 conv=notrunc 2> /dev/null
        cmp -n 1000 large "$SOURCE/large"; cmp -i 1001 large "$SOURCE/large"
        fallocate -l 400000 dir/in; cmp -n 200000 dir/in "$SOURCE/dir/in"; [ "$(stat -c %s dir/in)" = 400000 ]
        """
      ) { volume, triggers in
        #expect(triggers.sorted() == ["write dir/in", "write f1", "write large"])
        let copied = try await run([try await Writing.client.path(), volume.mountpoint, "copy", "f2", "f3"])
        #expect(copied.succeeded)
        #expect(try await run(["cat", volume.path("f3")]).text == "conconte3\n")
        #expect(try await Self.triggers(volume).suffix(2).sorted() == ["copy f2", "write f3"])
      }
    }

    @Test func truncationMaterializesAsOnMacOS() async throws {
      try await Self.after(
        """
        truncate -s 4 f1; [ "$(cat f1)" = cont ]; truncate -s 0 f2; [ "$(stat -c %s f2)" = 0 ]; echo new > f3
        [ "$(cat f3)" = new ]
        """
      ) { _, triggers in #expect(triggers == ["truncate f1", "truncate f2", "open_truncate f3"]) }
    }

    @Test func underWindowsWhatIsThrownAwayIsNotFetched() async throws {
      try await Self.after(
        """
        truncate -s 4 f1; [ "$(cat f1)" = cont ]; truncate -s 0 f2; [ "$(stat -c %s f2)" = 0 ]; echo new > f3
        [ "$(cat f3)" = new ]
        """, options: ["--profile", "windows"]
      ) { _, triggers in #expect(triggers == ["truncate f1"]) }
    }

    @Test func anotherNameAndACopyMaterialize() async throws {
      try await Self.after(
        """
        ln f1 second; [ "$(stat -c %h f1)" = 2 ]; [ "$(stat -c %i f1)" = "$(stat -c %i second)" ]
        no cp --reflink=always f2 clone 2> /dev/null; cp f3 copy; cmp copy "$SOURCE/f3"
        """
      ) { _, triggers in
        #expect(triggers.count == 2 && triggers.first == "link f1", "\(triggers)")
      }
    }

    @Test func namesInADatalessDirectoryListItFirst() async throws {
      try await withVolume(["--scratch"], source: Self.entries) { volume in
        let script = """
          mkdir dir/deep/made; echo x > dir/file; ln -s f1 dir/link; no mkdir dir/in 2> /dev/null; ls dir dir/deep
          """
        let shown = try await volume.scratch.shell(Writing.prelude + script)
        #expect(shown == "dir:\ndeep\nfile\nin\nlink\n\ndir/deep:\nin\nmade\n")
        #expect(try await volume.fileAttempts().isEmpty)
        #expect(try await volume.directoryAttempts().count == 3)
      }
    }

    @Test func aFailedFetchFailsTheWriteAndLeavesTheFileAsItWas() async throws {
      try await withScenario(
        "rules: [{name: broken, match: {path: f1}, fault: EIO}]", ["--scratch"], source: Self.entries
      ) { volume in
        try await volume.scratch.shell(
          Writing.prelude + """
            before=$(stat -c '%s %Y %a' f1)
            no sh -c 'echo more >> f1' 2> ../errors; grep -q 'I/O error' ../errors
            no truncate -s 3 f1 2> /dev/null; no sh -c 'echo new > f1' 2> /dev/null; no ln f1 second 2> /dev/null
            [ "$(stat -c '%s %Y %a' f1)" = "$before" ]; [ ! -e second ]
            """)
        try await volume.done("fault", "remove", volume.mountpoint, "broken")
        #expect(try await run(["cat", volume.path("f1")]).text == "content 1\n")
      }
    }

    @Test func whatWasWrittenIsNotEvicted() async throws {
      try await Self.after("echo more >> f1; cat f2 > /dev/null; echo new > new") { volume, _ in
        for name in ["f1", "new"] {
          let evicted = try await volume.dataless("evict", volume.path(name))
          #expect(evicted.status == 1 && evicted.errorText.contains("EBUSY"), "\(evicted.errorText)")
        }
        #expect(try await volume.dataless("evict", volume.path("f2")).succeeded)
        #expect(try await run(["cat", volume.path("f1")]).text == "content 1\nmore\n")
      }
    }
  }
}
