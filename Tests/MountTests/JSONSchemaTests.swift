import Glibc
import SchemaCheck
import Synchronization
import Testing

extension RealMounts {
  /// What the commands really print with `--json`, and what stands in the log, against docs/schemas/.
  @Suite struct JSONSchemaSuite {
    /// The commands that have answered, and that have failed.
    private final class Seen: Sendable {
      let answers = Mutex(Set<String>())
      let errors = Mutex(Set<String>())
    }

    private struct Session {
      let schemas: JSONSchemas
      let seen = Seen()

      /// Runs a command, whose name is its first words, up to a number.
      @discardableResult
      func run(
        _ name: String, _ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
      ) async throws -> JSONLines {
        let words = name.split(separator: " ").map(String.init)
        let output = try await JSONLines.run(words + arguments + ["--json"], sourceLocation: sourceLocation)
        #expect(output.finished.status == status, "\(output.finished.text)", sourceLocation: sourceLocation)
        check(name, output, sourceLocation)
        return output
      }

      func check(_ name: String, _ output: JSONLines, _ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(schemas.problems(name, output.finished) == [], "\(name)", sourceLocation: sourceLocation)
        if !output.answers.isEmpty { seen.answers.withLock { _ = $0.insert(name) } }
        if !output.errors.isEmpty { seen.errors.withLock { _ = $0.insert(name) } }
      }
    }

    private static func source(_ scratch: Scratch) async throws {
      try await scratch.shell(
        #"""
        mkdir -p d/e; for i in 1 2 3; do head -c 100000 /dev/zero > d/$i; done; ln d/1 d/linked; ln -s d link; : > empty
        echo gated > d/gated; echo odd > "$(printf 'odd\377')"
        """#)
    }

    private static let scenario = """
      rules:
        - {name: hold, match: {path: d/gated}, gate: g}
        - {name: fail, match: {path: d/3}, fault: EIO}
      """

    @Test func everyCommandAnswersByItsSchema() async throws {
      let session = Session(schemas: try JSONSchemas())
      try await withScratch { scratch in
        try await Self.source(scratch)
        let file = try scratch.scenario(Self.scenario)
        try await session.run("scenario check", [file])
        try KeptState.make(at: scratch.root + "/state")
        try await session.run("check", [scratch.root + "/state"])
        try await session.run("export", [scratch.root + "/state", scratch.root + "/exported"])
        try await session.run("doctor", [])
        try KeptState.make(at: scratch.root + "/older", source: scratch.source)
        try await session.run(
          "restore", ["--simulate", "--from", scratch.root + "/older", scratch.root + "/restored"])
        try await session.run(
          "mount",
          [
            "--scenario", file, "--log", scratch.log.path, "--cache-dir", scratch.cache, scratch.source,
            scratch.mountpoint,
          ])
        let volume = Volume(scratch: scratch, mounted: try await run(["true"]))
        try await Self.look(volume, session)
        try await Self.simulate(volume, file, session)
        try await session.run("unmount", [scratch.mountpoint])
        try await Self.change(volume, session)
        try await Self.fail(scratch, session)
        for target in [scratch.log.path] {
          try await session.run("log", [target])
          try await session.run("summary", [target, "--files"])
          try await session.run("diff", [target, target])
        }
        try Self.checkLog(scratch)
        try await Self.tryRuns(scratch, session)
      }
      let all = Set(session.schemas.ofCommands.keys)
      #expect(session.seen.answers.withLock { $0 } == all.subtracting(["exec", "coordinate"]))
      #expect(session.seen.errors.withLock { $0 } == all)
    }

    private static func look(_ volume: Volume, _ session: Session) async throws {
      let mountpoint = volume.mountpoint
      try await session.run("explain", [mountpoint])
      _ = try await volume.scratch.shell(
        #"cat "$MOUNT/d/1" "$MOUNT/d/linked" "$MOUNT"/odd* > /dev/null; ls -lR "$MOUNT" > /dev/null"#)
      try await session.run("materialize", [volume.path("d/2"), volume.path("d/3")], status: 1)
      try await session.run("status", [])
      try await session.run("status", [mountpoint])
      try await session.run("ls", ["-R", mountpoint])
      try await session.run("mark", [mountpoint, "one"])
      try await session.run("summary", [mountpoint])
      try await session.run("explain", [volume.path("d/3"), "--pid", "\(getpid())"])
      try await volume.scratch.shell("echo more > added; rm empty; echo changed > d/2")
      try await session.run("refresh", [mountpoint])
      try await session.run("conflicts", [mountpoint])
      try await session.run("pressure", ["1", mountpoint])
      try await session.run("evict", [mountpoint], status: 1)
      try await session.run("pin", [volume.path("added")])
      try await session.run("unpin", [volume.path("added")])
      try await session.run("capacity", [mountpoint])
      try await session.run("inventory", [volume.path("d"), "--since", "one"])
      let holder = try Child(["sh", "-c", #"cat "$0""#, volume.path("d/gated")])
      try await session.run("gate wait", [mountpoint, "g"])
      try await session.run("status", [mountpoint])
      try await session.run("gate list", [mountpoint])
      try await session.run("stack", [mountpoint])
      try await session.run("top", [mountpoint, "--count", "2", "--interval", "100ms", "--stacks"])
      try await session.run("summary", [mountpoint, "--files"])
      try await session.run("gate release", [mountpoint, "g", "--fail", "EIO"])
      await holder.wait()
      try await session.run("gate open", [mountpoint, "g"])
      try await session.run("gate close", [mountpoint, "g"])
      try await session.run("log", [mountpoint])
    }

    private static func simulate(_ volume: Volume, _ file: String, _ session: Session) async throws {
      let mountpoint = volume.mountpoint
      try await session.run("set", [mountpoint, "latency={preset: s3}", "present.blocks=one"])
      try await session.run(
        "fault add", [mountpoint, "EIO", "--path", "*.x", "--size", ">1k", "--attempt", "{first: 1}"])
      try await session.run("fault list", [mountpoint])
      try await session.run("fault remove", [mountpoint, "fail"])
      try await session.run("policy", [mountpoint, "rule", "off", "--exe", "tar", "--name", "tar", "--kind", "any"])
      try await session.run("policy", [mountpoint])
      try await session.run("policy", [mountpoint, "remove", "tar"])
      try await session.run("offline", [mountpoint])
      try await session.run("online", [mountpoint])
      try await session.run("scenario show", [mountpoint])
      try await session.run("scenario apply", [mountpoint, file])
      try await session.run("policy", [mountpoint, "off"])
      _ = try await run(["cat", volume.path("d/1")])
    }

    private static func change(_ volume: Volume, _ session: Session) async throws {
      let scratch = volume.scratch
      try await session.run(
        "mount", ["--scratch", "--cache-dir", scratch.cache, scratch.source, scratch.mountpoint])
      try await session.run("reset", [scratch.mountpoint])
      try await session.run("remove", [volume.path("d")])
      try await session.run("unmount", [scratch.mountpoint])
    }

    /// Each command with something that it refuses.
    private static func fail(_ scratch: Scratch, _ session: Session) async throws {
      let nowhere = scratch.root
      let bad = try scratch.scenario("latency: soon\n", name: "bad.yaml")
      for name in [
        "unmount", "log", "summary", "status", "ls", "materialize", "evict", "pin", "unpin", "remove", "refresh",
        "conflicts",
        "scenario show",
        "gate list",
        "stack", "top",
        "policy",
        "offline", "online", "explain", "fault list", "reset",
      ] {
        try await session.run(name, [nowhere], status: 3)
      }
      for name in ["mark", "gate wait", "gate release", "gate open", "gate close", "fault remove"] {
        try await session.run(name, [nowhere, "x"], status: 3)
      }
      try await session.run("pressure", ["1", nowhere], status: 3)
      try await session.run("capacity", [nowhere], status: 3)
      try await session.run("inventory", [nowhere], status: 3)
      try await session.run("check-log", [nowhere, "--max-files", "0"], status: 3)
      try await session.run("diff", [nowhere, nowhere], status: 3)
      try await session.run("set", [nowhere, "latency"], status: 2)
      try await session.run("fault add", [nowhere, "EIO"], status: 3)
      try await session.run("scenario check", [bad], status: 2)
      try await session.run("scenario apply", [nowhere, bad], status: 3)
      try await session.run("mount", [nowhere, nowhere], status: 1)
      try await session.run("check", [nowhere], status: 1)
      try await session.run("export", [nowhere, scratch.root + "/target"], status: 1)
      try await session.run("doctor", [nowhere], status: 2)
      try await session.run("restore", ["--simulate", "--from", nowhere, scratch.root + "-new"], status: 1)
      session.check(
        "exec", try await JSONLines.run(["exec", "--json", "--materialize", "default", "--", "/nonexistent"]))
      session.check(
        "coordinate", try await JSONLines.run(["coordinate", "--json", "--read", nowhere, "--", "true"]))
    }

    private static func tryRuns(_ scratch: Scratch, _ session: Session) async throws {
      let script = "cat {}/d/1 {}/d/3 > /dev/null; (exec sleep 1000) & exit 3"
      let finished = try await MountTests.run([
        Machine.dataless, "run", scratch.source, "--json", "--scenario", try scratch.scenario(Self.scenario),
        "--max-files",
        "0", "--wait-children", "0", "--kill-children", "--log", scratch.root + "/run.jsonl", "--", "sh", "-c", script,
      ])
      #expect(finished.status == 90, "\(finished.errorText)")
      let output = try JSONLines(finished)
      session.check("run", output)
      #expect(output.answer?["messages"]?.array.contains { $0.string?.contains("budget exceeded") == true } == true)
      let refused = try JSONLines(
        try await MountTests.run([Machine.dataless, "run", scratch.root + "/absent", "--json", "--", "true"]))
      session.check("run", refused)
      // Held and not held.
      let log = scratch.root + "/run.jsonl"
      try await session.run("check-log", [log, "--forbid", "nothing-here", "--max-bytes", "0"], status: 90)
      try checkLog(scratch, name: "run.jsonl")
    }

    /// Every line of the file itself.
    private static func checkLog(_ scratch: Scratch, name: String = "log.jsonl") throws {
      let schema = try Schema.document("schemas/event.schema.json")
      let lines = LogFile(path: scratch.root + "/" + name).text().split(separator: "\n")
      #expect(lines.count > 20)
      for line in lines { #expect(schema.problems(ofLine: line.utf8) == [], "\(line)") }
    }
  }
}
