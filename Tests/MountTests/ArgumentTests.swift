import Testing

extension RealMounts {
  /// Whose command lines are in the log, and in what is shown of it.
  @Suite struct Arguments {
    /// A shell with a secret in its code, which is an ancestor of a reader with a secret of its own.
    private static func log(_ scratch: Scratch, _ policy: [String]) async throws -> (log: String, shown: String) {
      try scratch.file("file", size: 1000)
      let script = ": parent-secret; cat {}/file; env x=caller-secret cat {}/file; exit 0"
      // Its arguments are read beside its request: the reader must live that long.
      let finished = try await Running.run(
        scratch, policy + ["--latency", "500ms", "--json", "--", "sh", "-c", script])
      #expect(finished.status == 0, "\(finished.errorText)")
      var shown = finished.errorText
      for arguments in [["log", "--json"], ["log"], ["summary"], ["summary", "--json"]] {
        let output = try await run([Machine.dataless] + arguments + [scratch.log.path])
        shown += output.text + output.errorText
      }
      return (scratch.log.text(), shown)
    }

    @Test(arguments: ["self", "none", "all"]) func areKeptAsAsked(policy: String) async throws {
      try await withScratch { scratch in
        let (log, shown) = try await Self.log(scratch, policy == "self" ? [] : ["--argv", policy])
        for text in [log, shown] { #expect(text.contains("parent-secret") == (policy == "all")) }
        #expect(log.contains("/file\"]") == (policy != "none"))
        let mounted = try #require(try scratch.log.records(ofType: "volume.mounted").first)
        #expect(mounted["options"]?["argv"]?.string == policy)
        let started = try #require(try scratch.log.records(ofType: "run.started").first)
        #expect(started["command"]?.array.count == (policy == "all" ? 3 : 1))
        #expect(started["command_withheld"]?.bool == (policy == "all" ? nil : true))
      }
    }
  }
}
