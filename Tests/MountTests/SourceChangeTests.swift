import Testing

extension RealMounts {
  /// A source that changes under the volume: an errno, recorded, and never short or mixed content.
  @Suite struct SourceChanges {
    struct Change: Sendable, CustomTestStringConvertible {
      let name: String
      let script: String
      let outcomes: Set<String>
      var testDescription: String { name }
    }

    static let changes = [
      Change(name: "vanished", script: "rm d/file", outcomes: ["ENOENT", "ESTALE"]),
      Change(name: "grown", script: "echo more >> d/file", outcomes: ["ESTALE"]),
      Change(name: "shrunk", script: "truncate -s 1000 d/file", outcomes: ["ESTALE"]),
      Change(name: "emptied", script: ": > d/file", outcomes: ["ESTALE"]),
      Change(name: "replaced", script: "cp d/file d/new; touch -r d/file d/new; mv d/new d/file", outcomes: ["ESTALE"]),
      Change(
        name: "rewritten at the same size and time",
        script: "touch -r d/file time; printf XXXX | dd of=d/file conv=notrunc status=none; touch -r time d/file",
        outcomes: ["ESTALE"]),
      // Where the name can change hands in one step it does: a fetch that opens the file between a removal and what
      // takes its place rightly finds nothing.
      Change(
        name: "a symlink now", script: "ln d/file secret; ln -s ../secret d/new; mv -T d/new d/file",
        outcomes: ["ESTALE", "ELOOP"]),
      Change(name: "a directory now", script: "rm d/file; mkdir d/file", outcomes: ["ENOENT", "ESTALE", "EISDIR"]),
      Change(name: "a pipe now", script: "mkfifo d/new; mv -T d/new d/file", outcomes: ["ESTALE"]),
      Change(name: "below a symlink now", script: "mv d elsewhere; ln -s elsewhere d", outcomes: ["ESTALE", "ELOOP"]),
    ]

    @Test(arguments: changes)
    func aChangeAfterTheListingIsAnErrorAndNeverOtherContent(change: Change) async throws {
      try await withVolume(source: { scratch in
        scratch.directory("d")
        try scratch.file("d/file", size: 200_000)
      }) { volume in
        _ = try await run(["stat", volume.path("d/file")])
        try await volume.scratch.shell(change.script)
        let answer = try await volume.read("d/file")
        #expect(answer.bytes == 0)
        #expect(change.outcomes.contains(answer.outcome ?? ""), "\(answer)")
        let finished = try await volume.records().last { $0["type"]?.string == "materialization.finished" }
        #expect(finished?["outcome"]?.string == answer.outcome)
        #expect(finished?["message"]?.string != nil)
        #expect(try await volume.list()["d/file"]?["state"]?.string == "dataless")
        let status = try await volume.status()
        #expect(status["materialized"]?["failures"]?.int == 1)
      }
    }

    @Test(arguments: changes.filter { !["below a symlink now"].contains($0.name) })
    func aChangeDuringTheFetchIsAnErrorAndNeverMixedContent(change: Change) async throws {
      try await withVolume(
        ["--bandwidth", "100kB/s"],
        source: { scratch in
          scratch.directory("d")
          try scratch.file("d/file", size: 600_000)
        }
      ) { volume in
        _ = try await run(["stat", volume.path("d/file")])
        let reader = try await volume.scratch.startProbe("read", volume.path("d/file"))
        try await volume.log.waitForWaiters(1)
        // The fetch would take 6 s; it is under way now.
        try await volume.scratch.shell(change.script)
        try await volume.done("set", volume.mountpoint, "bandwidth=none")
        let answer = Answer(try #require(await reader.wait().lines.first))
        #expect(answer.bytes == 0)
        #expect(change.outcomes.contains(answer.outcome ?? ""), "\(answer)")
      }
    }

    @Test func nothingFromOutsideTheSourceIsEverServed() async throws {
      try await withScratch { scratch in
        try await scratch.shell(
          """
          mkdir inside "$ROOT/outside"
          for i in $(seq 1 200); do printf 'inside %04d' $i > inside/$i; printf 'SECRET %04d' $i > "$ROOT/outside/$i"; done
          """)
        let volume = try await scratch.mount(["--latency", "2ms"])
        _ = try await run(["ls", volume.path("inside")])
        let swapper = try Child(
          [
            "bash", "-c",
            """
            cd "$0/source"
            ln -s ../outside link
            while :; do mv -T inside kept; mv -T link inside; mv -T inside link; mv -T kept inside; done
            """, scratch.root,
          ])
        let reader = try await run(
          [
            "bash", "-c",
            """
            for round in 1 2 3 4 5; do for i in $(seq 1 200); do cat "$0/inside/$i"; echo; done; done 2>/dev/null
            """, volume.mountpoint,
          ], timeLimit: .seconds(60))
        swapper.signal(9)
        await swapper.wait()
        #expect(!reader.timedOut)
        #expect(!reader.text.contains("SECRET"))
        #expect(reader.lines.contains { $0.hasPrefix("inside") }, "some reads succeed")
        for line in reader.lines where !line.isEmpty {
          #expect(line.hasPrefix("inside ") && line.count == 11, "\(line)")
        }
      }
    }

    @Test func theNextTriggerAfterAFailureTriesAgain() async throws {
      try await withVolume(source: { try $0.file("file", size: 5000) }) { volume in
        _ = try await run(["stat", volume.path("file")])
        try await volume.scratch.shell("mv file away")
        let failed = try await volume.read("file")
        #expect(failed.outcome != "ok")
        // Renamed there and back its ctime has moved: only a fresh listing makes it known again.
        try await volume.scratch.shell("mv away file")
        let evicted = try await volume.dataless("evict", volume.mountpoint)
        #expect(evicted.succeeded, "\(evicted.errorText)")
        let again = try await volume.read("file")
        #expect(again.outcome == "ok")
        let attempts = try await volume.fileAttempts()
        #expect(attempts.count == 2)
      }
    }

    @Test func anUnreadableSourceFileAnswersItsOwnErrno() async throws {
      guard !Machine.isRoot else { return try await asOrdinaryUser() }
      try await withVolume(source: { scratch in
        try scratch.file("file", size: 5000)
        try await scratch.shell("chmod 0 file")
      }) { volume in
        let answer = try await volume.read("file")
        #expect(answer.outcome == "EACCES")
      }
    }

    private func asOrdinaryUser() async throws {
      try await withOrdinaryUser(
        """
        echo text > source/file; chmod 0 source/file
        "$DATALESS" mount source volume >/dev/null
        cat volume/file 2>&1 || true
        """
      ) { finished in
        #expect(finished.text.contains("Permission denied"), "\(finished.text) \(finished.errorText)")
      }
    }
  }
}
