import FoundationEssentials
import Glibc
import Testing

extension RealMounts {
  /// The daemon that `mount` leaves behind.
  @Suite struct Daemon {
    @Test func mountReturnsWhenTheVolumeAnswersAndSaysWhereItsLogIs() async throws {
      try await withVolume(source: { try $0.file("file", size: 10) }) { volume in
        #expect(volume.mounted.text.contains(volume.mountpoint))
        #expect(volume.mounted.text.contains(volume.log.path))
        #expect(try await run(["ls", volume.mountpoint], timeLimit: .seconds(30)).text == "file\n")
        let first = try volume.log.records().first
        #expect(first?["type"]?.string == "volume.mounted")
        #expect(first?["v"]?.int == 1)
        #expect(first?["read_only"]?.bool == true)
        let status = try await volume.status()
        #expect(status["source"]?.string == volume.scratch.source)
        #expect(status["mountpoint"]?.string == volume.mountpoint)
        #expect(status["log"]?.string == volume.log.path)
      }
    }

    @Test func mountSaysTheSameAsJSON() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 10)
        let mounted = try await scratch.tryMount(["--json"])
        let answer = try JSON(parsing: mounted.output)
        #expect(answer["mountpoint"]?.string == scratch.mountpoint)
        #expect(answer["log"]?.string == scratch.log.path)
        #expect(answer["read_only"]?.bool == true)
        let daemon = try #require(answer["pid"]?.int)
        #expect(Machine.processExists(daemon))
      }
    }

    @Test func daemonHasNoTiesToWhatStartedIt() async throws {
      try await withVolume(source: { try $0.file("file", size: 10) }) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let manager = FileManager.default
        #expect(try manager.destinationOfSymbolicLink(atPath: "/proc/\(daemon)/cwd") == "/")
        for fd in 0...2 {
          #expect(try manager.destinationOfSymbolicLink(atPath: "/proc/\(daemon)/fd/\(fd)") == "/dev/null")
        }
        let stat = try #require(manager.contents(atPath: "/proc/\(daemon)/stat"))
        let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last!.split(separator: " ")
        #expect(fields[2] != "\(getpgrp())", "a process group of its own")
        #expect(fields[3] != "\(getsid(0))", "a session of its own")
        #expect(fields[4] == "0", "no terminal")
      }
    }

    @Test func inTheForegroundTheDaemonStaysAndEndsWithAnInterrupt() async throws {
      try await withScratch { scratch in
        try scratch.file("file", size: 10)
        let daemon = try Child(
          [
            Machine.dataless, "mount", "--foreground", "--log", scratch.log.path, "--cache-dir", scratch.cache,
            scratch.source, scratch.mountpoint,
          ])
        #expect(await daemon.line { $0.contains(scratch.mountpoint) } != nil)
        #expect(try await run(["ls", scratch.mountpoint], timeLimit: .seconds(30)).text == "file\n")
        #expect(!daemon.hasFinished)
        daemon.signal(SIGINT)
        let finished = await daemon.wait()
        #expect(!finished.timedOut)
        #expect(finished.status == 0 || finished.status == 130)
        #expect(!Machine.isMounted(scratch.mountpoint))
      }
    }

    @Test func statusListsAllVolumesAndCountsItemsByState() async throws {
      try await withVolume(source: NoContent.someFiles) { volume in
        _ = try await run(["find", volume.mountpoint])
        try await volume.read("plain")
        let items = try #require(try await volume.status()["items"])
        #expect(items["files"]?.int == 32, "\(items)")
        #expect(items["files_resident"]?.int == 1)
        #expect(items["files_empty"]?.int == 1)
        #expect(items["files_dataless"]?.int == 30)
        #expect(items["files_materializing"]?.int == 0)
        #expect(items["bytes_resident"]?.int == 20_000)
        let all = try await volume.dataless("status")
        #expect(all.text.contains(volume.mountpoint))
        let one = try await volume.dataless("status", volume.mountpoint)
        #expect(one.succeeded && one.text.contains(volume.scratch.source))
      }
    }

    /// A page ends in the middle of a directory, and in the middle of the way down.
    @Test(.enabled(if: Machine.isRoot, "asks the socket below /run"), arguments: 1...5)
    func pagesOfItemsHaveAsManyAsWereAskedForAndTogetherAll(limit: Int) async throws {
      try await withVolume(source: { scratch in
        try await scratch.shell("mkdir -p a/b c; touch a/1 a/2 a/b/3 a/b/4 c/5 6")
      }) { volume in
        let all = try await run(["find", volume.mountpoint, "-mindepth", "1", "-printf", "%P\\n"]).lines
        let device = try #require(Machine.mounts().last { $0.point == volume.mountpoint }?.device)
        let socket = "\(Machine.runtimeDirectory)/\(device)/control.sock"
        var paths: [String] = []
        var after = ""
        repeat {
          let answer = try await run([
            "curl", "--silent", "--fail", "--unix-socket", socket,
            "http://dataless/v1/items?recursive=1&limit=\(limit)\(after)",
          ])
          let page = try JSON(parsing: answer.output)
          let items = try #require(page["items"]?.array)
          #expect(items.count <= limit)
          paths += items.compactMap { $0["path"]?.string }
          after = page["next"]?.string.map { "&after=\($0)" } ?? ""
        } while !after.isEmpty && paths.count < 100
        #expect(paths.sorted() == ([""] + all).sorted())
      }
    }

    @Test func noChildOfTheDaemonHoldsItsDevice() async throws {
      try await withVolume(source: { try $0.file("file", size: 10) }) { volume in
        let daemon = try #require(try await volume.status()["pid"]?.int)
        let fds = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon)/fd")
        for fd in fds where Int(fd)! > 2 {
          // Files and devices; the sockets of the control server are nothing that a mount hangs on.
          let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(daemon)/fd/\(fd)")) ?? ""
          guard target.hasPrefix("/") else { continue }
          let flags = FileManager.default.contents(atPath: "/proc/\(daemon)/fdinfo/\(fd)") ?? Data()
          let line = String(decoding: flags, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("flags:") }
          guard let octal = line?.split(separator: "\t").last, let value = Int(octal, radix: 8) else { continue }
          #expect(value & 0o2000000 != 0, "descriptor \(fd), \(target), is not close-on-exec")
        }
      }
    }
  }

  /// Computed trees.
  @Suite struct Synthetic {
    static func dump(_ spec: String) async throws -> [String] {
      var lines: [String] = []
      try await withScratch { scratch in
        let volume = try await scratch.mount(source: spec)
        lines = try await Metadata.dump(volume.mountpoint, "content")
      }
      return lines
    }

    @Test func theSameSeedIsTheSameTreeAndAnotherSeedAnother() async throws {
      let spec = "synthetic:files=300,depth=3,size=1..20k"
      let first = try await Self.dump(spec + ",seed=1")
      let second = try await Self.dump(spec + ",seed=1")
      let other = try await Self.dump(spec + ",seed=2")
      #expect(first == second)
      #expect(first != other)
      let contents = first.compactMap { Answer($0)["content"] }
      #expect(contents.count == 300)
      #expect(Set(contents).count > 290, "different bytes in different files")
    }

    @Test func aTreeOfAMillionFilesMountsAndAnswers() async throws {
      try await withScratch { scratch in
        let volume = try await scratch.mount(source: "synthetic:files=1000000,depth=3,size=4k..1m,seed=1")
        #expect(try await !run(["ls", volume.mountpoint]).lines.isEmpty)
        let first = try await run(
          ["bash", "-c", "find \"$0\" -type f | head -n 1", volume.mountpoint], timeLimit: .seconds(60))
        let path = try #require(first.lines.first)
        let read = try #require(try await volume.probe("read", path).first)
        #expect(read.outcome == "ok")
        #expect((4096...1_048_576).contains(read.bytes ?? 0))
      }
    }
  }
}
