import Glibc
import Testing

extension RealMounts {
  /// Volumes that are kept (`--state`): the next mount has what the last one had.
  @Suite struct State {
    /// All that callers see of the volume, but for access times.
    static let look = """
      cd "$MOUNT"; find . -printf '%p %y %m %U:%G %n %i %s %T@ %l\\n' | sort; find . -type f | sort | xargs cat
      getfattr -R -d -m 'user.' . 2> /dev/null | grep -v '^$'
      """

    static func state(_ scratch: Scratch) -> [String] { ["--state", "\(scratch.root)/state"] }

    static func tree(_ scratch: Scratch) async throws {
      try await scratch.shell(
        """
        mkdir -p d/deep e; for f in a b c d/f d/g d/deep/h e/i; do echo "source $f" > $f; done; ln -s a l
        head -c 3000000 /dev/urandom > large
        """)
    }

    static let changes = """
      cd "$MOUNT"; echo more >> a; echo new > new; mkdir -p made/below; echo x > made/below/x; mv b made/moved
      rm c; mv d/deep e/deep; mv d renamed; ln new made/link; ln -s ../a made/symbolic; chmod 600 e/i
      touch -d '2001-02-03 04:05:06.7' e/i; setfattr -n user.x -v value e/i; mkfifo made/fifo
      head -c 1000000 /dev/zero >> large; truncate -s 100 renamed/g
      """

    @Test func theNextMountIsWhatTheLastWas() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let options = Self.state(scratch)
        var volume = try await scratch.mount(options)
        #expect(volume.mounted.text.contains("changes are kept in"))
        try await scratch.shell(Self.changes)
        let before = try await scratch.shell(Self.look)
        #expect(try await volume.status()["options"]?["state"]?.string == "\(scratch.root)/state")
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        #expect(unmounted.errorText.contains("kept: "), "\(unmounted.errorText)")
        volume = try await scratch.mount(options)
        #expect(try await scratch.shell(Self.look) == before)
        // Nothing that was here is fetched: of seven files, two were not.
        #expect(try await volume.materializedFiles() == 0)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(
          try await run(["sh", "-c", "cd '\(scratch.source)'; cat a; ls"]).text == "source a\na\nb\nc\nd\ne\nl\nlarge\n"
        )
      }
    }

    @Test func whatWasFlushedIsThereAfterTheDaemonWasKilled() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let options = Self.state(scratch)
        var volume = try await scratch.mount(options)
        try await scratch.shell(
          """
          cd "$MOUNT"; mkdir made; echo flushed > made/file; sync made/file made
          printf NEW | dd of=a conv=notrunc,fsync status=none; mv b made/b; sync made .
          """)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        volume = try await scratch.mount(options)
        let text = try await scratch.shell("cd \"$MOUNT\"; cat made/file a made/b; ls")
        #expect(text == "flushed\nNEWrce a\nsource b\na\nc\nd\ne\nl\nlarge\nmade\n")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
      }
    }

    @Test(.enabled(if: Machine.isRoot, "a small file system can only be mounted by root"))
    func changesThatCannotBeKeptAreNotDroppedByUnmount() async throws {
      try await withScratch { scratch in
        let state = "\(scratch.root)/state"
        #expect(mkdir(state, 0o700) == 0)
        try await scratch.shell("echo text > file; mount -t tmpfs -o size=2m,mode=700 none '\(state)'")
        let volume = try await scratch.mount(Self.state(scratch))
        // As if the log had never had room beyond its end, and others had used up the disk since.
        try await scratch.shell(
          """
          truncate -s 0 '\(state)/catalog.sqlite-wal'; head -c 4000000 /dev/zero > '\(state)/filler' 2> /dev/null || true
          cd "$MOUNT"; mkdir made{1..20}
          """)
        let refused = try await volume.dataless("unmount", volume.mountpoint)
        #expect(refused.status == 1 && refused.errorText.contains("ENOSPC"), "\(refused.errorText)")
        #expect(try await volume.status()["warnings"]?.array.isEmpty == false)
        try await scratch.shell("mount -o remount,size=8m '\(state)'")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        let again = try await scratch.mount(Self.state(scratch))
        #expect(try await scratch.shell("ls -d \"$MOUNT\"/made* | wc -l") == "20\n")
        #expect(try await again.dataless("unmount", again.mountpoint).succeeded)
        try await scratch.shell("umount '\(state)'")
      }
    }

    @Test func aStateDirectoryHasOneDaemonAndOneSource() async throws {
      try await withScratch { scratch in
        try await Self.tree(scratch)
        let options = Self.state(scratch)
        let volume = try await scratch.mount(options)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let other = "\(scratch.root)/other"
        #expect(mkdir(other, 0o700) == 0)
        let second = try await scratch.tryMount(options, mountpoint: other, log: "\(scratch.root)/other.log")
        #expect(second.status == 1)
        #expect(second.errorText.contains("EBUSY") && second.errorText.contains("\(daemon)"), "\(second.errorText)")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(mkdir("\(scratch.root)/source2", 0o700) == 0)
        let moved = try await scratch.tryMount(options, source: "\(scratch.root)/source2")
        #expect(moved.status == 1)
        #expect(moved.errorText.contains("EINVAL") && moved.errorText.contains("--state"), "\(moved.errorText)")
        let both = try await scratch.tryMount(options + ["--scratch"])
        #expect(both.status == 2, "\(both.errorText)")
      }
    }
  }
}
