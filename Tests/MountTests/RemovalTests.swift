import Glibc
import Testing

extension RealMounts {
  /// `dataless remove`: trees that go at once.
  @Suite struct Removals {
    private static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell(
        """
        mkdir -p t/d/e keep; for i in {1..300}; do echo "$i" > t/d/f$i; done; echo deep > t/d/e/deep; echo keep > keep/file
        head -c 300000 /dev/urandom > t/large; mkdir t/unread; echo unread > t/unread/file
        """)
    }

    /// Waits until what was removed is given back.
    private func wait(for volume: Volume) async throws {
      while try await volume.status()["trash"] != nil {}
    }

    @Test func aTreeIsGoneAtOnce() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        let mount = volume.mountpoint
        try await volume.scratch.shell(
          #"cd "$MOUNT"; cat t/d/f* t/d/e/deep t/large > /dev/null 2>&1; echo dirty > t/new; ln keep/file t/link; ls -lR t/d > /dev/null"#
        )
        let holder = try await volume.scratch.startProbe("hold", "read", volume.path("t/d/f7"))
        #expect(await holder.line()?.hasPrefix("outcome=ok") == true)
        let removed = try await volume.dataless("remove", volume.path("t"), "--json")
        #expect(removed.succeeded, "\(removed.errorText)")
        #expect(
          removed.text.contains(#""dirty_items":1"#) && removed.text.contains(#""first_dirty":"t/new""#),
          "\(removed.text)")
        #expect(removed.text.contains(#""items":308"#), "\(removed.text)")
        let seen = try await volume.scratch.shell(
          #"cd "$MOUNT"; ls; cat keep/file; stat -c %h keep/file; mkdir t; ls t"#)
        #expect(seen == "keep\nkeep\n1\nt\n".replacing("\nt\n", with: "\n"))
        try await wait(for: volume)
        // One file is still open.
        #expect(try await volume.status()["items"]?["local_bytes"]?.int ?? .max <= 8192)
        holder.closeInput()
        await holder.wait()
        let records = try await volume.records().filter { $0["type"]?.string == "item.removed" }
        #expect(records.map { $0["path"]?.string } == ["t"])
        #expect(records.first?["items"]?.int == 308 && records.first?["dirty_items"]?.int == 1)
        #expect(
          try await run(["sh", "-c", "ls '\(volume.scratch.source)/t/unread'"]).text == "file\n", "SOURCE has it")
        #expect(try await volume.dataless("unmount", "--wait", mount).succeeded)
      }
    }

    @Test func whatRmCouldNotRemoveIsRefused() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        for (path, errno) in [("", "EBUSY"), ("t/nowhere", "ENOENT"), ("t/large/x", "ENOTDIR"), ("t/..", "EINVAL")] {
          let answer = try await volume.dataless("remove", volume.path(path))
          #expect(answer.status == 1 && answer.errorText.contains(errno), "\(path): \(answer.errorText)")
        }
        let both = try await volume.dataless("remove", volume.path("t"), volume.path("nowhere"))
        #expect(both.status == 1 && both.errorText.contains("nowhere"), "\(both.errorText)")
        #expect(try await volume.scratch.shell(#"ls "$MOUNT""#) == "keep\nt\n")
        guard Machine.isRoot else { return }
        try await volume.scratch.shell(#"mount -t tmpfs none "$MOUNT/t/d/e""#)
        let crossing = try await volume.dataless("remove", volume.path("t"))
        #expect(crossing.status == 1 && crossing.errorText.contains("EBUSY"), "\(crossing.errorText)")
        try await volume.scratch.shell(#"umount "$MOUNT/t/d/e""#)
        #expect(try await volume.dataless("remove", volume.path("t")).succeeded)
      }
      try await withVolume(source: Self.tree) { volume in
        let answer = try await volume.dataless("remove", volume.path("t"))
        #expect(answer.status == 1 && answer.errorText.contains("EROFS"), "\(answer.errorText)")
      }
    }

    @Test(.enabled(if: Machine.isRoot)) func aBindMountOfAPartIsAMountpoint() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await volume.scratch.shell(#"mkdir "$ROOT/part"; mount --bind "$MOUNT/t/d" "$ROOT/part""#)
        let part = volume.scratch.root + "/part"
        let answer = try await volume.dataless("remove", part)
        #expect(answer.status == 1 && answer.errorText.contains("EBUSY"), "\(answer.errorText)")
        #expect(try await volume.dataless("remove", part + "/f1").succeeded, "what is in it is on the volume")
        try await volume.scratch.shell(#"umount "$ROOT/part""#)
        #expect(try await volume.scratch.shell(#"ls "$MOUNT/t/d" | wc -l"#) == "300\n")
      }
    }

    @Test func aSlashBehindALinkAndTheRootAreRefusedByName() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await volume.scratch.shell(#"ln -s t "$MOUNT/link"; ls -l "$MOUNT" "$MOUNT/t" > /dev/null"#)
        let link = try await volume.dataless("remove", volume.path("link") + "/")
        #expect(link.status == 1 && link.errorText.contains("not a directory (ENOTDIR)"), "\(link.errorText)")
        let through = try await volume.dataless("remove", volume.path("link/large") + "/")
        #expect(through.status == 1 && through.errorText.contains("not a directory (ENOTDIR)"), "\(through.errorText)")
        let root = try await volume.dataless("remove", volume.mountpoint)
        #expect(root.status == 1 && root.errorText.contains("'\(volume.mountpoint)'"), "\(root.errorText)")
        #expect(try await volume.scratch.shell(#"ls "$MOUNT""#) == "keep\nlink\nt\n")
        #expect(try await volume.dataless("remove", volume.path("t") + "/", volume.path("link")).succeeded)
      }
    }

    @Test func whoeverIsInItIsInARemovedDirectory() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        let text = try await volume.scratch.shell(
          """
          cd "$MOUNT/t/d"; ls > /dev/null; '\(Machine.dataless)' remove "$MOUNT/t" > /dev/null
          for call in 'ls -U e' 'cat f1' 'touch new' 'mkdir new' 'mv f2 "$MOUNT/x"'; do
            if eval "$call" > /dev/null 2> "$MOUNT/../said"; then echo "done: $call"; fi
            grep -q 'No such file' "$MOUNT/../said" || { echo "$call"; cat "$MOUNT/../said"; }
          done; ls "$MOUNT"
          """)
        #expect(text == "keep\n")
      }
    }

    @Test func aRemovedTreeStaysRemovedAfterACrash() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let options = State.state(scratch)
        var volume = try await scratch.mount(options)
        try await scratch.shell(
          #"cd "$MOUNT"; cat t/d/f* t/d/e/deep t/large > /dev/null 2>&1; echo dirty > t/new; sync t/new; mv t/d/f9 keep/moved"#
        )
        let full = try await volume.status()["items"]?["local_bytes"]?.int ?? 0
        #expect(full > 1_000_000)
        #expect(try await volume.dataless("remove", volume.path("t")).succeeded)
        // A directory that is flushed has everything before it on the disk.
        try await scratch.shell(#"sync "$MOUNT""#)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        volume = try await scratch.mount(options)
        #expect(try await scratch.shell(#"cd "$MOUNT"; ls; cat keep/moved"#) == "keep\n9\n")
        // Also what nobody knows before it was looked for.
        #expect(try await volume.dataless("unmount", "--wait", volume.mountpoint).succeeded)
        let left = try await MountTests.run(["du", "-sk", "\(scratch.root)/state/content"])
        #expect((left.text.split(separator: "\t").first.flatMap { Int($0) } ?? .max) <= 64, "\(left.text)")
        let checked = try await MountTests.run([Machine.dataless, "check", "\(scratch.root)/state", "--json"])
        #expect(checked.succeeded, "\(checked.text)")
      }
    }
  }
}
