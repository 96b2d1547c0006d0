import Glibc

/// Runs a shell script as a user without privileges, in a directory of its own that holds `source` and `volume`, and in
/// a mount namespace of its own: whatever it mounts is gone with it, and /dev/fuse is open to it as udev has it.
///
/// From root that is an id that nobody has; an ordinary user runs it as himself.
///
/// - Parameter asRoot: A script run before, by root in that mount namespace, in the same directory. Only from root.
func withOrdinaryUser(
  _ script: String, asRoot: String = ":", timeLimit: Duration = .seconds(60), test: (Finished) async throws -> Void
) async throws {
  try await withScratch { scratch in
    let probe = try await Probe.shared.path()
    let environment = [
      "DATALESS": Machine.dataless, "PROBE": probe, "HOME": scratch.root + "/home", "SCRIPT": script,
      "XDG_RUNTIME_DIR": scratch.root + "/runtime", "SCRATCH": scratch.root,
    ]
    let start = #"cd "$SCRATCH"; exec bash -euo pipefail -c "$SCRIPT""#
    let prepare = #"cd "$SCRATCH"; mkdir -p home runtime; chmod 700 home runtime"#
    let arguments: [String]
    if Machine.isRoot {
      let id = Machine.ordinaryID
      // The executable may lie where only root can go; bind mounts bring it and the client within reach.
      arguments = [
        "unshare", "--mount", "--propagation", "private", "bash", "-euc",
        """
        \(prepare)
        mkdir bin; cp "$DATALESS" bin/dataless; cp "$PROBE" bin/probe; chmod 755 bin bin/*
        export DATALESS=$PWD/bin/dataless PROBE=$PWD/bin/probe
        mknod -m 0666 fuse c 10 229; mount --bind fuse /dev/fuse
        chown -R \(id):\(id) home runtime source volume .; chown root fuse
        \(asRoot)
        exec setpriv --reuid \(id) --regid \(id) --clear-groups bash -c '\(start)'
        """,
      ]
    } else {
      arguments = ["bash", "-euc", "\(prepare); \(start)"]
    }
    let finished = try await run(arguments, environment: environment, timeLimit: timeLimit)
    try await test(finished)
    // Nothing of the namespace is left once its last process ends; a daemon may be that process.
    _ = try? await run(
      [
        "bash", "-c",
        #"for p in /proc/[0-9]*; do [ "$(readlink $p/exe)" = "$0/bin/dataless" ] && kill -9 ${p#/proc/}; done; :"#,
        scratch.root,
      ])
  }
}
