import Glibc
import Testing

extension RealMounts {
  /// The habits of the system: mount(8), service managers, and what a machine grants.
  @Suite struct System {
    private static let repository = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    /// The mount helper as it is installed, with this executable, and a word of its caller's environment that it must
    /// not take up.
    private static func mount(_ scratch: Scratch, _ arguments: String...) async throws -> Finished {
      let prefix = scratch.root + "/prefix"
      try await scratch.shell(
        """
        mkdir -p '\(prefix)/bin'; ln -sf "$DATALESS" '\(prefix)/bin/dataless'
        sed 's|@PREFIX@|\(prefix)|' '\(Self.repository)/scripts/package/mount.dataless' > '\(prefix)/mount.dataless'
        """)
      return try await run(
        ["sh", prefix + "/mount.dataless", scratch.source, scratch.mountpoint] + arguments,
        environment: [
          "XDG_RUNTIME_DIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent", "PATH": "/nonexistent:/bin:/usr/bin",
        ],
        timeLimit: .seconds(60))
    }

    @Test(
      .enabled(if: Machine.isRoot, "mount(8)'s helper needs no user of its own to be tried, and a known place for logs")
    )
    func theMountHelperTakesTheOptionsOfTheCommandAndLeavesThoseOfOthers() async throws {
      try await withScratch { scratch in
        try scratch.file("a", size: 1)
        let mounted = try await Self.mount(
          scratch, "-v", "-o", "rw,noauto,user=me,nofail,x-systemd.automount,allow_other,log=\(scratch.log.path)", "-n",
          "-o", "latency=3ms,cache-dir=\(scratch.cache)")
        #expect(mounted.status == 0, "\(mounted.errorText)")
        #expect(mounted.text.contains("--allow-other") && !mounted.text.contains("automount"), "\(mounted.text)")
        let options = try #require(try await Self.status(scratch)["options"])
        #expect(options["latency_ns"]?.int == 3_000_000)
        #expect(options["allow_other"]?.bool == true)
        let ended = try await run([Machine.dataless, "unmount", scratch.mountpoint])
        #expect(ended.succeeded, "\(ended.errorText)")
      }
    }

    private static func status(_ scratch: Scratch) async throws -> JSON {
      let finished = try await run([Machine.dataless, "status", scratch.mountpoint, "--json"])
      return try JSON(parsing: finished.output)
    }

    @Test func theMountHelperSaysWhatItDoesNotKnow() async throws {
      try await withScratch { scratch in
        let unknown = try await Self.mount(scratch, "-o", "latencey=3ms")
        #expect(unknown.status == 1)
        #expect(unknown.errorText.contains("'--latency'"), "\(unknown.errorText)")
        let sloppy = try await Self.mount(scratch, "-s", "-f", "-v", "-o", "latencey=3ms,latency=1ms")
        #expect(sloppy.status == 0, "\(sloppy.errorText)")
        #expect(sloppy.text.contains("--latency=1ms") && !sloppy.text.contains("latencey"), "\(sloppy.text)")
        #expect(try await Self.mount(scratch, "-N", "1").status == 1)
        #expect(try await Self.mount(scratch, "-o", "json").status == 1)
        #expect(!Machine.isMounted(scratch.mountpoint))
      }
    }

    @Test func aServedVolumeIsNotDead() async throws {
      try await withVolume(source: { try $0.file("a", size: 1) }) { volume in
        let refused = try await volume.dataless("unmount", "--dead", volume.mountpoint)
        #expect(refused.status == 1)
        #expect(refused.errorText.contains("EBUSY"), "\(refused.errorText)")
        #expect(Machine.isMounted(volume.mountpoint))
        #expect(try await volume.read("a").bytes == 1)
      }
    }

    @Test(arguments: ["systemd/dataless@.service", "systemd/user/dataless@.service"])
    func aUnitThatFailsEndsNoVolumeThatIsServed(_ unit: String) async throws {
      // What the unit's manager runs when its daemon has ended, or has not come up; its status is not minded.
      let stopPost = """
        eval "$(sed -n 's|@PREFIX@/bin/dataless|"$DATALESS"|; s|${MOUNTPOINT}|"$MOUNT"|; s/^ExecStopPost=-//p' \
          '\(Self.repository)/scripts/package/\(unit)')" || true
        """
      try await withVolume(source: { try $0.file("a", size: 1) }) { volume in
        try await volume.scratch.shell(stopPost)
        #expect(Machine.isMounted(volume.mountpoint))
        #expect(try await volume.read("a").bytes == 1)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        kill(pid_t(daemon), SIGKILL)
        _ = try await Unmounting.waitForEnd(of: daemon)
        try await volume.scratch.shell(stopPost)
        #expect(!Machine.isMounted(volume.mountpoint))
      }
    }

    @Test func aServiceManagerIsToldWhenTheVolumeAnswersAndWhenItEnds() async throws {
      try await withScratch { scratch in
        try scratch.file("a", size: 1)
        let listener = try Child([
          "python3", "-u", "-c",
          """
          import socket, sys
          s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
          s.bind(sys.argv[1])
          print("bound")
          while True: print(s.recv(4096).decode().split("\\n")[0])
          """, scratch.root + "/notify",
        ])
        #expect(await listener.line() == "bound")
        let daemon = try Child(
          [
            Machine.dataless, "mount", "--foreground", "--log", scratch.log.path, "--cache-dir", scratch.cache,
            scratch.source, scratch.mountpoint,
          ], environment: ["NOTIFY_SOCKET": scratch.root + "/notify"], timeLimit: .seconds(60))
        #expect(await listener.line() == "READY=1")
        #expect(Machine.isMounted(scratch.mountpoint))
        daemon.signal(SIGTERM)
        #expect(await listener.line() == "STOPPING=1")
        #expect(await daemon.wait().status == 0)
        listener.signal(SIGKILL)
        _ = await listener.wait()
      }
    }

    @Test func theDoctorLeavesNothingBehind() async throws {
      try await withScratch { scratch in
        let before = try await scratch.shell(#"ls -a "${XDG_STATE_HOME:-/var/log}/dataless" 2> /dev/null || true"#)
        let finished = try await run([Machine.dataless, "doctor"], timeLimit: .seconds(60))
        #expect(finished.status == 0, "\(finished.errorText)")
        #expect(finished.lines.contains { $0.hasPrefix("ok       mount ") }, "\(finished.text)")
        #expect(finished.lines.last?.hasPrefix("volumes can be mounted") == true)
        let after = try await scratch.shell(#"ls -a "${XDG_STATE_HOME:-/var/log}/dataless" 2> /dev/null || true"#)
        #expect(before.split(separator: "\n").count >= after.split(separator: "\n").count - 1)
      }
    }
  }
}
