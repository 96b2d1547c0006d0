import Testing

extension RealMounts {
  /// Callers who are not the volume's own user, or of whom nothing can be known.
  @Suite(.enabled(if: Machine.hasSetpriv, "needs root, unshare and setpriv")) struct ForeignCallers {
    /// The kernel shows `trusted.` to whoever has CAP_SYS_ADMIN in the initial user namespace; for a FUSE volume the
    /// daemon has to.
    @Test(.enabled(if: Machine.hasACLTools, "needs setfattr"))
    func namesOfTrustedAttributesAreShownToRootAlone() async throws {
      try await withVolume(
        ["--allow-other"],
        source: { scratch in
          try scratch.file("file", size: 3000)
          try await scratch.shell("setfattr -n trusted.secret -v 1 file; setfattr -n user.shown -v 2 file")
        }
      ) { volume in
        let list = ["getfattr", "--absolute-names", "-m", "-", volume.path("file")]
        let root = try await run(list)
        #expect(root.lines.contains("trusted.secret") && root.lines.contains("user.shown"), "\(root.text)")
        let user = ["setpriv", "--reuid", Machine.ordinaryID, "--regid", Machine.ordinaryID, "--clear-groups"]
        let ordinary = try await run(user + list)
        #expect(ordinary.lines.contains("user.shown"), "\(ordinary.text)\(ordinary.errorText)")
        #expect(!ordinary.text.contains("trusted"), "\(ordinary.text)")
        // All capabilities, but in a user namespace of its own, as in a container.
        let contained = try await run(["unshare", "--user", "--map-root-user"] + list)
        guard Machine.hasUserNamespaces else { return }
        #expect(contained.lines.contains("user.shown"), "\(contained.text)\(contained.errorText)")
        #expect(!contained.text.contains("trusted"), "\(contained.text)")
      }
    }

    /// Without a /proc of its own namespace nothing is known of callers, nor of this process' own arguments.
    @Test(arguments: [
      ("unshare --mount", "mount -t tmpfs none /proc", "/proc is not mounted here", 125),
      ("unshare --mount --pid --fork", "true", "of another pid namespace", 1),
    ])
    func nothingRunsWithoutItsOwnProc(unshare: String, prepare: String, message: String, status: Int32) async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 3000)
        let command = """
          \(prepare); "$DATALESS" run "$SOURCE" --max-files 0 -- cat {}/file && exit 0; [ $? = 125 ] || exit 99
          exec "$DATALESS" check-log "$SOURCE/file" --max-files 0
          """
        let finished = try await run(
          unshare.split(separator: " ").map(String.init) + ["sh", "-c", command],
          environment: ["SOURCE": scratch.source, "DATALESS": Machine.dataless])
        #expect(finished.shellStatus == status && finished.text.isEmpty, "\(finished.text)")
        #expect(finished.errorText.ranges(of: message).count == 2, "\(finished.errorText)")
      }
    }

    /// A daemon in a pid namespace of its own sees callers from outside as thread 0, all of them.
    @Test func theFailureOfOneCallerWithoutAThreadDoesNotAnswerAnother() async throws {
      try await withScratch { scratch in
        for name in ["sendfile", "splice", "map"] { try scratch.file(name, size: 3000) }
        let inside = """
          "$DATALESS" mount --log "$LOG" --cache-dir "$CACHE" "$SOURCE" "$MOUNT" > /dev/null
          stat "$MOUNT/map" > /dev/null
          "$DATALESS" fault add "$MOUNT" EIO --path '*' --attempt '{first: 1}' --name once > /dev/null
          echo ready; cat; "$DATALESS" unmount "$MOUNT"
          """
        let outside = """
          coproc daemon { exec unshare --mount --propagation private --pid --fork --mount-proc --kill-child \\
            bash -euc "$INSIDE"; }
          read -r said <&"${daemon[0]}"; [ "$said" = ready ]
          for way in sendfile splice "map shared"; do
            for try in 1 2; do nsenter --mount="/proc/$daemon_PID/ns/mnt" "$PROBE" $way "$MOUNT/${way% *}"; done
          done
          exec {daemon[1]}>&-; wait "$daemon_PID"
          """
        let finished = try await run(
          ["bash", "-euo", "pipefail", "-c", outside],
          environment: [
            "SOURCE": scratch.source, "MOUNT": scratch.mountpoint, "LOG": scratch.log.path, "CACHE": scratch.cache,
            "DATALESS": Machine.dataless, "PROBE": try await Probe.shared.path(), "INSIDE": inside,
          ], timeLimit: .seconds(60))
        try #require(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
        let outcomes = finished.lines.map { Answer($0).outcome }
        #expect(outcomes == ["EIO", "ok", "EIO", "ok", "SIGBUS", "ok"], "\(finished.text)")
        let records = try scratch.log.records()
        let started = records.filter { $0["type"]?.string == "wait.started" && $0["trigger"]?.string == "read" }
        #expect(!started.isEmpty && started.allSatisfy { $0["tid"] == nil }, "nobody knows who they are")
      }
    }
  }
}
