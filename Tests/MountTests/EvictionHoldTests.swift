import Glibc
import Testing

extension RealMounts {
  /// A caller that is held, at a gate perhaps, holds nobody's eviction but that of its own file.
  @Suite struct EvictionHolds {
    /// The kernel drops pages one file after the other, and would wait for a page that is being read. So the lane is
    /// kept busy, with a directory of which every name is to be forgotten, until a reader has come between the eviction
    /// of its file and the drop of that file's pages.
    private static let names = 30_000

    private static func prepare(_ scratch: Scratch) async throws {
      for name in ["a", "b", "c"] { try scratch.file(name, size: 50_000) }
      try await scratch.shell("mkdir many; cd many; seq -f 'f%.0f' \(names) | xargs touch")
    }

    /// Waits until an item is dataless.
    private static func expectDataless(_ volume: Volume, _ name: String) async throws {
      while try await volume.list(recursive: false)[name]?["state"]?.string != "dataless" {}
    }

    @Test(arguments: [["--without", "direct-mapping"], []])
    func aReaderThatIsHeldHoldsNoOtherEviction(options: [String]) async throws {
      try await withVolume(["--without", "name-epoch"] + options, source: Self.prepare) { volume in
        let hashes = (try await volume.sourceHash("a"), try await volume.sourceHash("b"))
        try await volume.done("materialize", volume.path("a"), volume.path("b"))
        let listed = try await run(["sh", "-c", #"ls -U "$1" | wc -l"#, "-", volume.path("many")])
        #expect(listed.text == "\(Self.names)\n")
        let gate = try volume.scratch.scenario("rules: [{name: hold, match: {path: a, kind: file}, gate: held}]")
        try await volume.done("scenario", "apply", volume.mountpoint, gate)
        let directory = try Child([Machine.dataless, "evict", volume.path("many")])
        try await Self.expectDataless(volume, "many")
        let file = try Child([Machine.dataless, "evict", volume.path("a")])
        try await Self.expectDataless(volume, "a")
        let reader = try await volume.scratch.startProbe("map", "shared", volume.path("a"))
        try await volume.waitForCallers(1, at: "held")
        // Nobody has let the reader go, and all of it is through, or refused.
        let other = try await volume.dataless("evict", volume.path("b"))
        #expect(other.succeeded, "\(other.errorText)")
        #expect(try await volume.read("b").hash == hashes.1)
        #expect(await file.wait().succeeded && !reader.hasFinished)
        #expect(await directory.wait().succeeded)
        let busy = try await volume.dataless("evict", volume.path("a"))
        #expect(busy.status == 1 && busy.errorText.contains("EBUSY"), "\(busy.errorText)")
        try await volume.done("gate", "open", volume.mountpoint, "held")
        let answers = await reader.wait().lines.map { Answer($0) }
        #expect(answers.last?.hash == hashes.0, "\(answers)")
      }
    }
  }
}
