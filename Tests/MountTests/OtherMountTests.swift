import Glibc
import Testing

extension RealMounts {
  /// Other file systems that are mounted on a volume.
  @Suite(.enabled(if: Machine.isRoot)) struct OtherMounts {
    private static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell(
        """
        mkdir -p place/below dir/inner tree/sub; echo volume > place/below/z; echo i > dir/inner/i; echo t > tree/sub/t
        for i in {1..3}; do echo $i > f$i; done; ln -s place way; ln -s dir/inner short; ln -s /etc out
        mkdir -p "$ROOT/other/below"; echo other > "$ROOT/other/below/z"
        """)
    }

    private func mount(on volume: Volume) async throws {
      try await volume.scratch.shell(
        """
        ls -R "$MOUNT" > /dev/null
        for place in place dir/inner; do mount --bind "$ROOT/other" "$MOUNT/$place"; done
        """)
    }

    private func expectMounted(_ volume: Volume, after what: String) async throws {
      let seen = try await volume.scratch.shell(#"cd "$MOUNT"; cat place/below/z dir/inner/below/z 2>&1 || true"#)
      #expect(seen == "other\nother\n", "\(what)")
    }

    private func unmount(_ volume: Volume) async throws {
      try await volume.scratch.shell(#"umount "$MOUNT/place"; umount "$MOUNT/dir/inner""#)
    }

    /// Stale names are looked up again; the kernel would detach what is mounted on one that is dropped.
    @Test func theyStayWhateverBecomesOfTheRest() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await mount(on: volume)
        try await volume.scratch.shell(#"cat "$MOUNT/f1" "$MOUNT/f2" > /dev/null"#)
        for arguments in [
          ["evict", volume.path("f1")], ["remove", volume.path("f1")], ["remove", volume.path("tree")],
        ] {
          let answer = try await run([Machine.dataless] + arguments)
          #expect(answer.succeeded, "\(arguments): \(answer.errorText)")
          try await expectMounted(volume, after: "\(arguments)")
        }
        try await volume.scratch.shell(#"rm f2; echo new > f4; echo new > dir/new; rm -r tree"#)
        #expect(try await volume.dataless("refresh", volume.mountpoint).succeeded)
        try await expectMounted(volume, after: "refresh")
        let seen = try await volume.scratch.shell(#"cd "$MOUNT"; ls; cat dir/new f4"#)
        #expect(seen == "dir\nf3\nf4\nout\nplace\nshort\nway\nnew\nnew\n")
        _ = try await volume.dataless("evict", volume.mountpoint)
        try await expectMounted(volume, after: "evict of all")
        try await unmount(volume)
        #expect(try await volume.scratch.shell(#"cat "$MOUNT/place/below/z""#) == "volume\n")
      }
    }

    /// What was looked for in vain before, and could not be dropped meanwhile.
    @Test func absentNamesAreLookedUpAgainWhenTheyHaveGone() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await volume.scratch.shell(#"ls -R "$MOUNT" > /dev/null; ! cat "$MOUNT/dir/new" 2> /dev/null"#)
        try await mount(on: volume)
        try await volume.scratch.shell("echo new > dir/new")
        _ = try await volume.dataless("evict", volume.path("dir"))
        try await unmount(volume)
        #expect(try await volume.dataless("refresh", volume.mountpoint).succeeded)
        #expect(try await volume.scratch.shell(#"cat "$MOUNT/dir/new""#) == "new\n")
      }
    }

    /// Callers do not see what lies under a mountpoint: no link leads a command there.
    @Test func linksDoNotLeadUnderThem() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await mount(on: volume)
        for path in ["way/below/z", "short/i"] {
          for command in ["remove", "materialize", "evict", "pin"] {
            let answer = try await volume.dataless(command, volume.path(path))
            #expect(answer.status == 1 && answer.errorText.contains("EXDEV"), "\(command) \(path): \(answer.errorText)")
          }
        }
        try await unmount(volume)
        #expect(try await volume.scratch.shell(#"cd "$MOUNT"; cat way/below/z short/i"#) == "volume\ni\n")
      }
    }

    /// What leads nowhere does not stop the rest.
    @Test func theOtherPathsAreServed() async throws {
      try await withVolume(source: Self.tree) { volume in
        for command in ["materialize", "evict", "refresh"] {
          let paths = ["f1", "out/passwd", "f2"].map { volume.path($0) }
          let answer = try await run([Machine.dataless, command] + paths)
          #expect(answer.status == 1 && answer.errorText.contains("EXDEV"), "\(command): \(answer.errorText)")
          let state = try await volume.json("ls", volume.path("f2"))["state"]?.string
          #expect(state == (command == "materialize" ? "resident" : "dataless"))
        }
      }
    }
  }
}
