import Testing

extension RealMounts {
  /// A SOURCE that another program serves (FUSE): nothing of what it answers has to be so, nor of what the kernel
  /// remembers of it.
  @Suite(.enabled(if: Machine.isRoot, "mounts another file system as SOURCE")) struct ForeignSources {
    static let program = ClientProgram(
      name: "dataless-source", sources: ["Tests/MountTests/Clients/source.c", "-lfuse3"],
      options: ["-std=gnu11", "-Werror", "-D_FILE_OFFSET_BITS=64", "-I/usr/include/fuse3"])

    /// - Parameter shown: The directory that SOURCE shows, `BACKING` below the scratch directory; nil for the liar.
    private static func withSource(
      shown: Bool, _ options: [String] = [], prepare: (Scratch) async throws -> Void = { _ in },
      test: (Volume) async throws -> Void
    ) async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir ../backing")
        try await prepare(scratch)
        let words = shown ? ["cached", "\(scratch.root)/backing"] : ["liar"]
        let server = try Child([try await program.path()] + words + [scratch.source], timeLimit: .seconds(120))
        try #require(await server.line() == "ready")
        do {
          let volume = try await scratch.mount(options)
          try await test(volume)
          try await volume.done("unmount", volume.mountpoint)
        } catch {
          await scratch.cleanUp()
          throw error
        }
        _ = try await run(["umount", "-l", scratch.source])
        await server.wait()
      }
    }

    private static let rewritten = "printf XXXX | dd of=../backing/file conv=notrunc status=none"

    /// The kernel keeps the old attributes for ever; asked with AT_STATX_FORCE_SYNC, it looks.
    @Test func aVersionThatTheKernelDoesNotKnowOfIsNotServedAsTheListedOne() async throws {
      try await Self.withSource(shown: true, prepare: { try $0.file("../backing/file", size: 200_000) }) { volume in
        _ = try await run(["stat", volume.path("file")])
        try await volume.scratch.shell(Self.rewritten)
        let answer = try await volume.read("file")
        #expect(answer.outcome == "ESTALE" && answer.bytes == 0, "\(answer)")
        // By now it knows; so does a new listing.
        try await volume.done("refresh", volume.mountpoint)
        let again = try await volume.read("file")
        let backing = try await volume.probe("read", "\(volume.scratch.root)/backing/file").first
        #expect(again.outcome == "ok" && again.hash == backing?.hash, "\(again)")
      }
    }

    @Test(arguments: ["full", "progressive"])
    func aVersionThatComesDuringTheFetchIsNotMixedWithTheListedOne(hydration: String) async throws {
      try await Self.withSource(
        shown: true, ["--bandwidth", "100kB/s", "--hydration", hydration],
        prepare: { try $0.file("../backing/file", size: 600_000) }
      ) { volume in
        _ = try await run(["stat", volume.path("file")])
        let reader = try await volume.scratch.startProbe("read", volume.path("file"))
        try await volume.log.waitForWaiters(1)
        // The fetch would take 6 s; it is under way now.
        try await volume.scratch.shell(Self.rewritten)
        try await volume.done("set", volume.mountpoint, "bandwidth=none")
        let answer = Answer(try #require(await reader.wait().lines.first))
        #expect(answer.outcome == "ESTALE", "\(answer)")
        let end = try await volume.records(ofType: "materialization.finished").last
        #expect(end?["outcome"]?.string == "ESTALE")
      }
    }

    @Test(arguments: ["full", "progressive", "partial"])
    func extentsThatCannotBeStopNoFetch(hydration: String) async throws {
      try await Self.withSource(shown: false, ["--hydration", hydration]) { volume in
        for name in ["backwards", "standing", "behind"] {
          let answer = try await volume.read(name)
          #expect(answer.outcome == "ok" && answer.bytes == 100_000, "\(name): \(answer)")
        }
        let (backwards, standing) = (try await volume.read("backwards").hash, try await volume.read("standing").hash)
        #expect(backwards == standing, "all of both is data")
      }
    }

    /// What lies in SOURCE and does not answer is a name there like others.
    @Test func aDeadMountInTheSourceEndsNoListing() async throws {
      try await withScratch { scratch in
        try await scratch.shell("mkdir dead; echo text > file")
        let server = try Child([try await Self.program.path(), "liar", scratch.source + "/dead"])
        try #require(await server.line() == "ready")
        server.signal(9)
        await server.wait()
        let volume = try await scratch.mount()
        let names = try await run(["ls", volume.mountpoint])
        #expect(names.lines == ["dead", "file"], "\(names.errorText)")
        #expect(try await run(["cat", volume.path("file")]).text == "text\n")
        #expect(try await !run(["ls", volume.path("dead")]).succeeded)
      }
    }

    @Test(arguments: ["full", "progressive", "partial"])
    func sizesThatCannotBeEndNoDaemon(hydration: String) async throws {
      try await Self.withSource(shown: false, ["--hydration", hydration]) { volume in
        for name in ["link", "empty-link"] {
          #expect(try await run(["readlink", volume.path(name)]).text == "target\n", "\(name)")
        }
        // The last bytes that a file can have, and its first ones.
        let last = "dd of=/dev/null bs=1 count=1 skip=9223372036854775806 iflag=skip_bytes"
        for read in [last, "head -c 1"] {
          let finished = try await run(["sh", "-c", "\(read) < '\(volume.path("endless"))'"], timeLimit: .seconds(30))
          #expect(!finished.succeeded && !finished.timedOut, "no cache holds it: \(read)")
        }
        #expect(try await volume.status()["items"]?["files"]?.int == 4)
        #expect(try await volume.read("standing").outcome == "ok")
      }
    }
  }
}
