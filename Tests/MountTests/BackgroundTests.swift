import Glibc
import Testing

extension RealMounts {
  /// `dataless_materialize_start` of libcdataless: files become local, and no thread of the caller's waits.
  @Suite struct Background {
    private static let scenario = """
      rules:
        - {name: hold, match: {path: "held*"}, gate: g}
        - {name: fail, match: {path: bad}, fault: EIO}
        - {name: parts, match: {path: parts}, hydration: progressive}
      """

    private static func source(_ scratch: Scratch) throws {
      for name in ["a", "b", "bad", "held", "held2", "held3", "held4", "z1", "z2"] {
        try scratch.file(name, size: 5000)
      }
      try scratch.file("parts", size: 3_000_000)
      scratch.directory("d")
      try scratch.file("d/x", size: 100)
      symlink("a", "\(scratch.source)/link")
    }

    private func client(_ arguments: [String]) async throws -> Finished {
      try await run([try await ClientProgram.materialize.path()] + arguments)
    }

    @Test func allBecomeLocalAndEachSaysWhatBecameOfIt() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let names = ["a", "bad", "absent", "link", "parts", "d"].map { volume.path($0) }
        let finished = try await client(["all"] + names)
        #expect(finished.lines.first == "failed 2", "\(finished.text)")
        #expect(finished.lines.dropFirst().prefix(6).map { $0.prefix { $0 != " " } } == ["0", "5", "2", "0", "0", "0"])
        #expect(finished.lines.last == "again ok")
        let items = try await volume.list()
        #expect(items["a"]?["state"]?.string == "resident" && items["parts"]?["state"]?.string == "resident")
        #expect(items["d"]?["state"]?.string == "listed" && items["d/x"]?["state"]?.string == "dataless")
        #expect(items["b"]?["state"]?.string == "dataless")
        // Its waits are no main thread's.
        let waits = try await volume.records(ofType: "wait.started")
          .filter { $0["thread_name"]?.string == "dl-materialize" }
        #expect(!waits.isEmpty && waits.allSatisfy { $0["main_thread"]?.bool == false })
      }
    }

    @Test func theFirstFailureEndsItWithoutAWaitForOthers() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let finished = try await client(["stop", volume.path("held"), volume.path("bad")])
        #expect(finished.lines.first == "failed 2", "\(finished.text)")
        #expect(finished.lines.contains("\(ECANCELED) \(volume.path("held"))"))
        #expect(finished.lines.contains("\(EIO) \(volume.path("bad"))"))
      }
    }

    @Test(arguments: ["begin", "fork"]) func theCallerGoesOnMeanwhile(what: String) async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let names = ["held", "held2", "b"].map { volume.path($0) }
        let child = try Child([try await ClientProgram.materialize.path(), what] + names)
        // Several at once, and one of them is local before the others may be.
        try await volume.waitForCallers(2, at: "g")
        #expect(await child.line() == "begun ok")
        try await volume.done("gate", "open", volume.mountpoint, "g")
        child.closeInput()
        let finished = await child.wait()
        #expect(finished.succeeded && finished.lines.contains("failed 0"), "\(finished.text)")
        if what == "fork" { #expect(finished.lines.last == "parent ok") }
      }
    }

    @Test func closingBeginsNothingMore() async throws {
      try await withScenario(Self.scenario, source: Self.source) { volume in
        let names = ["held", "held2", "held3", "held4", "z1", "z2"].map { volume.path($0) }
        try await volume.scratch.shell(#"mkfifo "$ROOT/end""#)
        // It closes its descriptor at the first line, and lives on until somebody has opened the FIFO.
        let script = #"(read -r line; echo; cat "$0") | "$1" cancel "${@:2}""#
        let end = volume.scratch.root + "/end"
        let child = try Child(["bash", "-c", script, end, try await ClientProgram.materialize.path()] + names)
        try await volume.waitForCallers(4, at: "g")
        child.closeInput()
        #expect(await child.line { $0 == "closed" } == "closed")
        try await volume.done("gate", "open", volume.mountpoint, "g")
        _ = try await volume.log.wait("the four") { records in
          records.count { $0["type"]?.string == "materialization.finished" && $0["kind"]?.string == "file" } >= 4
        }
        try await volume.scratch.shell(#": > "$ROOT/end""#)
        await child.wait()
        let items = try await volume.list()
        #expect(items["z1"]?["state"]?.string == "dataless" && items["z2"]?["state"]?.string == "dataless")
      }
    }

    @Test func thePolicyOfTheProcessDoesNotStopIt() async throws {
      try await withVolume([], source: Self.source) { volume in
        let program = try await ClientProgram.materialize.path()
        let finished = try await run([
          Machine.dataless, "exec", "--materialize", "off", "--", program, "all", volume.path("a"),
        ])
        #expect(finished.lines.first == "failed 0", "\(finished.text)\(finished.errorText)")
      }
    }

    @Test func whatIsWrongIsRefused() async throws {
      let finished = try await client(["wrong", "/etc/passwd"])
      #expect(finished.succeeded)
      #expect(finished.lines.last == "result 0 0 errno 77")
      #expect(finished.lines.dropLast().allSatisfy { $0.hasSuffix(" ok") }, "\(finished.text)")
    }
  }
}
