import Glibc
import Testing

extension RealMounts {
  /// A disk that is full: of content, or of log.
  @Suite(.enabled(if: Machine.isRoot, "a small file system can only be mounted by root")) struct FullDisk {
    @Test func aFullCacheAnswersENOSPCAndKeepsNoHalfFile() async throws {
      try await withScratch { scratch in
        try scratch.file("small", size: 50_000)
        try scratch.file("large", size: 3_000_000)
        try scratch.file("small too", size: 50_000)
        try await scratch.shell(#"mkdir "$CACHE"; mount -t tmpfs -o size=1m,mode=700 none "$CACHE""#)
        let volume = try await scratch.mount()
        let small = try await volume.read("small")
        #expect(small.outcome == "ok")
        for _ in 0..<3 {
          let large = try await volume.read("large")
          #expect(large.outcome == "ENOSPC" && large.bytes == 0, "\(large)")
        }
        let items = try await volume.list()
        #expect(items["large"]?["state"]?.string == "dataless")
        #expect(items["large"]?["local_bytes"]?.int ?? 0 == 0)
        // What the failed attempts had written is free again.
        let other = try await volume.read("small too")
        let hash = try await volume.sourceHash("small too")
        #expect(other.hash == hash)
        let finished = try await volume.records().filter { $0["outcome"]?.string == "ENOSPC" }
        #expect(finished.contains { $0["type"]?.string == "materialization.finished" })
        #expect(finished.compactMap { $0["message"]?.string }.contains { !$0.isEmpty })
      }
    }

    /// Each of these files has a name, and no content; and the room of what is removed is there at once.
    @Test func whatIsMadeOnAFullStateDiskLeavesRoomForRemovals() async throws {
      try await withScratch { scratch in
        let state = "\(scratch.root)/state"
        #expect(mkdir(state, 0o700) == 0)
        try await scratch.shell(
          "mkdir d; touch d/f{1..200}; mount -t tmpfs -o size=24m,mode=700 none '\(state)'")
        var volume = try await scratch.mount(State.state(scratch))
        let text = try await scratch.shell(
          """
          cd "$MOUNT"; head -c 8000000 /dev/urandom > kept; sync kept; head -c 100000000 /dev/zero > big 2> /dev/null || true
          i=0; while [ $i -lt 40 ]; do echo text > no$i || true; i=$((i + 1)); done 2> /dev/null
          made=0; for name in $(seq -f %0200.0f 9000); do : > $name || break; made=$((made + 1)); done 2> /dev/null; echo $made
          chmod 600 d/f1 2>&1 || true; rm big; rm -r d; head -c 4000000 /dev/zero > after; sync after; ls | wc -l
          """)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].contains("No space left"), "\(text)")
        let made = lines.first.flatMap { Int($0) } ?? 0
        #expect(made > 500 && made < 9000, "\(text)")
        #expect(try await volume.status()["warnings"]?.array.isEmpty == true)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await volume.dataless("unmount", volume.mountpoint)
        let checked = try await MountTests.run([Machine.dataless, "check", state, "--json"])
        #expect(checked.succeeded, "\(checked.text)")
        volume = try await scratch.mount(State.state(scratch))
        let left = try await scratch.shell(#"cd "$MOUNT"; ls | wc -l; stat -c %s kept after"#)
        #expect(left == "\(lines.last ?? "")\n8000000\n4000000\n")
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        try await scratch.shell("umount '\(state)'")
      }
    }

    /// A report and a baseline are there whole or not at all, and what is missing is told.
    @Test func reportsAndBaselinesOnAFullDiskAreSaidToBeMissing() async throws {
      try await withScratch { scratch in
        for index in 0..<40 { try scratch.file("file-\(index)", size: 100) }
        try await scratch.shell(#"mkdir "$ROOT/full"; mount -t tmpfs -o size=16k,mode=700 none "$ROOT/full""#)
        func run(_ options: [String]) async throws -> Finished {
          try await Running.run(scratch, options + ["--", "sh", "-c", "cat {}/* > /dev/null"])
        }
        let reported = try await run(["--report", "html=\(scratch.root)/full/r.html"])
        #expect(reported.status == 125, "\(reported.errorText)")
        #expect(
          reported.errorText.contains("(ENOSPC). Make room there, or name a file elsewhere."), "\(reported.errorText)")
        // What the page did not need is free again.
        try await scratch.shell(#"test -z "$(ls -A "$ROOT/full")"; head -c 12k /dev/zero > "$ROOT/full/other""#)
        try await scratch.shell(
          #"printf 'dataless baseline 1\nfile file-0\n' > "$ROOT/full/b"; head -c 9k /dev/zero >> "$ROOT/full/other" || true"#
        )
        let updated = try await run(["--baseline", "\(scratch.root)/full/b", "--update-baseline"])
        #expect(updated.status == 125 && updated.errorText.contains("(ENOSPC)"), "\(updated.errorText)")
        #expect(try await scratch.shell(#"cat "$ROOT/full/b""#) == "dataless baseline 1\nfile file-0\n")
        #expect(try await scratch.shell(#"ls -A "$ROOT/full""#) == "b\nother\n")
      }
    }

    @Test func aFullLogStallsNoReaderAndTheLossIsCounted() async throws {
      try await withScratch { scratch in
        for index in 0..<400 { try scratch.file("file-\(index)", size: 5000) }
        try await scratch.shell(#"mkdir "$ROOT/logs"; mount -t tmpfs -o size=64k,mode=700 none "$ROOT/logs""#)
        let log = scratch.root + "/logs/log.jsonl"
        let mounted = try await scratch.tryMount(log: log)
        try #require(mounted.succeeded, "\(mounted.errorText)")
        let volume = Volume(scratch: scratch, mounted: mounted)
        let read = try await run(["bash", "-c", "cat \"$0\"/* | wc -c", volume.mountpoint], timeLimit: .seconds(30))
        #expect(read.text == "2000000\n")
        // Has the writer meet the full disk before it is asked what is lost.
        _ = try await volume.dataless("summary", volume.mountpoint)
        let status = try await volume.status()
        #expect(status["materialized"]?["files"]?.int == 400)
        #expect(try #require(status["log_dropped"]?.int) > 0)
        for target in [volume.mountpoint, log] {
          let summary = try await volume.dataless("summary", target)
          #expect(summary.text.contains("incomplete"), "\(summary.text)")
        }
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded, "\(unmounted.errorText)")
        let records = try LogFile(path: log).records()
        #expect(records.first?["type"]?.string == "volume.mounted")
      }
    }
  }
}
