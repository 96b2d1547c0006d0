import Testing

extension RealMounts {
  /// What was changed on a volume and in SOURCE, too.
  @Suite struct Conflicts {
    private static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir d; for f in a b.txt c d/e; do echo \"source $f\" > $f; done")
    }

    /// Changes on both sides, whichever way the volume is kept.
    private static let here = """
      cd "$MOUNT"; ls -R > /dev/null; echo mine >> a; echo mine > b.tmp; mv b.tmp b.txt; rm c; echo mine > new
      echo mine >> d/e
      """
    private static let there = """
      cd "$SOURCE"; echo theirs for a > a; echo theirs for b.txt > b.txt; echo theirs for c > c
      echo theirs for new > new; rm d/e
      """

    private static func words(_ volume: Volume) async throws -> [String] {
      let answer = try await volume.json("conflicts", volume.mountpoint)
      return try #require(answer["conflicts"]?.array).compactMap { item in
        item["path"]?.string.map { "\($0): \(item["conflict"]?.string ?? "?")" }
      }
    }

    private static let all = [
      "a: changed", "b.txt: changed", "c: removed_here", "d/e: gone_in_source", "new: made",
    ]

    @Test func whatBothSidesHaveChangedIsToldAndResolved() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let volume = try await scratch.mount(["--scratch"])
        try await scratch.shell(Self.here)
        #expect(try await volume.status()["conflicts"]?.int == 0)
        try await scratch.shell(Self.there)
        try await volume.done("refresh", volume.mountpoint)
        #expect(try await Self.words(volume) == Self.all)
        #expect(try await volume.status()["conflicts"]?.int == 5)
        #expect(try await volume.dataless("status", volume.mountpoint).text.contains("conflicts 5; "))
        #expect(
          try await scratch.shell("cd \"$MOUNT\"; cat a b.txt new d/e")
            == "source a\nmine\nmine\nmine\nsource d/e\nmine\n")
        let found = try await volume.records(ofType: "conflict.found")
        #expect(Set(found.compactMap { $0["path"]?.string }) == ["a", "b.txt", "c", "new", "d/e"])
        // Who has it open for writing keeps it.
        let busy = try await scratch.shell(
          "exec 7>> \"$MOUNT/a\"; \"$DATALESS\" conflicts --take-theirs \"$MOUNT/a\" 2>&1 || echo $?")
        #expect(busy.contains("EBUSY") && busy.hasSuffix("\n1\n"), "\(busy)")
        try await volume.done("conflicts", "--take-theirs", volume.path("a"))
        try await volume.done("conflicts", "--keep-both", volume.path("b.txt"), volume.path("c"))
        try await volume.done("conflicts", "--keep-mine", volume.path("new"), volume.path("d"))
        #expect(try await Self.words(volume) == [])
        #expect(
          try await scratch.shell("cd \"$MOUNT\"; cat a b.txt c new d/e b*local*.txt")
            == "theirs for a\ntheirs for b.txt\ntheirs for c\nmine\nsource d/e\nmine\nmine\n")
        let none = try await volume.dataless("conflicts", "--keep-mine", volume.path("a"))
        #expect(none.status == 1 && none.errorText.contains("ENOENT"), "\(none.errorText)")
        #expect(try await volume.records(ofType: "conflict.resolved").count == 5)
        try await volume.done("refresh", volume.mountpoint)
        #expect(try await Self.words(volume) == [])
      }
    }

    /// A program had a file open for writing when SOURCE got another version, and has written nothing: both sides
    /// agree.
    @Test(arguments: ["--scratch", "--state"], [false, true]) func whatNobodyHasWrittenToIsInNoConflict(
      kind: String, isResident: Bool
    ) async throws {
      try await withScratch { scratch in
        try await scratch.shell("echo theirs > a")
        let volume = try await scratch.mount(kind == "--state" ? State.state(scratch) : [kind])
        if isResident { #expect(try await scratch.shell("cat \"$MOUNT/a\"") == "theirs\n") }
        let script = "exec 3<>\"$0\"; echo open; read; exec 3>&-; echo closed; read"
        let program = try Child(["bash", "-c", script, volume.path("a")], timeLimit: .seconds(60))
        #expect(await program.line() == "open")
        try await scratch.shell("echo another version > a")
        try await volume.done("refresh", volume.mountpoint)
        // What it is going to write is not known while it is here.
        #expect(try await Self.words(volume) == (isResident ? ["a: changed"] : []))
        let open = isResident ? "theirs\n" : "another version\n"
        #expect(try await scratch.shell("cat \"$MOUNT/a\"") == open)
        program.send("")
        #expect(await program.line() == "closed")
        if isResident {
          _ = try await volume.log.wait("the older version is dropped") { records in
            records.contains { $0["type"]?.string == "eviction.finished" }
          }
        }
        #expect(try await Self.words(volume) == [])
        #expect(try await scratch.shell("cat \"$MOUNT/a\"") == "another version\n")
        program.closeInput()
        try await volume.done("unmount", volume.mountpoint)
        let ended = try scratch.log.records(ofType: "conflict.resolved")
        #expect(ended.map { $0["kept"]?.string } == (isResident ? ["source"] : []))
      }
    }

    /// The kernel grants what it knows, and is told.
    @Test(arguments: ["--scratch", "--state"]) func theirRightsHoldAtOnce(kind: String) async throws {
      try await withScratch { scratch in
        try await scratch.shell("echo theirs > a; mkdir d; chmod 755 d; chmod 644 a")
        let volume = try await scratch.mount(kind == "--state" ? State.state(scratch) : [kind])
        let rights = "stat -c %a \"$MOUNT/a\" \"$MOUNT/d\""
        #expect(try await scratch.shell("cd \"$MOUNT\"; chmod 666 a; chmod 777 d; ls d; \(rights)") == "666\n777\n")
        try await scratch.shell("chmod 600 a; chmod 700 d")
        try await volume.done("refresh", volume.mountpoint)
        #expect(try await scratch.shell(rights) == "666\n777\n")
        try await volume.done("conflicts", "--take-theirs", volume.mountpoint)
        #expect(try await scratch.shell(rights) == "600\n700\n")
      }
    }

    /// Another directory's listing tells that SOURCE has it no more: the kernel has listed its own by then.
    @Test func aNameThatWentIsInNoListing() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir b; echo one > b/a")
        let first = try await scratch.mount(State.state(scratch))
        try await scratch.shell("mv \"$MOUNT/b/a\" \"$MOUNT/c\"")
        try await first.done("unmount", first.mountpoint)
        try await scratch.shell("echo another > new; mv new b/a")
        _ = try await scratch.mount(State.state(scratch))
        // The kernel is told beside the answer: who lists b holds its lock, and a rename may hold the root's meanwhile.
        let script = """
          cd "$MOUNT"; echo $(ls) $(ls); ls -l c > /dev/null; ls b
          until [ "$(echo $(ls))" = b ]; do :; done
          while test -e c; do :; done
          """
        #expect(try await scratch.shell(script) == "b c b c\na\n")
      }
    }

    /// The kernel has nothing more to do with what has gone: a clean end leaves no content that no file names.
    @Test func whatWasTakenBackLeavesNothingBehind() async throws {
      try await withScratch { scratch in
        try await scratch.shell("echo theirs > changed; echo theirs > moved; mkdir d")
        let volume = try await scratch.mount(State.state(scratch))
        try await scratch.shell(
          """
          cd "$MOUNT"; head -c 300000 /dev/zero > changed; mv moved d/moved; head -c 300000 /dev/zero > d/moved
          echo newer > "$SOURCE/changed"; echo newer > "$SOURCE/moved"
          """)
        try await volume.done("refresh", volume.mountpoint)
        #expect(try await Self.words(volume) == ["changed: changed", "d/moved: changed"])
        try await volume.done("conflicts", "--take-theirs", volume.mountpoint)
        #expect(try await volume.dataless("unmount", "--wait", volume.mountpoint).succeeded)
        let check = try await run([Machine.dataless, "check", "--dry-run", "\(scratch.root)/state"])
        #expect(check.succeeded && check.text.contains("nothing is wrong"), "\(check.text)\(check.errorText)")
      }
    }

    /// Of a directory that SOURCE has no more what was changed stays, until somebody takes SOURCE's side.
    @Test func aDirectoryThatIsGoneKeepsWhatWasChanged() async throws {
      try await withScratch { scratch in
        try await scratch.shell(
          "mkdir -p d/sub; for f in d/read d/written d/never d/sub/read; do echo source > $f; done")
        let volume = try await scratch.mount(State.state(scratch))
        try await scratch.shell(
          """
          cd "$MOUNT"; cat d/read d/sub/read > /dev/null; echo mine >> d/written; mkdir d/made; echo mine > d/made/file
          ls -R > /dev/null; mv d moved; rm -r "$SOURCE/d"
          """)
        try await volume.done("refresh", volume.mountpoint)
        #expect(
          try await scratch.shell("cd \"$MOUNT\"; find . | sort")
            == ".\n./moved\n./moved/made\n./moved/made/file\n./moved/written\n")
        #expect(try await Self.words(volume) == ["moved: gone_in_source", "moved/written: gone_in_source"])
        // Who has something in it open for writing keeps it.
        let busy = try await scratch.shell(
          "exec 7>> \"$MOUNT/moved/made/file\"; \"$DATALESS\" conflicts --take-theirs \"$MOUNT/moved\" 2>&1 || echo $?")
        #expect(busy.contains("EBUSY") && busy.contains("moved/made/file"), "\(busy)")
        // What is below it stays, too.
        #expect(busy.contains("moved/written") && busy.contains("in which it lies"), "\(busy)")
        #expect(try await Self.words(volume) == ["moved: gone_in_source", "moved/written: gone_in_source"])
        try await volume.done("conflicts", "--take-theirs", volume.path("moved"))
        #expect(try await Self.words(volume) == [])
        #expect(try await scratch.shell("ls -A \"$MOUNT\"") == "")
        let removed = try await volume.records(ofType: "item.removed").last
        let said = String(describing: removed)
        #expect(removed?["path"]?.string == "moved" && removed?["dirty_items"]?.int == 2, "\(said)")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(try await run([Machine.dataless, "check", "\(scratch.root)/state"]).succeeded)
      }
    }

    @Test func conflictsAreThereAfterAnotherMount() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let options = State.state(scratch)
        var volume = try await scratch.mount(options)
        try await scratch.shell(Self.here)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        try await scratch.shell(Self.there)
        volume = try await scratch.mount(options)
        try await scratch.shell("ls -R \"$MOUNT\" > /dev/null")
        #expect(try await Self.words(volume) == Self.all)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        // Now they are known, and found without anybody looking.
        volume = try await scratch.mount(options)
        #expect(try await Self.words(volume) == Self.all)
        try await volume.done("conflicts", "--keep-both", volume.mountpoint)
        let look = "cd \"$MOUNT\"; ls -R; cat a b.txt c d/e new ./*local*"
        let before = try await scratch.shell(look)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        volume = try await scratch.mount(options)
        #expect(try await scratch.shell(look) == before)
        #expect(try await Self.words(volume) == [])
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(try await run([Machine.dataless, "check", "\(scratch.root)/state"]).succeeded)
      }
    }
  }
}
