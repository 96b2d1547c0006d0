import Testing

extension RealMounts {
  /// Commands that go through a directory in pages, while it changes.
  @Suite struct Walks {
    private static let files = 600
    /// As many as one page of a walk through the namespace has.
    private static let page = 256

    private static func prepare(_ scratch: Scratch) async throws {
      try await scratch.shell("mkdir d; cd d; for i in $(seq \(files)); do echo content of $i > f$i; done")
    }

    /// The walk stands still in its first page, because as many files as it asks for at once are held; then the names
    /// around the end of that page go away.
    @Test func materializeForgetsNothingOfADirectoryThatLosesNames() async throws {
      try await withScenario(
        "rules: [{name: hold, match: {path: d/**, kind: file}, gate: held}]", source: Self.prepare
      ) { volume in
        let names = try await run(["ls", "-U", volume.path("d")]).lines
        #expect(names.count == Self.files)
        let command = try Child([Machine.dataless, "materialize", "--json", volume.path("d")])
        try await volume.waitForCallers(64, at: "held")
        let gone = names[(Self.page - 20)..<(Self.page + 20)]
        try await volume.scratch.shell("cd d; rm " + gone.joined(separator: " "))
        try await volume.done("refresh", volume.path("d"))
        try await volume.done("gate", "open", volume.mountpoint, "held")
        let ended = await command.wait()
        // Those of the first page are asked for, and are gone.
        let result = try ended.lines.map { try JSON(parsing: $0.utf8) }.last
        let failed = (result?["failures"]?.array ?? []).compactMap { $0["path"]?.string }
        #expect(Set(failed).isSubset(of: gone.map { "d/" + $0 }), "\(failed) \(ended.errorText)")
        let items = try await volume.list("d").filter { $0.value["kind"]?.string == "file" }
        let left = items.filter { $0.value["state"]?.string == "resident" }.count
        #expect(left == Self.files - gone.count && items.count == left, "\(left) of \(items.count)")
      }
    }

    /// The place at which a page ended is gone: that is said, and never taken for the end.
    @Test(.enabled(if: Machine.isRoot, "asks the socket below /run"))
    func aPageOfItemsThatIsNotToBeFoundIsRefused() async throws {
      try await withVolume(source: Self.prepare) { volume in
        #expect(try await run(["ls", volume.path("d")]).lines.count == Self.files)
        let device = try #require(Machine.mounts().last { $0.point == volume.mountpoint }?.device)
        let socket = "\(Machine.runtimeDirectory)/\(device)/control.sock"
        func page(_ after: String) async throws -> JSON {
          let query = "recursive=1&limit=300\(after)&path=d"
          let answer = try await run([
            "curl", "--silent", "--unix-socket", socket, "http://dataless/v1/items?\(query)",
          ])
          return try JSON(parsing: answer.output)
        }
        let first = try await page("")
        let next = try #require(first["next"]?.string)
        let last = try #require(first["items"]?.array.last?["path"]?.string)
        #expect(try await page("&after=\(next)")["items"]?.array.count == 300)
        try await volume.scratch.shell("rm \(last)")
        try await volume.done("refresh", volume.path("d"))
        // Given back on a lane of the daemon's.
        var answer = try await page("&after=\(next)")
        while answer["items"]?.array.isEmpty == false { answer = try await page("&after=\(next)") }
        #expect(answer["error"]?["code"]?.string == "busy" && answer["items"] == nil, "\(answer)")
        #expect(try await page("")["items"]?.array.count == 300)
      }
    }
  }
}
