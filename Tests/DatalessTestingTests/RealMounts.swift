import FoundationEssentials
import Glibc
import Testing

@testable import DatalessTesting

/// Volumes that are mounted: `scripts/test` gives each suite a job of its own.
@Suite(.serialized) enum RealMounts {
  /// The executable beside this test bundle, unless the environment names one.
  static let executable: String = {
    if let named = ProcessInfo.processInfo.environment["DATALESS"], !named.isEmpty { return named }
    let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return bundle.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/dataless"
  }()
}

extension RealMounts {
  @Suite struct Volumes {
    @Test func whatAProgramReadsIsKnown() async throws {
      try await withDatalessVolume(
        ["a": "1", "b": "22", "folder/": "", "c": 48000], executable: RealMounts.executable
      ) { volume in
        let result = try await volume.run("cat", "{}/a", "{}/b")
        #expect(result.output == "122")
        #expect(try await volume.materialized(by: "cat") == ["a", "b"])
        #expect(try await volume.materialized(by: "rsync") == [])
        let counting = try await volume.start("sh", "-c", "cat \"$DATALESS_MOUNT/c\" | wc -c")
        #expect(try await trimmed(counting.wait().output) == "48000")
        #expect(try await volume.materialized(by: counting) == ["c"])
        #expect(try await volume.materialized() == ["a", "b", "c"])
        try await volume.evict("a")
        try await volume.mark("again")
        try await volume.run("cat", "{}/a")
        #expect(try await volume.log("materialization.finished", conditions: ["--path", "a"]).count == 2)
      }
    }

    @Test func aGateHoldsCallersWhoseStacksAreShown() async throws {
      try await withDatalessVolume(
        ["a.jpg": 100, "b.jpg": 100], rules: [["match": ["path": "*.jpg", "kind": "file"], "gate": "photos"]],
        executable: RealMounts.executable
      ) { volume in
        let photos = volume.gate("photos")
        let first = try await volume.start("cat", "{}/a.jpg")
        let second = try await volume.start("cat", "{}/b.jpg")
        try await photos.callers(2)
        let callers = try await volume.stacks()
        #expect(Set(callers.map(\.path)) == ["a.jpg", "b.jpg"])
        #expect(Set(callers.compactMap(\.process.pid)) == [first.pid, second.pid])
        let late = await #expect(throws: DatalessError.self) {
          try await photos.callers(3, timeout: .milliseconds(20))
        }
        #expect(late?.code == "timed_out" && late?.message.contains("a.jpg by cat[\(first.pid)]") == true)
        let slow = await #expect(throws: DatalessError.self) { try await first.wait(timeout: .milliseconds(1)) }
        #expect(slow?.message.contains("b.jpg by cat[\(second.pid)]") == true)
        try await photos.release(errno: "EIO", path: "b.jpg")
        let result = try await second.wait()
        #expect(result.status == 1 && result.error.contains("Input/output error"))
        let error = await #expect(throws: DatalessError.self) { try await volume.gate("none").callers(1) }
        #expect(error?.code == "not_found")
      }
    }

    @Test func offlineEndsWithItsBody() async throws {
      try await withDatalessVolume(["a": "1"], executable: RealMounts.executable) { volume in
        try await volume.run("ls", "{}")
        try await volume.offline {
          let result = try await volume.run("cat", "{}/a", check: false)
          #expect(result.status == 1)
        }
        #expect(try await volume.run("cat", "{}/a").output == "1")
        try await volume.scenario(["latency": "1ms"])
        try await volume.set(["concurrency": 4])
        let words = await #expect(throws: DatalessError.self) { try await volume.set(["latency": "never"]) }
        #expect(words?.message.contains("latency") == true)
      }
    }

    @Test func aViolationSaysWhoAndWhat() async throws {
      let volume = try await DatalessVolume.mount(
        VolumeOptions(
          ["a": "1", "b": "2"], latency: .milliseconds(100), maxFiles: 1, executable: RealMounts.executable))
      try await volume.run("cat", "{}/a")
      try await volume.expect(.maxFiles(1), .forbid("b"))
      try await volume.run("cat", "{}/b")
      let early = await #expect(throws: ExpectationFailure.self) { try await volume.expect(.forbid("b")) }
      #expect(early?.text.contains("b by cat[") == true)
      #expect(await volume.story().contains("VIOLATED  max_files"))
      let failure = await #expect(throws: ExpectationFailure.self) { try await volume.check() }
      await volume.close()
      #expect(failure?.isViolated == true)
      #expect(failure?.text.contains("b by cat[") == true)
      #expect(failure?.text.contains("  at ") == true, "\(failure?.text ?? "")")
    }

    @Test(.datalessVolume(["a": "1", "b": "2"], maxFiles: 1, executable: RealMounts.executable))
    func aTraitIsAVolume() async throws {
      let volume = try DatalessVolume.current
      try await volume.run("cat", "{}/a")
      #expect(try await volume.materialized(by: "cat") == ["a"])
    }

    @Test func whatIsClosedIsGone() async throws {
      let volume = try await DatalessVolume.mount(VolumeOptions(["a": "1"], executable: RealMounts.executable))
      await volume.close()
      await volume.close()
      #expect(!volume.isMounted)
      #expect(access(volume.path, F_OK) != 0 && errno == ENOENT)
    }

    @Test func whatCannotBeMountedIsAnErrorAndLeavesNothing() async throws {
      let error = await #expect(throws: DatalessError.self) {
        try await withDatalessVolume(
          ["a": "1"], settings: ["latncy": "1s"], executable: RealMounts.executable
        ) { _ in }
      }
      #expect(error?.code == "invalid_scenario")
      let workspace = try await Workspaces.shared.get(Executable.find(RealMounts.executable))
      let left = try FileManager.default.contentsOfDirectory(atPath: workspace.folder)
      #expect(!left.contains { $0.hasPrefix("v") }, "\(left)")
    }

    @Test func aCancelledTestLeavesNoVolume() async throws {
      let (paths, continuation) = AsyncStream.makeStream(of: String.self)
      let task = Task {
        try await withDatalessVolume(
          ["a": "1"], rules: [["match": ["kind": "file"], "gate": "g"]], executable: RealMounts.executable
        ) { volume in
          let program = try await volume.start("cat", "{}/a")
          try await volume.gate("g").wait()
          continuation.yield(volume.path)
          continuation.finish()
          _ = try await program.wait(timeout: .seconds(30))
        }
      }
      var path = ""
      for await one in paths { path = one }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(!path.isEmpty)
      #expect(access(path, F_OK) != 0 && errno == ENOENT)
    }
  }
}

/// What is left of a test process that is killed.
extension RealMounts {
  @Suite struct Death {
    static let fifo = ProcessInfo.processInfo.environment["DATALESS_TESTING_FIFO"] ?? ""

    /// Runs in a process of its own, which `aKilledTestLeavesNothing` kills.
    @Test(.enabled(if: !fifo.isEmpty, "for a process that another test starts")) func victim() async throws {
      let gate: JSONValue = ["match": ["kind": "file"], "gate": "g"]
      let volume = try await DatalessVolume.mount(
        VolumeOptions(["a": "1"], rules: [gate], executable: RealMounts.executable))
      let reader = try await volume.start("cat", "{}/a")
      try await volume.gate("g").wait()
      try await volume.run("sh", "-c", "echo $1 $2 >\"$3\"", "sh", volume.folder, "\(reader.pid)", Self.fifo)
      _ = try await reader.wait(timeout: .seconds(600))
    }

    /// What is written to a FIFO; waits for it.
    private static func line(of fifo: String) -> String {
      let descriptor = open(fifo, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &buffer, buffer.count)
      return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test(.timeLimit(.minutes(1))) func aKilledTestLeavesNothing() async throws {
      let workspace = try await Workspaces.shared.get(Executable.find(RealMounts.executable))
      let fifo = "\(workspace.folder)/fifo"
      #expect(mkfifo(fifo, 0o600) == 0)
      defer { unlink(fifo) }
      let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let arguments = [bundle, "--testing-library", "swift-testing", "--filter", "RealMounts.Death/victim"]
      var environment = workspace.executable.environment
      environment["DATALESS_TESTING_FIFO"] = fifo
      let child = try await Child.start(Child.Plan(words: arguments, environment: environment))
      let said = try await Threads.run { Self.line(of: fifo) }
      let words = trimmed(said).split(separator: " ").map(String.init)
      try #require(words.count == 2, "\(said)")
      let reader = try #require(Int32(words[1]))
      let folder = words[0].split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
      let lock = open(folder + "/lock", O_RDWR | O_CLOEXEC)
      #expect(lock >= 0)
      defer { close(lock) }
      #expect(kill(reader, 0) == 0)
      await child.kill()
      // The keeper has it until it has ended.
      try await Threads.run { while flock(lock, LOCK_EX) != 0 && errno == EINTR {} }
      #expect(access(folder, F_OK) != 0 && errno == ENOENT)
      // Dead, though nobody may have asked for its status yet.
      #expect(FileManager.default.contents(atPath: "/proc/\(reader)/cmdline") ?? Data() == Data())
      let mounts = String(
        decoding: FileManager.default.contents(atPath: "/proc/self/mountinfo") ?? Data(), as: UTF8.self)
      #expect(!mounts.contains(folder))
    }
  }
}
