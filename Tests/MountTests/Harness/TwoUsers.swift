import Testing

/// Runs a shell script as root in a world with two ordinary users, `alice` and `mallory`, in a mount namespace of its
/// own whose `/run` and `/tmp` are fresh: nothing of the machine's is at stake, and what is mounted goes with it.
///
/// In the script, `alice COMMAND` and `mallory COMMAND` run a command as that user, with that user's home and runtime
/// directory; `$ALICE` and `$MALLORY` are their ids, `$HOMES/alice` their homes, `$WORLD` a directory of root's that
/// all may enter. `trap_set COMMAND` starts a trap of `adversary.c` and returns when it is set; `$TRAP` is its pid.
/// `bounded COMMAND` fails after 20 s, `no COMMAND` if it succeeds. `mallorys_mount SUBTYPE` leaves a mount of
/// mallory's at `$MOUNT` whose daemon was killed, and her volume directory, now in her hands alone, in `$DIRECTORY`.
func withTwoUsers(
  _ script: String, timeLimit: Duration = .seconds(120), test: (Finished) async throws -> Void
) async throws {
  try await withScratch { scratch in
    let environment = [
      "DATALESS": Machine.dataless, "ADVERSARY": try await Adversary.program.path(), "SCRATCH": scratch.root,
      "SCRIPT": script,
    ]
    let finished = try await run(
      ["unshare", "--mount", "--propagation", "private", "bash", "-euo", "pipefail", "-c", Adversary.world],
      environment: environment, timeLimit: timeLimit)
    try await test(finished)
  }
}

enum Adversary {
  static let program = ClientProgram(name: "dataless-adversary", sources: ["Tests/MountTests/Clients/adversary.c"])

  /// Users that every system has: fusermount3 wants one with a name.
  private static let (alice, mallory) = (Machine.ordinaryID, "1")

  static let world = """
    cd "$SCRATCH"; export WORLD=$PWD ALICE=\(alice) MALLORY=\(mallory) HOMES=$PWD/homes MOUNT=$PWD/homes/mallory/volume
    # Volumes of the machine's, of whom commands would speak; here only.
    umount --all --lazy --types fuse.dataless
    mkdir bin; touch bin/dataless; cp "$ADVERSARY" bin/adversary; chmod 755 bin bin/*
    # Mounted where others can reach it: a debug build of it has more than 100 MB to copy.
    if [ "$(stat -c %a "$DATALESS")" = 755 ]; then mount --bind "$DATALESS" bin/dataless; else cp "$DATALESS" bin/dataless; fi
    export DATALESS=$PWD/bin/dataless ADVERSARY=$PWD/bin/adversary PATH=/usr/bin:/bin:/usr/sbin:/sbin
    mknod -m 0666 fuse c 10 229; mount --bind fuse /dev/fuse
    mount -t tmpfs -o mode=755 none /run; mount -t tmpfs -o mode=1777 none /tmp
    for user in "alice $ALICE" "mallory $MALLORY"; do
      set -- $user
      mkdir -p "$HOMES/$1/source" "$HOMES/$1/volume" "/run/user/$2"; echo text > "$HOMES/$1/source/file"
      chmod 700 "/run/user/$2"; chown -R "$2:$2" "$HOMES/$1" "/run/user/$2"
    done
    mkdir -p root/source root/volume; echo text > root/source/file
    for user in "alice $ALICE" "mallory $MALLORY"; do
      set -- $user
      printf '#!/bin/sh\nexec setpriv --reuid %s --regid %s --clear-groups env HOME=%s XDG_RUNTIME_DIR=%s "$@"\n' \
        "$2" "$2" "$HOMES/$1" "/run/user/$2" > "bin/$1"
      chmod 755 "bin/$1"
    done
    export PATH=$PWD/bin:$PATH
    bounded() { timeout --kill-after=5 20 "$@"; }
    no() { if "$@"; then return 1; fi; }
    trap_set() { "$@" > said & TRAP=$!; until grep -q ready said; do kill -0 $TRAP; done; }
    mallorys_mount() {
      printf 'present: {subtype: %s}\\n' "$1" > scenario.yaml
      mallory "$DATALESS" mount --scenario "$PWD/scenario.yaml" "$HOMES/mallory/source" "$MOUNT" > /dev/null
      DIRECTORY=$(echo /run/user/$MALLORY/dataless/*:*)
      kill -9 "$(sed -n 's/.*"pid" *: *\\([0-9]*\\).*/\\1/p' "$DIRECTORY/session.json")"
      until flock -n "$DIRECTORY/lock" true; do :; done
      rm -f "$DIRECTORY/control.sock"
    }
    ends() {
      for pid in $(jobs -p); do kill -9 $pid 2> /dev/null || :; done
      for p in /proc/[0-9]*; do [ "$(readlink $p/exe)" != "$WORLD/bin/dataless" ] || kill -9 ${p#/proc/}; done
      for p in /proc/[0-9]*; do [ "$(readlink $p/exe)" != "$WORLD/bin/adversary" ] || kill -9 ${p#/proc/}; done
    }
    trap ends EXIT
    eval "$SCRIPT"
    """
}
