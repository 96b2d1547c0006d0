import Glibc
import Testing

extension RealMounts {
  /// Large files that the kernel writes to itself, past the volume.
  @Suite(.enabled(if: Machine.isRoot, "passthrough needs root"))
  struct PassthroughWriting {
    /// `opens`: the numbers of passthrough opens now and since the mount.
    private static let prelude = #"""
      set -e; cd "$MOUNT"; no() { if "$@"; then return 1; fi; }
      field() {
        "$DATALESS" status --json . | tr -d ' \n' | sed "s/.*\"$1\":{\([^}]*\)}.*/\1/" | tr , '\n' |
          sed -n 's/"passthrough"://p'
      }

      """#

    private static func tree(_ scratch: Scratch) throws {
      for name in ["large", "other"] { try scratch.file(name, size: 300_000) }
    }

    @Test func largeFilesAreReadAndWrittenByTheKernel() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        try await volume.scratch.shell(
          Self.prelude + """
            "$DATALESS" materialize large other > /dev/null
            exec 3< large; [ "$(field now)" = 1 ]; "$DATALESS" ls large | grep -q resident
            exec 4<> large; [ "$(field now)" = 2 ]; "$DATALESS" ls large | grep -q dirty
            no "$DATALESS" evict large 2> /dev/null
            printf WRITTEN | dd of=large bs=1 seek=1000 conv=notrunc status=none
            [ "$(dd bs=1 skip=1000 count=7 status=none <&3)" = WRITTEN ]
            head -c 100000 /dev/zero >> large; [ "$(stat -c %s large)" = 400000 ]
            [ "$(ls -l large | cut -d' ' -f5)" = 400000 ]
            truncate -s 5000 large; [ "$(wc -c < large)" = 5000 ]; : > large; [ "$(stat -c %s large)" = 0 ]
            exec 3<&- 4>&-; [ "$(cat large | wc -c)" = 0 ]
            # What is small, or has just been made, comes to the volume.
            head -c 200000 /dev/zero > made; head -c 1000 /dev/zero > small; exec 5<> small; [ "$(field now)" = 0 ]
            exec 6<> made; [ "$(field now)" = 1 ]; exec 5>&- 6>&-; rm made small
            """)
        let status = try await volume.status()
        #expect(status["changes"]?["dirty_files"]?.int == 1)
        let text = try #require(try volume.log.records(ofType: "item.written").first { $0["path"]?.string == "large" })
        #expect(
          text["size"]?.int == 300_000 && text.object["bytes"] == .null && text.object["calls"] == .null, "\(text)")
      }
    }

    @Test func aQuotaHasAllWritesComeToTheVolume() async throws {
      try await withVolume(["--scratch", "--quota", "100M"], source: Self.tree) { volume in
        try await volume.scratch.shell(
          Self.prelude + """
            "$DATALESS" materialize large > /dev/null; exec 3<> large; [ "$(field now)" = 0 ]; exec 3>&-
            head -c 100000 /dev/zero >> large; [ "$(field since_mount)" = 0 ]
            """)
      }
    }

    /// Nothing more can be kept: a call that fails has changed nothing.
    @Test func anOpenThatFailsOnAFullDiskHasEmptiedNothing() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let state = "\(scratch.root)/state"
        #expect(mkdir(state, 0o700) == 0)
        try await scratch.shell("mount -t tmpfs -o size=400k,mode=700 none '\(state)'")
        let volume = try await scratch.mount(["--state", state, "--profile", "windows"])
        try await scratch.shell(
          Self.prelude + """
            # As if the catalog's log had never had room beyond its end, and others had used up the disk since.
            truncate -s 0 "$ROOT/state/catalog.sqlite-wal"
            head -c 1000000 /dev/zero > "$ROOT/state/filler" 2> /dev/null || true
            no dd if=/dev/zero of=large count=1 status=none 2> "$ROOT/words"; grep -q 'No space left' "$ROOT/words"
            [ "$(stat -c %s large)" = 300000 ]; "$DATALESS" ls large | grep -q dataless
            mount -o remount,size=8m "$ROOT/state"; cmp large "$SOURCE/large"
            # With room it is emptied.
            : > other; [ "$(stat -c %s other)" = 0 ]
            """)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        try await scratch.shell("umount '\(state)'")
      }
    }

    /// What is written past the volume is written to the content file, whatever becomes of the daemon.
    @Test(arguments: ["fsync", "notrunc"]) func whatIsWrittenIsThereAfterTheDaemonWasKilled(flush: String) async throws
    {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let options = ["--state", "\(scratch.root)/state"]
        var volume = try await scratch.mount(options)
        try await scratch.shell(
          Self.prelude + """
            "$DATALESS" materialize large > /dev/null
            printf WRITTEN | dd of=large bs=1 seek=1000 conv=notrunc,\(flush) status=none
            head -c 100000 /dev/zero | tr '\\0' x > "$ROOT/more"
            dd if="$ROOT/more" of=large bs=100000 oflag=append,nonblock conv=notrunc,\(flush) status=none
            [ "$(field since_mount)" = 2 ]
            """)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        volume = try await scratch.mount(options)
        let text = try await scratch.shell(
          "cd \"$MOUNT\"; dd if=large bs=1 skip=1000 count=7 status=none; stat -c ' %s' large; tail -c 2 large")
        #expect(text == "WRITTEN 400000\nxx")
        #expect(try await volume.status()["changes"]?["dirty_files"]?.int == 1)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
      }
    }
  }
}
