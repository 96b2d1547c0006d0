import Glibc
import Testing

extension RealMounts {
  /// Other users of a volume that they may change (`--scratch --allow-other`), who mean no good.
  @Suite(.enabled(if: Machine.hasSetpriv, "needs root, unshare and setpriv to become two users"))
  struct WritingNeighbours {
    /// Mounts root's tree for all, with a directory in which everybody may make names. `pid`: the daemon's.
    private static let prelude = """
      bounded "$DATALESS" mount --scratch --allow-other root/source root/volume > said
      cd root/volume; mkdir shared; chmod 1777 shared
      memory() { sed -n 's/^VmRSS: *\\([0-9]*\\) kB/\\1/p' /proc/$pid/status; }
      pid=$(bounded "$DATALESS" status --json . | sed -n 's/.*"pid" *: *\\([0-9]*\\).*/\\1/p')
      works() { echo root > works; [ "$(cat works)" = root ]; alice sh -c 'echo alice > shared/a; cat shared/a; rm shared/a' > /dev/null
        bounded "$DATALESS" status . > /dev/null; }

      """

    private static let epilogue = """

      works; cd ../..; [ "$(cat root/source/file)" = text ]; [ "$(ls root/source)" = file ]
      bounded "$DATALESS" unmount root/volume
      """

    private static func expect(_ script: String, timeLimit: Duration = .seconds(120)) async throws {
      try await withTwoUsers(prelude + script + epilogue, timeLimit: timeLimit) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }

    @Test func manyItemsLongTargetsAndDeepTreesAreJustItems() async throws {
      try await Self.expect(
        """
        long=$(printf 'x%.0s' {1..4095})
        mallory bash -c 'mkdir shared/m; cd shared/m; for i in {1..1000}; do : > f$i; done'
        mallory bash -c 'set -e; cd shared/m; for i in {1..100}; do ln -s "'$long'" l$i; done'
        [ "$(readlink shared/m/l100)" = "$long" ]; no mallory ln -s "${long}x" shared/m/longer
        no mallory touch "shared/m/$(printf 'n%.0s' {1..256})"
        # Deep, or as deep as it may be.
        mallory bash -c 'mkdir shared/deep; cd shared/deep; for i in {1..300}; do mkdir d && cd d || exit 0; done' 2> ../errors || :
        bounded "$DATALESS" ls -R . > ../listing; grep -q f1000 ../listing; bounded "$DATALESS" evict . > /dev/null || :
        works
        # In the sticky directory nobody but who made them, or root, removes them.
        no alice rm -rf shared/m 2> ../errors; [ "$(ls shared/m | wc -l)" = 1100 ]
        rm -rf shared/m shared/deep; [ -z "$(ls shared)" ]
        """)
    }

    @Test func extendedAttributesHaveALimit() async throws {
      try await Self.expect(
        """
        value=$(head -c 30000 /dev/zero | base64 -w 0)
        mallory sh -c ': > shared/x'
        for i in 1 2 3; do mallory setfattr -n user.n$i -v "0s$value" shared/x; done
        # 128 KiB for one item.
        no mallory bash -c "for i in {4..9}; do setfattr -n user.n\\$i -v 0s$value shared/x || exit 1; done" 2> ../errors
        grep -q 'No space left' ../errors; [ "$(getfattr --absolute-names -n user.n1 --only-values shared/x | wc -c)" = 30000 ]
        no mallory setfattr -n user.x -v y file; no mallory setfattr -n trusted.x -v y shared/x
        mallory setfattr -x user.n1 shared/x; mallory setfattr -n user.n4 -v "0s$value" shared/x
        """)
    }

    @Test func handlesAndLocksOfAKilledProgramAreGiven() async throws {
      try await Self.expect(
        """
        alice sh -c ': > shared/lock; chmod 666 shared/lock'
        mallory bash -c 'ulimit -n 3000; for i in {10..2500}; do eval "exec $i>> shared/lock"; done; flock -x 10; echo ready; exec sleep 1000' > ../said &
        until grep -q ready ../said; do kill -0 $!; done
        no alice flock -n shared/lock true
        [ "$(bounded "$DATALESS" ls --json shared/lock | sed -n 's/.*"open_handles" *: *\\([0-9]*\\).*/\\1/p')" -ge 2491 ]
        kill -9 $!; wait $! || :
        bounded alice flock shared/lock true
        until [ "$(bounded "$DATALESS" ls --json shared/lock | sed -n 's/.*"open_handles" *: *\\([0-9]*\\).*/\\1/p')" = 0 ]; do :; done
        """)
    }

    /// A MiB of each of 200 writers at a gate: it is kept, but not in memory.
    @Test func writersAtAGateTakeNoMemoryAndLoseNothing() async throws {
      try await withTwoUsers(
        """
        for i in $(seq 200); do truncate -s 1M root/source/f$i; done; chmod 666 root/source/f*
        printf 'rules:\\n  - {match: {path: "f*"}, gate: writes}\\n' > scenario.yaml
        """ + "\n"
          + Self.prelude.replacing(
            "mount --scratch", with: "mount --scratch --scenario scenario.yaml --bandwidth 2GB/s"
          ) + """
            rm -f file; before=$(memory)
            mallory bash -c 'for i in {1..200}; do head -c 1M /dev/zero | tr "\\\\0" M | dd of=f$i bs=1M iflag=fullblock conv=notrunc status=none & done; wait; echo done' > ../said &
            bounded "$DATALESS" gate wait . writes --callers 200 --timeout 60s > /dev/null
            works; [ $(($(memory) - before)) -lt 130000 ] || { echo "$before $(memory)"; exit 1; }
            bounded "$DATALESS" gate release . writes > /dev/null
            wait $!; grep -q done ../said
            for i in 1 64 65 199 200; do [ "$(tr -d M < f$i | wc -c)" = 0 ]; [ "$(stat -c %s f$i)" = 1048576 ]; done
            cd ../..; bounded "$DATALESS" unmount root/volume
            """, timeLimit: .seconds(120)
      ) { finished in
        #expect(finished.succeeded, "\(finished.shellStatus)\n\(finished.text)\n\(finished.errorText)")
      }
    }
  }
}
