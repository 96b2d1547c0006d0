import Testing

extension RealMounts {
  /// The same answers without each fast path, on each file system, and with few descriptors.
  @Suite struct Fallbacks {
    /// A tree with both content layouts, names that are absent, and a hard link.
    private func prepare(_ scratch: Scratch) async throws {
      scratch.directory("below")
      for (name, size) in [("small", 100), ("below/page", 4096), ("below/large", 300_000), ("below/slab", 131_072)] {
        try scratch.file(name, size: size)
      }
      try await scratch.shell("ln below/large below/again; ln -s small link; : > empty; cp /bin/true below/program")
    }

    /// Reads in every way, evicts, and reads again; every byte and every answer as in SOURCE.
    private func exercise(_ volume: Volume) async throws {
      for round in 0..<2 {
        let script = """
          cd "$0"; for i in 1 2; do
            test ! -e absent; test ! -e below/absent
            cmp small "$1/small"; cmp below/page "$1/below/page"; cmp below/large "$1/below/large"
            cmp below/slab "$1/below/slab"; cmp below/again "$1/below/large"; cmp link "$1/small"
            ./below/program; find . -type f | sort | md5sum; tar cf - . | wc -c
          done
          """
        let here = try await run(["bash", "-euc", script, volume.mountpoint, volume.scratch.source])
        #expect(here.succeeded, "round \(round): \(here.errorText)")
        for kind in ["shared", "private"] {
          let mapped = try await volume.probe("map", kind, volume.path("below/large"))
          let expected = try await volume.sourceHash("below/large")
          #expect(mapped.first?.hash == expected, "round \(round), \(kind)")
        }
        let names = ["small", "below/page", "below/slab"]
        let evicted = try await run([Machine.dataless, "evict"] + names.map { volume.path($0) })
        #expect(evicted.succeeded, "round \(round): \(evicted.errorText)")
      }
      let status = try await volume.status()
      #expect(status["materialized"]?["failures"]?.int == 0)
    }

    @Test(arguments: [
      ["passthrough"], ["readdirplus"], ["direct-mapping"], ["name-epoch"],
      ["passthrough", "readdirplus", "direct-mapping", "name-epoch"],
    ])
    func everyFastPathCanBeMissing(features: [String]) async throws {
      try await withVolume(features.flatMap { ["--without", $0] }, source: prepare) { volume in
        try await exercise(volume)
        let facts = try await volume.status()["fast_paths"]
        if features.contains("passthrough") { #expect(facts?["resident_reads"]?.string == "page_cache") }
        if features.contains("direct-mapping") { #expect(facts?["dataless_reads"]?.string == "page_cache") }
        if features.contains("readdirplus") { #expect(facts?["readdirplus"]?.bool == false) }
      }
    }

    @Test func anEvictedDirectoryIsListedAgainWithoutTheNameEpoch() async throws {
      try await withVolume(["--without", "name-epoch"], source: { try $0.file("one", size: 10) }) { volume in
        let first = try await run(["bash", "-c", #"cd "$0"; ls; test ! -e two"#, volume.mountpoint])
        #expect(first.text == "one\n")
        #expect(try await volume.dataless("evict", volume.mountpoint).succeeded)
        try volume.scratch.file("two", size: 20)
        let second = try await run(["bash", "-c", #"cd "$0"; ls; stat -c %s two"#, volume.mountpoint])
        #expect(second.text == "one\ntwo\n20\n")
      }
    }

    @Test(
      .enabled(if: Machine.isRoot, "mounting file systems needs root"),
      arguments: ["tmpfs", "xfs", "btrfs", "overlay"])
    func sourceAndCacheOnEveryFileSystem(type: String) async throws {
      try await withScratch { scratch in
        let script =
          switch type {
          case "tmpfs": #"mount -t tmpfs none "$ROOT/fs""#
          case "overlay":
            #"mkdir "$ROOT/l" "$ROOT/u" "$ROOT/w"; mount -t overlay -o "lowerdir=$ROOT/l,upperdir=$ROOT/u,workdir=$ROOT/w" none "$ROOT/fs""#
          default:
            #"truncate -s 600M "$ROOT/image"; mkfs.\#(type) -q "$ROOT/image" 2>/dev/null; mount -o loop "$ROOT/image" "$ROOT/fs""#
          }
        let made = try await run(
          ["bash", "-ec", "mkdir \"$ROOT/fs\"; \(script)"], environment: ["ROOT": scratch.root])
        // A machine without the file system or without loop devices cannot show it.
        guard made.succeeded else { return }
        try await prepare(scratch)
        try await scratch.shell(#"mkdir "$ROOT/fs/source"; cp -a . "$ROOT/fs/source/""#)
        let mounted = try await scratch.tryMount(
          source: scratch.root + "/fs/source", cache: scratch.root + "/fs/cache")
        try #require(mounted.succeeded, "\(mounted.errorText)")
        let volume = Volume(scratch: scratch, mounted: mounted)
        try await exercise(volume)
        let unmounted = try await volume.dataless("unmount", volume.mountpoint)
        #expect(unmounted.succeeded)
      }
    }

    /// Root of a user namespace may mount, but has no CAP_SYS_ADMIN where it counts: no backing file can be registered.
    @Test(.enabled(if: Machine.hasUserNamespaces, "needs user namespaces"))
    func withoutCapSysAdminThePageCacheServesWhatIsResident() async throws {
      try await withScratch { scratch in
        try await prepare(scratch)
        let script = """
          cd "$0"; "$1" mount --log log.jsonl --cache-dir cache source volume
          for i in 1 2; do
            cmp source/small volume/small; cmp source/below/large volume/below/large; ./volume/below/program
            diff -r --no-dereference source volume
            "$1" evict volume/small volume/below/slab
          done
          # Opened for passthrough by the engine's word, and refused by the kernel.
          cat volume/below/large volume/below/again | wc -c
          # A file is closed a moment after close(2).
          for i in $(seq 200); do
            "$1" status --json volume > last
            if grep -q '"now":{"direct":0,"page_cache":0' last; then break; fi
          done
          cat last; "$1" unmount volume
          """
        let finished = try await run(
          [
            "unshare", "--user", "--map-root-user", "--mount", "bash", "-euo", "pipefail", "-c", script, scratch.root,
            Machine.dataless,
          ], environment: ["XDG_RUNTIME_DIR": scratch.root])
        #expect(finished.succeeded, "\(finished.text) \(finished.errorText)")
        let status = try JSON(parsing: try #require(finished.lines.last { $0.hasPrefix("{") }).utf8)
        #expect(finished.lines.contains("600000"))
        #expect(status["fast_paths"]?["resident_reads"]?.string == "page_cache")
        #expect(status["fast_paths"]?["passthrough_failure"]?.string == "EPERM")
        #expect(status["opens"]?["since_mount"]?["passthrough"]?.int == 0)
        #expect(status["opens"]?["now"]?["page_cache"]?.int == 0)
        #expect(status["materialized"]?["failures"]?.int == 0)
      }
    }

    /// Its groups cannot be given up (setgroups(2) is denied), and are those of everybody who is root there.
    @Test(.enabled(if: Machine.hasUserNamespaces, "needs user namespaces"))
    func rootOfAUserNamespaceIsToldWhereCallersStand() async throws {
      try await withScratch { scratch in
        try await prepare(scratch)
        let script = """
          cd "$0"
          "$1" run source --latency 500ms --stacks all --log log.jsonl --cache-dir cache -- cat {}/small > read
          grep wait.stack log.jsonl
          """
        let finished = try await run(
          ["unshare", "--user", "--map-root-user", "--mount", "bash", "-c", script, scratch.root, Machine.dataless],
          environment: ["XDG_RUNTIME_DIR": scratch.root])
        #expect(finished.succeeded, "\(finished.text) \(finished.errorText)")
        let stacks = try finished.lines.map { try JSON(parsing: $0.utf8) }
        #expect(stacks.contains { $0["trigger"]?.string == "read" && $0["outcome"]?.string == "ok" })
        #expect(!finished.text.contains("symbols_unavailable"), "\(finished.text)")
      }
    }

    @Test(.enabled(if: Machine.hasSetpriv, "gives up a capability"))
    func aRootThatMayNotMountIsToldWhatIsMissing() async throws {
      try await withScratch { scratch in
        let finished = try await run([
          "setpriv", "--inh-caps=-sys_admin", "--bounding-set=-sys_admin", Machine.dataless, "mount", "--log",
          scratch.log.path, "--cache-dir", scratch.cache, scratch.source, scratch.mountpoint,
        ])
        #expect(finished.status == 1)
        #expect(finished.errorLines.count == 1 && finished.errorText.contains("CAP_SYS_ADMIN"), "\(finished.errorText)")
        #expect(!Machine.isMounted(scratch.mountpoint))
      }
    }

    @Test func fewDescriptorsAreEnough() async throws {
      try await withScratch { scratch in
        for index in 0..<300 { try scratch.file("large-\(index)", size: 140_000) }
        let mount = try await run([
          "bash", "-c", #"ulimit -n 128; exec "$0" mount --log "$1" --cache-dir "$2" "$3" "$4""#, Machine.dataless,
          scratch.log.path, scratch.cache, scratch.source, scratch.mountpoint,
        ])
        try #require(mount.succeeded, "\(mount.errorText)")
        let volume = Volume(scratch: scratch, mounted: mount)
        let compared = try await run(
          ["diff", "-r", scratch.source, scratch.mountpoint], timeLimit: .seconds(60))
        #expect(compared.succeeded, "\(compared.text) \(compared.errorText)")
        #expect(try await volume.materializedFiles() == 300)
      }
    }
  }
}
