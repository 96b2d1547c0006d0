import Testing

extension RealMounts {
  /// Bad input: one line that says what is wrong, where, and what to do; and nothing mounted.
  @Suite struct MountErrors {
    static func expectOneClearLine(
      _ finished: Finished, naming words: [String], status: Set<Int32> = [1, 2],
      sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(status.contains(finished.shellStatus), "\(finished.shellStatus)", sourceLocation: sourceLocation)
      #expect(finished.errorLines.count == 1, "\(finished.errorText)", sourceLocation: sourceLocation)
      #expect(finished.errorText.hasPrefix("dataless: "), "\(finished.errorText)", sourceLocation: sourceLocation)
      #expect(finished.text == "", sourceLocation: sourceLocation)
      for word in words {
        #expect(finished.errorText.contains(word), "\(word): \(finished.errorText)", sourceLocation: sourceLocation)
      }
    }

    @Test(arguments: [["nosuch"], ["nosuch", "--help"], ["nosuch", "ls"]])
    func anUnknownCommandIsWrongUse(arguments: [String]) async throws {
      let answer = try await run([Machine.dataless] + arguments)
      #expect(answer.status == 2 && answer.text == "")
      #expect(answer.errorText == "dataless: unknown command 'nosuch'. See 'dataless --help'.\n")
    }

    @Test(arguments: [
      (["--latency", "fast"], "fast"), (["--latency", "10"], "10"), (["--latency=-5ms"], "-5ms"),
      (["--directory-latency", "3 parsecs"], "parsecs"), (["--bandwidth", "20MB/min"], "20MB/min"),
      (["--bandwidth", "quick/s"], "quick"), (["--bandwidth", "0"], "0"), (["--concurrency", "0"], "0"),
      (["--concurrency", "many"], "many"), (["--seed", "-1"], "expected a whole number, 0 to 18446744073709551615"),
    ])
    func aMalformedOptionIsNamed(options: [String], word: String) async throws {
      try await withScratch { scratch in
        let finished = try await scratch.tryMount(options)
        Self.expectOneClearLine(finished, naming: [word, String(options[0].prefix { $0 != "=" })])
        #expect(!Machine.isMounted(scratch.mountpoint))
      }
    }

    @Test(arguments: [
      ("synthetic:files=many", "many"), ("synthetic:files=10,depth=x", "depth"),
      ("synthetic:files=10,size=9k..1k", "size"), ("synthetic:files=10,colour=red", "colour"),
      ("synthetic:files=-1", "-1"),
    ])
    func aMalformedSyntheticSourceIsNamedByItsPart(source: String, word: String) async throws {
      try await withScratch { scratch in
        let finished = try await scratch.tryMount(source: source)
        Self.expectOneClearLine(finished, naming: [word])
      }
    }

    @Test(arguments: [
      (["--latnecy", "3s"], "Did you mean '--latency'? See 'dataless mount --help'."),
      (["--max-files", "0"], "'--max-files' of mount: it belongs to 'dataless run'"),
      (["--max-bytes=1MB"], "'--max-bytes' of mount: it belongs to 'dataless run'"),
    ])
    func anOptionThatMountHasNotSaysWhatWasMeant(options: [String], words: String) async throws {
      try await withScratch { scratch in
        Self.expectOneClearLine(try await scratch.tryMount(options), naming: [words], status: [2])
      }
    }

    @Test func aSourceThatIsNoDirectoryIsSaid() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 10)
        Self.expectOneClearLine(
          try await scratch.tryMount(source: scratch.root + "/absent"), naming: ["absent", "ENOENT"])
        Self.expectOneClearLine(
          try await scratch.tryMount(source: scratch.source + "/file"), naming: ["source/file", "ENOTDIR"])
      }
    }

    @Test func aMountpointThatCannotBeUsedIsSaid() async throws {
      try await withScratch { scratch in
        try await scratch.shell(#"mkdir "$ROOT/full"; touch "$ROOT/full/file" "$ROOT/plain""#)
        for (mountpoint, word) in [("/absent", "ENOENT"), ("/full", "ENOTEMPTY"), ("/plain", "ENOTDIR")] {
          let finished = try await scratch.tryMount(mountpoint: scratch.root + mountpoint)
          Self.expectOneClearLine(finished, naming: [mountpoint, word])
        }
        let mounted = try await scratch.mount()
        Self.expectOneClearLine(try await scratch.tryMount(), naming: ["already", "unmount"])
        #expect(Machine.mounts().count { $0.point == mounted.mountpoint } == 1)
      }
    }

    @Test func sourceAndMountpointInsideEachOtherAreRefused() async throws {
      try await withScratch { scratch in
        try await scratch.shell(#"mkdir inside "$ROOT/volume/inside""#)
        Self.expectOneClearLine(
          try await scratch.tryMount(mountpoint: scratch.source + "/inside"), naming: ["inside"])
        Self.expectOneClearLine(
          try await scratch.tryMount(source: scratch.mountpoint + "/inside"), naming: ["inside"])
        try await scratch.shell(#"rmdir "$ROOT/volume/inside""#)
        Self.expectOneClearLine(
          try await scratch.tryMount(mountpoint: scratch.source), naming: [scratch.source])
      }
    }

    @Test func logAndCacheBelowTheMountpointAndLogInTheSourceAreRefused() async throws {
      try await withScratch { scratch in
        Self.expectOneClearLine(
          try await scratch.tryMount(log: scratch.mountpoint + "/log.jsonl"), naming: ["log"])
        Self.expectOneClearLine(
          try await scratch.tryMount(cache: scratch.mountpoint + "/cache"), naming: ["cache"])
        Self.expectOneClearLine(try await scratch.tryMount(log: scratch.source + "/log.jsonl"), naming: ["log"])
        #expect(try await run(["ls", "-A", scratch.mountpoint]).text == "")
        #expect(try await run(["ls", "-A", scratch.source]).text == "")
      }
    }

    @Test func aSourceThatHangsIsSaidInsteadOfHangingTheMount() async throws {
      try await withScratch { scratch in
        try await scratch.shell(#"mkdir "$ROOT/volume-hung" directory"#)
        let hung = scratch.root + "/volume-hung"
        let slow = try await scratch.tryMount(
          ["--directory-latency", "1h"], mountpoint: hung, log: scratch.root + "/hung.jsonl",
          cache: scratch.root + "/cache-hung")
        try #require(slow.succeeded, "\(slow.errorText)")
        let finished = try await scratch.tryMount(source: hung + "/directory")
        Self.expectOneClearLine(finished, naming: ["directory"], status: [1, 4])
        #expect(!finished.timedOut)
        #expect(!Machine.isMounted(scratch.mountpoint))
      }
    }

    @Test func aPathThatIsOnNoVolumeIsSaidWithItsOwnStatus() async throws {
      try await withScratch { scratch in
        for command in ["status", "ls", "evict", "materialize", "unmount"] {
          let finished = try await run([Machine.dataless, command, scratch.source])
          Self.expectOneClearLine(finished, naming: [scratch.source], status: [3])
        }
      }
    }
  }
}
