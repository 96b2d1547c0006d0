import Glibc
import Testing

extension RealMounts {
  /// Where callers stand while they wait, by the log and by `dataless stack`.
  @Suite struct Stacks {
    static let scenario = """
      rules:
        - {name: hold, match: {path: "p*"}, gate: g}
      """

    static let program = """
      #include <fcntl.h>
      #include <unistd.h>
      static volatile char sink;
      __attribute__((noinline)) static int load_thumbnail(const char *path) {
        char byte = 0;
        int file = open(path, O_RDONLY);
        int count = (int)read(file, &byte, 1);
        sink = byte;
        return count + file;
      }
      __attribute__((noinline)) static int draw(const char *path) { return load_thumbnail(path) * 2; }
      int main(int count, char **words) { return draw(words[count - 1]) & 64; }
      """

    static let script = """
      import sys
      def load_thumbnail(path):
          with open(path, "rb") as file:
              return file.read(1)
      class Window:
          def draw(self, path):
              return load_thumbnail(path)
      Window().draw(sys.argv[1])
      """

    private static func source(_ scratch: Scratch) throws {
      for name in ["p1", "p2", "p3", "free"] { try scratch.file(name, size: 5000) }
    }

    private static func compile(_ scratch: Scratch, _ options: String = "-O1 -g") async throws -> String {
      try scratch.file("../culprit.c", content: program.utf8)
      _ = try await scratch.shell(
        "cc \(options) -fno-optimize-sibling-calls -o '\(scratch.root)/culprit' '\(scratch.root)/culprit.c'")
      return "\(scratch.root)/culprit"
    }

    /// `function:line` of native frames that have a line.
    private static func lines(_ stack: JSON?) -> [String] {
      (stack?["frames"]?.array ?? []).compactMap { frame in
        frame["line"]?.int.map { "\(frame["symbol"]?.string ?? "?"):\($0)" }
      }
    }

    /// Before a file is read its directory is listed, which is a wait, too.
    private static func isStackOfARead(_ record: JSON) -> Bool {
      record["type"]?.string == "wait.stack" && record["trigger"]?.string == "read"
    }

    private static let expected = ["load_thumbnail:7", "draw:11", "main:12"]

    @Test func theLogNamesTheLineOfACProgram() async throws {
      try await withScenario(Self.scenario + "\nstacks: all", source: Self.source) { volume in
        let program = try await Self.compile(volume.scratch)
        for name in ["p1", "p2"] {
          let child = try Child([program, volume.path(name)])
          try await volume.waitForCallers(1, at: "g")
          _ = try await volume.log.wait("wait.stack") { records in
            records.count { Self.isStackOfARead($0) } == (name == "p1" ? 1 : 2)
          }
          try await volume.done("gate", "release", volume.mountpoint, "g")
          #expect(await child.wait().succeeded)
        }
        let stacks = try await volume.records(ofType: "wait.stack").filter { Self.isStackOfARead($0) }
        #expect(stacks.map { $0["outcome"]?.string } == ["ok", "ok"])
        let stack = try #require(stacks.first?["stack"])
        #expect(stack["complete"]?.bool == true)
        let lines = Self.lines(stack).filter { Self.expected.contains($0) }
        #expect(lines == Self.expected, "\(Self.lines(stack))")
        let frame = try #require(stack["frames"]?.array.first { $0["symbol"]?.string == "load_thumbnail" })
        #expect(frame["module"]?.string == program && frame["file"]?.string?.hasSuffix("/culprit.c") == true)
        // The same place again is a reference, and joins its own wait.
        #expect(stacks.first?["stack_id"]?.int != nil && stacks.last?["stack_id"] == stacks.first?["stack_id"])
        #expect(stacks.last?["stack"] == nil)
        let attempts = try await volume.fileAttempts().map { $0["attempt"]?.int }
        #expect(stacks.map { $0["attempt"]?.int } == attempts)
        let text = try await volume.dataless("log", volume.mountpoint).text
        #expect(text.contains("load_thumbnail (culprit.c:7) < draw (culprit.c:11) < main (culprit.c:12)"), "\(text)")
      }
    }

    /// `stacks` is off; a rule wants those of one file, and of a call that is merely delayed. The waiting thread has a
    /// name of its own.
    @Test func aRuleWantsTheStacksOfWhatItMatches() async throws {
      let scenario = """
        access: {read: 300ms}
        rules:
          - {name: looked-at, match: {path: "p2"}, stack: on, gate: g}
          - {name: hold, match: {path: "p*"}, gate: g}
        """
      let script = """
        import os, sys, threading
        def load_thumbnail(path):
            open("/proc/thread-self/comm", "w").write("thumbnailer")
            with open(path, "rb", buffering=0) as file:
                return file.read(1)
        for path in sys.argv[1:]:
            thread = threading.Thread(target=load_thumbnail, args=(path,))
            thread.start()
            thread.join()
        """
      try await withScenario(scenario, source: Self.source) { volume in
        try volume.scratch.file("../fm.py", content: script.utf8)
        let child = try Child(["python3", "\(volume.scratch.root)/fm.py", volume.path("p1"), volume.path("p2")])
        for _ in 0..<2 {
          try await volume.waitForCallers(1, at: "g")
          let text = try await volume.dataless("stack", volume.mountpoint).text
          #expect(text.contains("python3 fm.py[") && text.contains("'thumbnailer'"), "\(text)")
          try await volume.done("gate", "release", volume.mountpoint, "g")
        }
        #expect(await child.wait().succeeded)
        let stacks = try await volume.records(ofType: "wait.stack")
        let attempts = stacks.filter { $0["attempt"] != nil }
        #expect(attempts.count == 1 && attempts.first?["trigger"]?.string == "read")
        let calls = stacks.filter { $0["access"] != nil && $0["operation"]?.string == "read" }
        #expect(calls.first?["path"]?.string == "p2" && calls.allSatisfy { $0["path"]?.string != "p1" })
        #expect(stacks.allSatisfy { $0["thread_name"]?.string == "thumbnailer" && $0["outcome"]?.string == "ok" })
        let waits = try await volume.records(ofType: "wait.finished").filter { $0["trigger"]?.string == "read" }
        #expect(waits.count == 2 && waits.allSatisfy { $0["thread_name"]?.string == "thumbnailer" })
      }
    }

    @Test func aPythonProgramIsNamedByItsOwnFunctions() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        try volume.scratch.file("../fm.py", content: Self.script.utf8)
        let child = try Child(["python3", "\(volume.scratch.root)/fm.py", volume.path("p1")])
        try await volume.waitForCallers(1, at: "g")
        let caller = try await volume.json("stack", volume.mountpoint, "--pid", "\(child.pid)")
        #expect(caller["outcome"]?.string == "ok" && caller["path"]?.string == "p1")
        let interpreted = try #require(caller["stack"]?["interpreted"])
        let frames = interpreted["frames"]?.array ?? []
        #expect(interpreted["readable"]?.bool != true || frames.compactMap { $0["line"]?.int } == [4, 7, 8])
        let other = try await volume.dataless("stack", volume.mountpoint, "--pid", "1")
        #expect(other.succeeded && other.lines == ["nobody of process 1 waits; 1 other does"])
        let text = try await volume.dataless("stack", volume.mountpoint).text
        #expect(text.contains("p1") && text.contains("(fm.py:4)"), "\(text)")
        try await volume.done("gate", "release", volume.mountpoint, "g")
        #expect(await child.wait().succeeded)
        #expect(try await volume.records(ofType: "wait.stack").isEmpty, "nobody asked for stacks in the log")
      }
    }

    @Test func aRunEndsWithTheStacksOfItsWaits() async throws {
      try await withScratch { scratch in
        try scratch.file("p1", size: 5000)
        let program = try await Self.compile(scratch)
        let finished = try await run(
          [
            Machine.dataless, "run", "--stacks", "over=20ms", "--latency", "300ms", "--log", scratch.log.path,
            scratch.source, "--", program, "{}/p1",
          ], timeLimit: .seconds(60))
        #expect(finished.succeeded, "\(finished.errorText)")
        let stacks = try scratch.log.records().filter { Self.isStackOfARead($0) }
        #expect(stacks.map { $0["outcome"]?.string } == ["ok"])
        #expect(Self.lines(stacks.first?["stack"]).filter { Self.expected.contains($0) } == Self.expected)
      }
    }

    @Test func aStrippedProgramHasModuleAndOffset() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let program = try await Self.compile(volume.scratch, "-O1 -s")
        let child = try Child([program, volume.path("p1")])
        try await volume.waitForCallers(1, at: "g")
        let caller = try await volume.json("stack", volume.mountpoint)
        let frames = (caller["stack"]?["frames"]?.array ?? []).filter { $0["module"]?.string == program }
        #expect(frames.count >= 3 && frames.allSatisfy { $0["symbol"] == nil && ($0["offset"]?.int ?? 0) > 0 })
        try await volume.done("gate", "release", volume.mountpoint, "g")
        await child.wait()
      }
    }

    /// A program that is itself on the volume: its code is never read (S15), and nothing more is materialized.
    @Test func codeOnAVolumeIsNeverLookedAt() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let program = try await Self.compile(volume.scratch)
        _ = try await volume.scratch.shell(
          "cp '\(program)' \"$SOURCE/culprit\" || cp '\(program)' '\(volume.scratch.source)/culprit'")
        _ = try await volume.dataless("refresh", volume.mountpoint)
        let child = try Child([volume.path("culprit"), volume.path("p1")])
        try await volume.waitForCallers(1, at: "g")
        let before = try await volume.fileAttempts().count
        let caller = try await volume.json("stack", volume.mountpoint)
        #expect(caller["outcome"]?.string == "ok")
        #expect(caller["stack"]?["complete"]?.bool == false)
        let modules = (caller["stack"]?["frames"]?.array ?? []).compactMap { $0["module"]?.string }
        #expect(!modules.contains(volume.path("culprit")), "\(modules)")
        #expect(try await volume.fileAttempts().count == before)
        try await volume.done("gate", "release", volume.mountpoint, "g")
        await child.wait()
      }
    }

    /// What reads callers' memory has no /dev/fuse, and what parses their files no rights.
    @Test func theProcessesHaveNothingOfTheDaemon() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let program = try await Self.compile(volume.scratch)
        let child = try Child([program, volume.path("p1")])
        try await volume.waitForCallers(1, at: "g")
        _ = try await volume.json("stack", volume.mountpoint)
        let daemon = try #require(try await volume.status()["pid"]?.int)
        func children(_ pid: String) async throws -> [String] {
          try await volume.scratch.shell("cat /proc/\(pid)/task/*/children").split(whereSeparator: \.isWhitespace)
            .map(String.init)
        }
        let capture = try #require(try await children("\(daemon)").first)
        let symbols = try #require(try await children(capture).first)
        for process in [capture, symbols] {
          let links = try await volume.scratch.shell("for f in /proc/\(process)/fd/*; do readlink $f; done")
          #expect(!links.contains("fuse") && !links.contains(".jsonl"), "\(links)")
        }
        let status = try await volume.scratch.shell("cat /proc/\(symbols)/status")
        #expect(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
        // Also where the caller is root.
        #expect(status.contains("CapEff:\t0000000000000000\n") && status.contains("CapPrm:\t0000000000000000\n"))
        try await volume.done("gate", "release", volume.mountpoint, "g")
        await child.wait()
      }
    }
  }
}
