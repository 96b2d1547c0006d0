import Testing

extension RealMounts {
  /// Volumes that programs may change (`--scratch`): all of POSIX, as root, as an ordinary user, as two of them.
  @Suite struct Writing {
    static let client = ClientProgram(
      name: "dataless-writing",
      sources: ["writing", "writing_names", "writing_data", "writing_attributes", "writing_large"].map {
        "Tests/MountTests/Clients/\($0).c"
      }, options: ["-std=gnu11"])

    /// Of scripts that work on the volume: `no COMMAND` fails if it succeeds.
    static let prelude = "cd \"$MOUNT\"; no() { if \"$@\"; then return 1; fi; }\n"

    /// What did not hold, of the client's checks.
    static func problems(_ output: String) -> [String] {
      let answers = output.split(separator: "\n").map { Answer(String($0)) }
      let wrong = answers.filter { $0.outcome != "ok" }.map(\.description)
      return answers.count < 38 ? wrong + ["only \(answers.count) checks"] : wrong
    }

    @Test(arguments: [[], ["passthrough"], ["readdirplus"], ["direct-mapping"], ["name-epoch"]])
    func callsDoWhatPOSIXSays(without features: [String]) async throws {
      let options = ["--scratch"] + features.flatMap { ["--without", $0] }
      try await withVolume(options, source: { $0.directory("work") }) { volume in
        let finished = try await run([try await Self.client.path(), volume.path("work")], timeLimit: .seconds(60))
        #expect(finished.succeeded, "\(finished.shellStatus) \(finished.errorText)")
        #expect(Self.problems(finished.text) == [])
        #expect(try await volume.scratch.shell("ls -A work") == "")
      }
    }

    /// The same on a disk, which is what they are held against.
    @Test func theChecksHoldOnADisk() async throws {
      try await withScratch { scratch in
        let finished = try await run([try await Self.client.path(), scratch.source], timeLimit: .seconds(60))
        // What a mount without devices, and FUSE, refuse.
        let known = ["special_files", "rename_flags", "punches", "statistics"]
        let wrong = Self.problems(finished.text).filter { line in !known.contains { line.contains("=\($0) ") } }
        #expect(wrong == [])
      }
    }

    @Test(.enabled(if: !Machine.isRoot || Machine.hasSetpriv, "needs unshare and setpriv to become one"))
    func anOrdinaryUserMayDoTheSame() async throws {
      let client = try await Self.client.path()
      try await withOrdinaryUser(
        """
        mkdir source/work
        "$DATALESS" mount --scratch source volume > said
        bin/writing volume/work
        "$DATALESS" unmount volume
        [ -z "$(ls -A source/work)" ]
        """, asRoot: "cp '\(client)' bin/writing; chmod 755 bin/writing"
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.errorText)")
        #expect(Self.problems(finished.text) == [])
      }
    }

    @Test(.enabled(if: Machine.hasSetpriv, "needs root, unshare and setpriv to become two users"))
    func rightsAreThoseOfTheCaller() async throws {
      try await withTwoUsers(
        """
        bounded "$DATALESS" mount --scratch --allow-other root/source root/volume > said
        cd root/volume
        mkdir shared group; chmod 1777 shared; chgrp 1234 group; chmod 2777 group
        alice sh -c 'umask 027; echo alice > shared/a; mkdir shared/d; mkfifo shared/p; ln -s a shared/l'
        [ "$(stat -c %u:%g:%a shared/a)" = "$ALICE:$ALICE:640" ]; [ "$(stat -c %u:%a shared/d)" = "$ALICE:750" ]
        [ "$(stat -c %u shared/p)" = $ALICE ]; [ "$(stat -c %u shared/l)" = $ALICE ]
        # Sticky: neither removed nor renamed by another.
        no mallory rm -f shared/a; no mallory mv shared/a shared/b; no mallory rmdir shared/d
        no mallory cat shared/a; no mallory sh -c 'echo x >> shared/a'; no mallory truncate -s 0 shared/a
        no mallory chmod 777 shared/a; no mallory chown $MALLORY shared/a; no mallory touch shared/a
        no mallory setfattr -n user.x -v 1 shared/a; no mallory touch file
        alice chmod 666 shared/a; mallory sh -c 'echo mallory >> shared/a'
        [ "$(cat shared/a)" = "$(printf 'alice\\nmallory')" ]
        # The group of a setgid directory; who is not in the group may not give its rights away.
        alice touch group/f; [ "$(stat -c %u:%g group/f)" = "$ALICE:1234" ]
        alice mkdir group/d; [ "$(stat -c %g:%a group/d)" = 1234:2755 ]
        alice chmod 2775 group/f; [ "$(stat -c %a group/f)" = 775 ]
        # Set-id bits go when another writes, cuts, allocates or opens with O_TRUNC; root's writes leave them.
        for how in 'echo x >> shared/s' 'truncate -s 1 shared/s' 'fallocate -l 9 shared/s' ': > shared/s'; do
          alice sh -c 'echo text > shared/s; chmod 6777 shared/s'; [ "$(stat -c %a shared/s)" = 6777 ]
          mallory sh -c "$how"; [ "$(stat -c %a shared/s)" = 777 ] || { echo "$how"; exit 1; }
        done
        alice chmod 6777 shared/s; echo root >> shared/s; [ "$(stat -c %a shared/s)" = 6777 ]
        # The same of a file that the kernel writes to itself.
        alice sh -c 'head -c 300000 /dev/zero > shared/b; chmod 6777 shared/b'
        mallory dd if=/dev/zero of=shared/b bs=1 count=1 conv=notrunc status=none; [ "$(stat -c %a shared/b)" = 777 ]
        alice chmod 6777 shared/b; dd if=/dev/zero of=shared/b bs=1 count=1 conv=notrunc status=none
        [ "$(stat -c %a shared/b)" = 6777 ]; mallory sh -c ': > shared/b'; [ "$(stat -c %a:%s shared/b)" = 777:0 ]
        # A list that names mallory.
        alice setfacl -m u:$MALLORY:--- shared/a; no mallory cat shared/a
        alice setfacl -m u:$MALLORY:r-- shared/a; mallory cat shared/a > /dev/null; no mallory sh -c 'echo x >> shared/a'
        alice setfacl -d -m u:$MALLORY:rwx shared/d; alice setfacl -m u:$MALLORY:rwx shared/d
        alice touch shared/d/in; mallory sh -c 'echo x > shared/d/in'; mallory touch shared/d/own
        # SOURCE's files are as they are, and whoever may not write to them there may not here.
        no mallory sh -c 'echo x >> file'; [ "$(cat file)" = text ]; echo more >> file; [ "$(wc -l < file)" = 2 ]
        cd ../..; [ "$(cat root/source/file)" = text ]; [ "$(ls root/source)" = file ]
        bounded "$DATALESS" unmount root/volume
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func mountStatusAndUnmountSayWhatIsForgotten() async throws {
      try await withVolume(
        ["--scratch"],
        source: { scratch in
          try await scratch.shell("mkdir d; echo one > one; echo two > two; echo three > d/three")
        }
      ) { volume in
        #expect(volume.mounted.text.contains("(writable)"))
        #expect(volume.mounted.text.contains("all changes are forgotten at unmount"))
        var status = try await volume.status()
        #expect(status["read_only"]?.bool == false && status["options"]?["scratch"]?.bool == true)
        #expect(status["changes"]?["dirty_files"]?.int == 0 && status["changes"]?["names_made"]?.int == 0)
        try await volume.scratch.shell(
          """
          cd "$MOUNT"; echo more >> one; echo new > new; mkdir made; mv two made/moved; rm d/three; touch empty
          """)
        status = try await volume.status()
        let changes = try #require(status["changes"])
        // one and new are written, made, made/moved, new and empty are made, two and d/three are gone.
        #expect(changes["dirty_files"]?.int == 2 && changes["dirty_bytes"]?.int == 13, "\(changes)")
        #expect(changes["names_made"]?.int == 4 && changes["names_removed"]?.int == 2, "\(changes)")
        let text = try await volume.dataless("status", volume.mountpoint).text
        #expect(text.contains("writable; all changes are forgotten at unmount"))
        #expect(text.contains("2 files written (13 B), 4 names made, 2 names removed"), "\(text)")
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded)
        #expect(unmounted.errorText.contains("forgotten: 2 files written (13 B), 4 names made, 2 names removed"))
        let last = try #require(try volume.log.records(ofType: "volume.unmounted").last)
        #expect(last["changes"]?["names_removed"]?.int == 2)
        #expect(!unmounted.errorText.contains("attributes"))
        // All as it was, for SOURCE and for the next mount.
        let again = try await volume.scratch.mount(["--scratch"])
        #expect(try await run(["ls", again.mountpoint]).lines == ["d", "one", "two"])
        #expect(try await run(["cat", again.path("one")]).text == "one\n")
        let nothing = try await again.json("unmount", again.mountpoint)
        #expect(nothing["dropped"]?["names_made"]?.int == 0)
      }
    }

    @Test func attributesThatAreForgottenAreCounted() async throws {
      try await withVolume(
        ["--scratch"], source: { scratch in try await scratch.shell("mkdir d; echo one > one; echo two > two") }
      ) { volume in
        try await volume.scratch.shell(
          "cd \"$MOUNT\"; chmod 600 one; chmod 700 d; python3 -c 'import os; os.setxattr(\"two\", \"user.x\", b\"1\")'")
        let changes = try #require(try await volume.status()["changes"])
        #expect(changes["other_attributes"]?.int == 3 && changes["dirty_files"]?.int == 0, "\(changes)")
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.errorText.contains("3 items with other attributes"), "\(unmounted.errorText)")
      }
    }

    @Test func mountSaysWhatBecomesOfChanges() async throws {
      try await withScratch { scratch in
        try scratch.file("a", size: 10)
        let cases: [(options: [String], changes: String)] = [
          ([], "refused"), (["--scratch"], "forgotten"), (["--state", scratch.root + "/state"], "kept"),
        ]
        for (options, changes) in cases {
          let volume = try await scratch.mount(options + ["--json"])
          #expect(try JSON(parsing: volume.mounted.output)["changes"]?.string == changes)
          #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        }
      }
    }

    @Test(.enabled(if: Machine.isRoot, "a small file system can only be mounted by root"))
    func aFullCacheAnswersENOSPCAndWhatWasWrittenStays() async throws {
      try await withScratch { scratch in
        try scratch.file("large", size: 3_000_000)
        try await scratch.shell(#"mkdir "$CACHE"; mount -t tmpfs -o size=2m,mode=700 none "$CACHE""#)
        _ = try await scratch.mount(["--scratch"])
        try await scratch.shell(
          Self.prelude + """
            no dd if=/dev/zero of=file bs=4k count=1000 2> ../errors; grep -q 'No space left' ../errors
            size=$(stat -c %s file); [ $size -gt 1000000 ]; [ $size -le 2097152 ]; [ "$(wc -c < file)" = $size ]
            no fallocate -l 3m other 2> ../errors; grep -q 'No space left' ../errors
            # The content that was to be written to cannot be fetched: the write fails, and nothing has changed.
            no head -c 1 /dev/zero >> large 2> ../errors; grep -q 'No space left' ../errors; [ "$(stat -c %s large)" = 3000000 ]
            rm file other; echo text > again; [ "$(cat again)" = text ]
            [ "$(stat -f -c %b .)" -gt 0 ]
            """)
      }
    }
  }
}
