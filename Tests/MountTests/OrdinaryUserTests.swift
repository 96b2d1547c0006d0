import Testing

extension RealMounts {
  /// Everything works without privileges too, through fusermount3.
  @Suite(.enabled(if: !Machine.isRoot || Machine.hasSetpriv, "needs unshare and setpriv to become one"))
  struct OrdinaryUsers {
    @Test func mountReadLogEvictAndUnmount() async throws {
      try await withOrdinaryUser(
        """
        for i in 1 2 3; do echo "content $i" > source/$i; done
        "$DATALESS" mount --latency 20ms source volume
        [ "$(find volume -type f -size +0 | wc -l)" = 3 ]
        [ "$(stat -c %b volume/1)" = 0 ]
        "$DATALESS" summary volume | grep -q '0 files'
        cmp source/1 volume/1; cmp source/2 volume/2
        "$DATALESS" status --json volume | grep -q '"read_only" *: *true'
        "$DATALESS" log volume | grep -q cmp
        "$DATALESS" evict volume/1
        [ "$(stat -c %b volume/1)" = 0 ]
        cmp source/1 volume/1
        "$PROBE" map shared volume/3 | grep -q 'outcome=ok'
        "$DATALESS" unmount volume
        ! grep -q " $PWD/volume " /proc/self/mountinfo
        ls "$HOME"/.local/state/dataless/logs/*.jsonl
        [ -z "$(find "$XDG_RUNTIME_DIR/dataless" -name control.sock)" ]
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func blockedReadersAndADeadDaemonAreEndedWithoutPrivileges() async throws {
      try await withOrdinaryUser(
        """
        echo text > source/file
        "$DATALESS" mount --latency 1h --log log.jsonl source volume
        "$PROBE" threads 100 volume/file > answers &
        until [ "$(grep '"wait.started"' log.jsonl | grep -c '"trigger":"read"')" -ge 100 ]; do :; done
        "$DATALESS" unmount volume
        wait
        [ "$(grep -c 'outcome=ETIMEDOUT' answers)" = 100 ]
        "$DATALESS" mount --latency 1h --log log2.jsonl source volume
        "$PROBE" threads 10 volume/file > answers &
        until [ "$(grep '"wait.started"' log2.jsonl | grep -c '"trigger":"read"')" -ge 10 ]; do :; done
        kill -9 "$("$DATALESS" status --json volume | sed -n 's/.*"pid" *: *\\([0-9]*\\).*/\\1/p' | head -n 1)"
        wait
        [ "$(grep -c 'outcome=ECONNABORTED\\|outcome=ENOTCONN' answers)" = 10 ]
        "$DATALESS" mount --log log3.jsonl source volume
        cmp source/file volume/file
        "$DATALESS" unmount volume
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func runWorksAndItsStatusIsTheCommands() async throws {
      try await withOrdinaryUser(
        """
        echo text > source/file
        status=0; "$DATALESS" run source -- sh -c 'cat {}/file; exit 4' || status=$?
        [ "$status" = 4 ]
        status=0; "$DATALESS" run --max-files 0 source -- cat {}/file || status=$?
        [ "$status" = 90 ]
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test(.enabled(if: Machine.hasSetpriv, "puts a program in the place of fusermount3"))
    func fusermountInheritsNothingButWhatItNeeds() async throws {
      // A wrapper notes what the program is given, also when the daemon, which has sockets and an event loop, unmounts.
      try await withOrdinaryUser(
        """
        echo text > source/file
        "$DATALESS" mount source volume
        cat volume/file
        "$DATALESS" unmount volume
        cat inherited
        """,
        asRoot: """
          cp -p /usr/bin/fusermount3 bin/; touch inherited; chmod 666 inherited
          cat > wrapper <<'END'
          #!/bin/bash
          echo "args $*" >> HERE/inherited
          ls -l /proc/self/fd | sed -n 's/.* \\([0-9]* -> .*\\)/fd \\1/p' >> HERE/inherited
          grep -E 'Sig(Ign|Blk)' /proc/self/status >> HERE/inherited
          exec HERE/bin/fusermount3 "$@"
          END
          sed -i "s|HERE|$PWD|" wrapper
          chmod 4755 wrapper; mount --bind wrapper /usr/bin/fusermount3
          """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
        let calls = finished.lines.filter { $0.hasPrefix("args ") }
        #expect(calls.count == 2 && calls[1].contains("-u"), "\(finished.text)")
        for line in finished.lines where line.hasPrefix("fd ") {
          let words = line.split(separator: " ")
          // But for the directory that ls reads.
          #expect((Int(words[1]) ?? 99) <= 3 || words[3].hasPrefix("/proc/"), "\(line)")
        }
        for line in finished.lines where line.hasPrefix("Sig") {
          // The C library's spawn leaves its own two signals, 32 and 33, ignored.
          let signals = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
          #expect(signals.map { $0 & ~0x1_8000_0000 } == 0, "\(line)")
        }
      }
    }

    /// In a chroot there are no user namespaces, hence no read-only clone of SOURCE's mount; and O_NOATIME is for the
    /// owner of a file alone. Who cares for access times is told.
    @Test(.enabled(if: Machine.hasSetpriv, "makes a file of root's"))
    func readsThatMayMoveAccessTimesAreTold() async throws {
      try await withOrdinaryUser(
        """
        "$DATALESS" mount source volume
        cat volume/own
        [ "$("$DATALESS" status --json volume | grep -c 'O_NOATIME')" = 0 ]
        cat volume/theirs
        "$DATALESS" status --json volume | grep -q '1 files of other owners were read without O_NOATIME'
        "$DATALESS" unmount volume
        """,
        asRoot: """
          echo 1 > source/theirs; echo 2 > source/own; chown \(Machine.ordinaryID) source/own
          mkdir root; mount --rbind / root
          exec chroot root setpriv --reuid \(Machine.ordinaryID) --regid \(Machine.ordinaryID) --clear-groups \
            bash -c 'cd "$SCRATCH"; exec bash -euo pipefail -c "$SCRIPT"'
          """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func withoutPermissionForTheDeviceTheErrorSaysSo() async throws {
      try await withOrdinaryUser(
        """
        status=0; "$DATALESS" mount --allow-other source volume 2> errors || status=$?
        if grep -q '^user_allow_other' /etc/fuse.conf; then "$DATALESS" unmount volume; exit 0; fi
        [ "$status" = 1 ]
        [ "$(wc -l < errors)" = 1 ]
        grep -q user_allow_other errors
        """
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }
  }
}
