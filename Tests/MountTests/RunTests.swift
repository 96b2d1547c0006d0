import Glibc
import Testing

extension RealMounts {
  /// `dataless run`: one command on a fresh volume.
  @Suite struct Running {
    /// - Parameter starter: A program and its arguments that execute what follows them.
    static func run(
      _ scratch: Scratch, _ arguments: [String], startedBy starter: [String] = [], timeLimit: Duration = .seconds(30)
    ) async throws -> Finished {
      try await MountTests.run(
        starter + [Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache, scratch.source]
          + arguments,
        timeLimit: timeLimit)
    }

    static func tree(_ scratch: Scratch) throws {
      for index in 0..<10 { try scratch.file("file-\(index)", size: 1000) }
    }

    /// No volume of this log's session is mounted any more.
    static func expectNothingMounted(_ scratch: Scratch) throws {
      let mounted = try scratch.log.records(ofType: "volume.mounted")
      #expect(mounted.count == 1)
      for record in mounted {
        let mountpoint = try #require(record["mountpoint"]?.string)
        #expect(!Machine.isMounted(mountpoint))
      }
      #expect(try scratch.log.records(ofType: "volume.unmounted").count == 1)
    }

    @Test(
      arguments: [
        ("true", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("exit 90", 90),
      ] as [(String, Int32)])
    func exitStatusIsTheCommands(script: String, status: Int32) async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let finished = try await Self.run(scratch, ["--", "sh", "-c", script])
        #expect(finished.status == status, "\(finished.errorText)")
        try Self.expectNothingMounted(scratch)
      }
    }

    /// As whoever started us had SIGCHLD: the kernel keeps no status of a child for who ignores it, and wait(2) returns
    /// when the last child has ended, which the daemon does not.
    @Test(arguments: [("true", 0), ("exit 3", 3), ("kill -TERM $$", 143), ("cat $DATALESS_MOUNT/file-1 | wc -c", 0)])
    func withSIGCHLDIgnoredByTheParentTheStatusIsTheCommands(script: String, status: Int32) async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let finished = try await Self.run(
          scratch, ["--", "sh", "-c", script], startedBy: ["env", "--ignore-signal=CHLD"])
        #expect(finished.status == status, "\(finished.errorText)")
        try Self.expectNothingMounted(scratch)
      }
    }

    /// SIGCHLD is signal 17, SIGPIPE 13.
    @Test(arguments: [("", 0), ("CHLD", 0x1_0000), ("PIPE", 0x1000), ("CHLD,PIPE", 0x1_1000)] as [(String, UInt64)])
    func theCommandFindsIgnoredWhatWeFoundIgnored(signals: String, mask: UInt64) async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        // Shells keep SIGCHLD for themselves.
        let start = ["env"] + (signals.isEmpty ? [] : ["--ignore-signal=\(signals)"])
        for command in [["run", scratch.source], ["exec", "--materialize", "default"]] {
          let finished = try await MountTests.run(
            start + [Machine.dataless] + command + ["--", "grep", "SigIgn", "/proc/self/status"])
          let word = try #require(finished.text.split(whereSeparator: \.isWhitespace).last, "\(finished.errorText)")
          // The C library's spawn leaves its own two signals, 32 and 33, ignored.
          #expect(
            UInt64(word, radix: 16).map { $0 & 0xffff_ffff & ~0x8000_0000 } == mask, "\(command) \(finished.text)")
        }
      }
    }

    @Test func aCommandThatCannotBeStartedIs127Or126() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let absent = try await Self.run(scratch, ["--", "no-such-command-anywhere"])
        #expect(absent.status == 127)
        #expect(absent.errorText.contains("no-such-command-anywhere"))
        let plain = try await Self.run(scratch, ["--", "\(scratch.source)/file-1"])
        #expect(plain.status == 126)
      }
    }

    @Test func ourOwnFailureIs125() async throws {
      try await withScratch { scratch in
        let finished = try await MountTests.run([Machine.dataless, "run", scratch.root + "/absent", "--", "true"])
        #expect(finished.status == 125)
        #expect(finished.errorLines.count == 1)
        #expect(finished.errorText.contains("absent"))
      }
    }

    @Test func theMountpointIsPutIntoArgumentsAndEnvironment() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let braces = try await Self.run(
          scratch,
          ["--", "sh", "-c", #"[ "$1" = "$DATALESS_MOUNT/file-1" ] && ls "$2" | wc -l"#, "sh", "{}/file-1", "{}"])
        #expect(braces.status == 0)
        #expect(braces.text == "10\n", "\(braces.text) \(braces.errorText)")
        let other = try await Self.run(
          scratch, ["--replace", "@@", "--", "sh", "-c", #"echo {} "$1""#, "sh", "@@"])
        #expect(other.text.hasPrefix("{} /"), "\(other.text)")
      }
    }

    @Test func theCommandInheritsWhatTheUserGaveAndNothingOfOurs() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let script = "ls -l /proc/self/fd; grep -E 'Sig(Ign|Blk)' /proc/self/status"
        // What the tests' own process has open goes first.
        let start = """
          for fd in /proc/$$/fd/*; do fd=${fd##*/}; if [ $fd -gt 2 ]; then eval "exec $fd>&-"; fi; done
          exec 7< /dev/null; exec "$@"
          """
        let finished = try await MountTests.run([
          "bash", "-c", start, "bash", Machine.dataless, "run", "--log", scratch.log.path,
          "--cache-dir", scratch.cache, scratch.source, "--", "sh", "-c", script,
        ])
        #expect(finished.succeeded, "\(finished.errorText)")
        // But for the directory that ls reads.
        let links = finished.lines.filter { $0.contains(" -> ") && !$0.contains(" -> /proc/") }
        #expect(links.map { $0.split(separator: " ").dropLast(2).last } == ["0", "1", "2", "7"], "\(finished.text)")
        for line in finished.lines where line.hasPrefix("Sig") {
          // The C library's spawn leaves its own two signals, 32 and 33, ignored.
          let signals = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
          #expect(signals.map { $0 & ~0x1_8000_0000 } == 0, "\(line)")
        }
      }
    }

    @Test func summaryAndLogGoToStandardErrorOnly() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let finished = try await Self.run(scratch, ["--", "sh", "-c", "cat {}/file-1 {}/file-2 | wc -c"])
        #expect(finished.text == "2000\n")
        #expect(finished.errorText.contains(scratch.log.path))
        #expect(finished.errorText.contains("2 files"), "\(finished.errorText)")
        #expect(finished.errorText.contains("cat"))
      }
    }

    @Test func anExceededBudgetOfFilesIs90AndNamesWhoseItWas() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let within = try await Self.run(scratch, ["--max-files", "10", "--", "sh", "-c", "cat {}/* > /dev/null"])
        #expect(within.status == 0, "\(within.errorText)")
        try await scratch.shell(#"rm "$LOG""#)
        let beyond = try await Self.run(
          scratch, ["--max-files", "9", "--", "sh", "-c", "cat {}/* > /dev/null; exit 7"])
        #expect(beyond.status == 90, "\(beyond.errorText)")
        #expect(beyond.errorText.contains("9 files") || beyond.errorText.contains("max-files"))
        #expect(beyond.errorText.contains("cat"), "\(beyond.errorText)")
        #expect(beyond.errorText.contains("7"), "the command's own status is in the summary: \(beyond.errorText)")
        let event = try scratch.log.records(ofType: "budget.exceeded").first
        #expect(event?["budget"]?.string == "files")
        #expect(event?["limit"]?.int == 9)
        #expect(event?["used"]?.int == 10)
        #expect(beyond.errorText.contains("10 files materialized, --max-files 9"), "\(beyond.errorText)")
        try Self.expectNothingMounted(scratch)
      }
    }

    /// How many there are in the end, and how many there were when it was first too many.
    @Test func anExceededBudgetSaysHowMuchThereIsInTheEnd() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let beyond = try await Self.run(
          scratch, ["--max-files", "2", "--max-bytes", "4kB", "--", "sh", "-c", "cat {}/* > /dev/null"])
        #expect(beyond.status == 90)
        #expect(beyond.errorText.contains("10 files materialized, --max-files 2; exceeded first by process"))
        #expect(beyond.errorText.contains("at 'file-2', then 3 files."), "\(beyond.errorText)")
        #expect(beyond.errorText.contains("10000 bytes"), "\(beyond.errorText)")
        #expect(beyond.errorText.contains("at 'file-4', then 5000 bytes"), "\(beyond.errorText)")
        // The summary, too; its line is folded somewhere.
        #expect(beyond.errorText.contains("EXCEEDED: 10 of 2 files by cat"), "\(beyond.errorText)")
      }
    }

    @Test func budgetsCountBytesToo() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let within = try await Self.run(
          scratch, ["--max-bytes", "3kB", "--", "sh", "-c", "cat {}/file-[123] > /dev/null"])
        #expect(within.status == 0, "\(within.errorText)")
        let beyond = try await Self.run(
          scratch, ["--max-bytes", "3kB", "--", "sh", "-c", "cat {}/file-[1234] > /dev/null"])
        #expect(beyond.status == 90, "\(beyond.errorText)")
      }
    }

    @Test func budgetsCountOnlyTheCommandAndItsDescendants() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let running = try Child(
          [
            Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache, "--max-files", "1",
            scratch.source, "--", "sh", "-c", "echo {}; read line; cat {}/file-1 > /dev/null",
          ])
        let mountpoint = try #require(await running.line())
        let stranger = try await MountTests.run(["sh", "-c", "cat \(mountpoint)/file-[2345] | wc -c"])
        #expect(stranger.text == "4000\n")
        running.closeInput()
        let finished = await running.wait()
        #expect(finished.status == 1 || finished.status == 0, "read's end of file: \(finished.errorText)")
      }
    }

    @Test func aKilledRunTakesItsVolumeWithIt() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let running = try Child(
          [
            Machine.dataless, "run", "--log", scratch.log.path, "--cache-dir", scratch.cache, scratch.source, "--",
            "sh",
            "-c", "cat {}/file-1 > /dev/null; echo {}; read line",
          ])
        let mountpoint = try #require(await running.line())
        #expect(Machine.isMounted(mountpoint))
        let daemon = try #require(try scratch.log.records(ofType: "volume.mounted").first?["pid"]?.int)
        running.signal(SIGKILL)
        await running.wait()
        _ = try await Unmounting.waitForEnd(of: daemon)
        #expect(!Machine.isMounted(mountpoint))
        try Self.expectNothingMounted(scratch)
      }
    }

    @Test func anInterruptEndsTheCommandAndTheVolume() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let running = try Child(
          [
            Machine.dataless, "run", "--latency", "1h", "--log", scratch.log.path, "--cache-dir", scratch.cache,
            scratch.source, "--", "cat", "{}/file-1",
          ])
        try await scratch.log.waitForWaiters(1)
        // As a terminal does it: the whole foreground group.
        kill(-running.pid, SIGINT)
        let finished = await running.wait()
        #expect(finished.status == 130 || finished.signal == SIGINT, "\(finished.shellStatus) \(finished.errorText)")
        try Self.expectNothingMounted(scratch)
      }
    }

    /// The kernel tells the session's leader alone; without us that would be the command.
    @Test func aTerminalThatGoesAwayEndsTheCommandAndTheVolume() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let terminal = """
          import os, pty, sys
          child, terminal = pty.fork()
          if child == 0: os.execv(sys.argv[1], sys.argv[1:])
          sys.stdin.readline()
          os.close(terminal)
          print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
          """
        let running = try Child(
          [
            "python3", "-c", terminal, Machine.dataless, "run", "--latency", "1h", "--log", scratch.log.path,
            "--cache-dir", scratch.cache, scratch.source, "--", "sh", "-c", "cat {}/file-1; true",
          ])
        try await scratch.log.waitForWaiters(1)
        running.closeInput()
        #expect(await running.line() == "129")
        await running.wait()
        try Self.expectNothingMounted(scratch)
      }
    }

    @Test func aCommandThatLeavesReadersBehindDoesNotKeepTheVolume() async throws {
      try await withScratch { scratch in
        try Self.tree(scratch)
        let finished = try await Self.run(
          scratch,
          [
            "--latency", "1h", "--wait-children", "100ms", "--", "sh", "-c",
            "cat {}/file-1 >/dev/null 2>&1 & until grep -q wait.started \(scratch.log.path); do :; done; exit 5",
          ])
        #expect(finished.status == 5, "\(finished.errorText)")
        try Self.expectNothingMounted(scratch)
      }
    }
  }
}
