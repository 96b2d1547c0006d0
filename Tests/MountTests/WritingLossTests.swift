import Glibc
import Testing

extension RealMounts {
  /// Writers whose daemon, store or disk is gone, or hangs.
  @Suite struct WritingLosses {
    private static func tree(_ scratch: Scratch) throws {
      try scratch.file("slow", size: 200_000)
      for index in 1...5 { try scratch.file("f\(index)", size: 3000) }
    }

    /// 50 programs that write without end, each a file of its own and names beside it. - Returns: When all have begun.
    private static func writers(_ volume: Volume) async throws -> Child {
      let writers = try Child(
        [
          "bash", "-c",
          """
          cd "$0"; for i in {1..50}; do
            (for ((n = 0; ; n++)); do echo "$n" >> w$i && mv w$i v$i && mv v$i w$i || exit 1; [ $n != 3 ] || echo begun; done) &
          done 2> /dev/null; wait; echo ended
          """, volume.mountpoint,
        ], timeLimit: .seconds(60))
      for _ in 0..<50 { try #require(await writers.line(where: { $0 == "begun" }) != nil) }
      return writers
    }

    @Test func theDaemonIsKilledUnderFiftyWriters() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        let before = try await WritingDataless.source(volume)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let writers = try await Self.writers(volume)
        try await volume.scratch.shell(#"echo changed > "$MOUNT/f1"; rm "$MOUNT/f2""#)
        kill(pid_t(daemon), SIGKILL)
        let finished = await writers.wait()
        #expect(!finished.timedOut && !finished.stuck, "no writer hangs")
        // A dead volume is told, and gone with the next mount; what it had is forgotten, and swept.
        let again = try await volume.scratch.mount(["--scratch"])
        #expect(try await run(["ls", again.mountpoint]).lines == ["f1", "f2", "f3", "f4", "f5", "slow"])
        #expect(try await again.sourceHash("f1") == again.read("f1").hash)
        #expect(Machine.mounts().count { $0.point == volume.mountpoint } == 1)
        Metadata.expectEqual(try await WritingDataless.source(volume), before)
        let sessions = try await volume.scratch.shell(#"ls "$CACHE" | wc -l"#)
        #expect(sessions == "1\n", "only the living daemon's: \(sessions)")
      }
    }

    @Test func unmountUnderFiftyWritersEnds() async throws {
      try await withVolume(["--scratch"], source: Self.tree) { volume in
        let writers = try await Self.writers(volume)
        let unmounted = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(20))
        #expect(unmounted.succeeded && unmounted.duration < .seconds(10), "\(unmounted.errorText)")
        let finished = await writers.wait()
        #expect(!finished.timedOut && !finished.stuck)
      }
    }

    /// A SOURCE that does not answer at all, as a server that is gone: the process that serves it is stopped.
    @Test(.enabled(if: Machine.isRoot, "mounts another file system as SOURCE"))
    func aStoreThatHangsUnderAFirstWriteHoldsNobodyElse() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir ../backing")
        // One for each writer: the kernel lets those of one file wait for its lock, which no signal ends.
        let slow = (0..<8).map { "slow\($0)" }
        for name in slow + ["local", "gone"] { try scratch.file("../backing/\(name)", size: 200_000) }
        let server = try Child(
          [try await ForeignSources.program.path(), "cached", "\(scratch.root)/backing", scratch.source],
          timeLimit: .seconds(120))
        try #require(await server.line() == "ready")
        let volume = try await scratch.mount(["--scratch"])
        try await scratch.shell(#"cat "$MOUNT/local" > /dev/null; ls "$MOUNT" > /dev/null"#)
        server.stop()
        let stuck = try slow.map { name in
          try Child(["sh", "-c", "echo x >> \"$0\"", volume.path(name)], timeLimit: .seconds(60))
        }
        try await volume.log.waitForWaiters(stuck.count, trigger: "write")
        // Whoever waits can be killed; everything local goes on.
        for writer in stuck[1...] {
          kill(-writer.pid, SIGKILL)
          let killed = await writer.wait()
          #expect(killed.signal == SIGKILL && !killed.stuck)
        }
        let local = try await run(
          [
            "bash", "-euc",
            """
            cd "$0"; echo more >> local; mkdir d; echo new > d/new; mv gone d/moved; stat -f . > /dev/null
            [ "$(cat d/new)" = new ]; [ "$(stat -c %s local)" = 200005 ]; truncate -s 10 local; [ "$(wc -c < local)" = 10 ]
            """, volume.mountpoint,
          ], timeLimit: .seconds(20))
        #expect(local.succeeded, "\(local.shellStatus) \(local.errorText)")
        let unmounted = try await volume.dataless("unmount", volume.mountpoint, timeLimit: .seconds(20))
        #expect(unmounted.succeeded && unmounted.duration < .seconds(10), "\(unmounted.errorText)")
        let last = await stuck[0].wait()
        #expect(!last.timedOut && last.status != 0, "\(last.shellStatus) \(last.errorText)")
        server.signal(SIGCONT)
        _ = try await run(["umount", "-l", scratch.source])
        await server.wait()
      }
    }

    /// A daemon that was started under a limit on the size of files (RLIMIT_FSIZE) answers EFBIG, and lives.
    @Test func aLimitOnTheSizeOfFilesIsAnErrnoAndNotTheEnd() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 1000)
        let mounted = try await run(
          [
            "bash", "-c", #"ulimit -f 2048; exec "$@""#, "mount", Machine.dataless, "mount", "--scratch", "--log",
            scratch.log.path, "--cache-dir", scratch.cache, scratch.source, scratch.mountpoint,
          ])
        #expect(mounted.succeeded, "\(mounted.errorText)")
        try await scratch.shell(
          Writing.prelude + """
            no dd if=/dev/zero of=large bs=1M count=4 2> ../errors; grep -q 'File too large' ../errors
            [ "$(stat -c %s large)" = 2097152 ]; no truncate -s 3M large 2> ../errors; no fallocate -l 3M other 2> ../errors
            echo small > small; [ "$(cat small)" = small ]
            """)
      }
    }

    /// Room for, and holes in, more than a request thread should do by itself; and what is cut off of it.
    @Test func longChangesAreMadeBesideTheRequests() async throws {
      try await withVolume(["--scratch"], source: { try $0.file("file", size: 1000) }) { volume in
        try await volume.scratch.shell(
          Writing.prelude + """
            fallocate -l 64M long; [ "$(stat -c %s long)" = 67108864 ]; fallocate -p -o 0 -l 40M long
            printf end | dd of=long bs=1 seek=67108861 conv=notrunc status=none; [ "$(tail -c 3 long)" = end ]
            fallocate -z -o 1M -l 50M long; truncate -s 20M long; [ "$(stat -c %s long)" = 20971520 ]
            truncate -s 1T long; [ "$(stat -c %s long)" = 1099511627776 ]; : > long; [ "$(stat -c %s long)" = 0 ]
            fallocate -o 900 -l 20M file; [ "$(stat -c %s file)" = 20972420 ]; [ "$(head -c 1000 file | cksum)" = "$(cksum < "$SOURCE/file")" ]
            no fallocate -o 9223372036854775000 -l 1000 long 2> ../errors; grep -q 'File too large' ../errors
            """)
      }
    }
  }
}
