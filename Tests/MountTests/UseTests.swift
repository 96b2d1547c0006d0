import Testing

extension RealMounts {
  /// What `summary` says of files that tools really read, whichever way: by the process that read, and never blame for
  /// what was not seen.
  @Suite struct Uses {
    private static let size = 1_000_000

    /// Runs a shell script on a fresh volume; `{}` is the mountpoint. - Returns: The summary of its log, with files.
    private static func use(
      _ scratch: Scratch, options: [String] = [], _ script: String
    ) async throws -> (summary: JSON, files: [String: JSON]) {
      let finished = try await Running.run(scratch, options + ["--", "sh", "-c", script])
      #expect(finished.status == 0, "\(finished.errorText)")
      let summary = try await MountTests.run(
        [Machine.dataless, "summary", scratch.log.path, "--files", "--json"])
      let json = try JSON(parsing: summary.text.utf8)
      let files = json["files"]?.array ?? []
      return (json, Dictionary(files.map { ($0["path"]?.string ?? "", $0) }) { $1 })
    }

    private static func process(_ summary: JSON, _ comm: String) -> JSON? {
      summary["processes"]?.array.first { $0["comm"]?.string == comm }
    }

    @Test func aFileThatIsOpenedTwiceIsJudgedByBoth() async throws {
      try await withScratch { scratch in
        try scratch.file("both", size: Self.size)
        try scratch.file("header", size: Self.size)
        let (summary, files) = try await Self.use(
          scratch, "head -c 512 {}/both > /dev/null; cat {}/both > /dev/null; head -c 512 {}/header > /dev/null")
        #expect(files["both"]?["use"]?.string == "whole")
        #expect(files["both"]?["needless"]?.bool == false)
        #expect(files["header"]?["use"]?.string == "header_only")
        #expect(files["header"]?["needless"]?.bool == true)
        #expect(summary["use"]?["needless_files"]?.int == 1)
        let head = Self.process(summary, "head")
        #expect(head?["use"]?["header_only"]?.int == 2 && head?["use"]?["needless_files"]?.int == 1)
        #expect(Self.process(summary, "cat")?["verdict"]?.string == "whole")
      }
    }

    @Test(arguments: [[], ["--without", "passthrough"]])
    func whatTheKernelServesAloneIsUnknown(features: [String]) async throws {
      try await withScratch { scratch in
        try scratch.file("f", size: Self.size)
        let (summary, files) = try await Self.use(
          scratch, options: features + ["--observe", "off"], "head -c 512 {}/f > /dev/null; cat {}/f > /dev/null")
        #expect(files["f"]?["use"]?.string == "unknown")
        #expect(files["f"]?["read_share"] == nil)
        #expect(summary["use"]?["needless_files"]?.int == 0 && summary["use"]?["unknown"]?.int == 1)
        #expect(Self.process(summary, "head")?["verdict"]?.string == "unknown")
        #expect(try scratch.log.records(ofType: "handle.unseen").count == 1)
      }
    }

    @Test func redirectedInputIsReadByTheProgramAndNotByTheShell() async throws {
      try await withScratch { scratch in
        try scratch.file("f", size: Self.size)
        let (summary, _) = try await Self.use(scratch, "sha256sum < {}/f > /dev/null")
        #expect(Self.process(summary, "sha256sum")?["use"]?["whole"]?.int == 1)
        #expect(Self.process(summary, "sha256sum")?["files"]?.int == 1)
        for kind in ["whole", "opened_not_read", "header_only", "in_part"] {
          #expect(Self.process(summary, "sh")?["use"]?[kind]?.int ?? 0 == 0, "\(kind)")
        }
        let closed = try scratch.log.records(ofType: "handle.closed")
        #expect(closed.count == 1 && closed.first?["readers"]?.array.count == 1)
      }
    }

    /// Every way of reading, of a dataless file and once more when it is local.
    @Test(arguments: ["read", "map", "sendfile", "splice"])
    func everyWayOfReadingIsSeen(way: String) async throws {
      try await withScratch { scratch in
        try scratch.file("f", size: Self.size)
        let probe = try await Probe.shared.path()
        let once = way == "map" ? "'\(probe)' map private {}/f" : "'\(probe)' \(way) {}/f"
        let (summary, files) = try await Self.use(scratch, "\(once) > /dev/null; \(once) > /dev/null")
        #expect(files["f"]?["use"]?.string == "whole", "\(way)")
        #expect(summary["use"]?["needless_files"]?.int == 0)
        let closed = try scratch.log.records(ofType: "handle.closed")
        #expect(closed.count == 2, "\(way)")
        #expect(closed.first?["covered_bytes"]?.int == Self.size)
        #expect(closed.first?["mapped_bytes"]?.int == (way == "read" ? nil : Self.size))
        // A mapping of such an open drops the pages first; the others find them in the cache.
        let second = closed.last
        #expect(second?["cached_before"]?.bool == (way == "read" ? nil : true))
        if way == "read" || way == "map" { #expect(second?["covered_bytes"]?.int == Self.size, "\(way)") }
        #expect(try scratch.log.records(ofType: "handle.unseen").isEmpty)
      }
    }

    /// cat(1) copies by copy_file_range(2) where it can. Which call a probe makes is sure.
    @Test func whatIsCopiedWithinTheVolumeIsRead() async throws {
      try await withScratch { scratch in
        try scratch.file("f", size: Self.size)
        let copy = """
          import os, sys
          source, target = (os.open(sys.argv[1] + name, flags) for name, flags in (("/f", 0), ("/copy", 0o102)))
          while os.copy_file_range(source, target, 1 << 20): pass
          """
        let (summary, files) = try await Self.use(
          scratch, options: ["--scratch"], "python3 -c '\(copy)' {}")
        #expect(files["f"]?["use"]?.string == "whole")
        #expect(summary["use"]?["needless_files"]?.int == 0)
      }
    }

    /// Who can only write, or has emptied it, reads nothing of what was fetched.
    @Test func whatIsOpenedForWritingAloneIsNoUnknownUse() async throws {
      try await withScratch { scratch in
        for name in ["cut", "appended"] { try scratch.file(name, size: Self.size) }
        let (summary, files) = try await Self.use(
          scratch, options: ["--scratch"],
          "head -c 512 {}/cut > /dev/null; echo x > {}/cut; head -c 512 {}/appended > /dev/null; echo x >> {}/appended")
        #expect(files["cut"]?["use"]?.string == "header_only" && files["appended"]?["use"]?.string == "header_only")
        #expect(summary["use"]?["needless_files"]?.int == 2 && summary["use"]?["unknown"]?.int ?? 0 == 0)
        #expect(try scratch.log.records(ofType: "handle.unseen").isEmpty)
      }
    }

    /// A handle that outlives its volume has its record, and so has one that is open when somebody asks.
    @Test func whatIsOpenIsToldWhenAskedAndAtTheEnd() async throws {
      try await withVolume(source: { try $0.file("f", size: Self.size) }) { volume in
        let holder = try await volume.scratch.startProbe("hold", "read", volume.path("f"))
        #expect(await holder.line() == "outcome=ok")
        let asked = try await volume.json("summary", volume.mountpoint, "--files")
        #expect(asked["use"]?["needless_files"]?.int == 0, "it may read on")
        #expect(try volume.log.records(ofType: "handle.open").count == 1)
        #expect(try volume.log.records(ofType: "handle.closed").isEmpty)
        #expect(try await volume.dataless("unmount", volume.mountpoint).succeeded)
        #expect(try volume.log.records(ofType: "handle.closed").count == 1)
        #expect(try volume.log.records().last?["type"]?.string == "volume.unmounted")
        holder.closeInput()
        #expect(await holder.wait().succeeded)
      }
    }

    @Test func aProgramThatIsExecutedIsReadByPages() async throws {
      try await withScratch { scratch in
        let copied = try await MountTests.run(["cp", try await Probe.shared.path(), "\(scratch.source)/probe"])
        #expect(copied.status == 0)
        let (_, files) = try await Self.use(scratch, "{}/probe look {} > /dev/null; true")
        let mapped = try #require(files["probe"]?["mapped_bytes"]?.int)
        #expect(mapped > 0)
        #expect(["in_part", "whole"].contains(files["probe"]?["use"]?.string))
      }
    }
  }
}
