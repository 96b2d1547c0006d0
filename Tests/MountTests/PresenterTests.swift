import DatalessAccess
import Glibc
import Testing

extension RealMounts {
  /// Presenters that are asked before something is done without an intent: evictions by rules and by pressure, and
  /// changes in SOURCE.
  @Suite struct AskingFirst {
    private static func source(_ scratch: Scratch) throws {
      for name in ["doc", "other"] { try scratch.file(name, size: 5000) }
    }

    private static let rule = "rules: [{name: tidy, evict: {after_materialization: 200ms}}]"

    private func evictions(_ volume: Volume) async throws -> [String] {
      try await volume.records(ofType: "eviction.finished").map {
        "\($0["path"]?.string ?? "?") \($0["by"]?.string ?? "?")"
      }
    }

    private func answers(_ volume: Volume) async throws -> [String] {
      try await volume.records(ofType: "presenter.answered").map {
        "\($0["what"]?.string ?? "?") \($0["outcome"]?.string ?? "?")"
      }
    }

    @Test func whatIsSavedBeforeARuleEvictsStays() async throws {
      try await withScenario(Self.rule, ["--scratch"], source: Self.source) { volume in
        let presenter = try AccessPresenter(volume.path("doc"))
        var news = presenter.news.makeAsyncIterator()
        try await volume.read("doc")
        let asked = try #require(await news.next())
        #expect(asked.what == .evict && asked.path == "doc" && asked.waits && asked.intent.intent > 0)
        // What nobody presents goes meanwhile.
        try await volume.read("other")
        try await volume.log.wait("the other one") { records in
          records.contains { $0["type"]?.string == "eviction.finished" }
        }
        #expect(try await evictions(volume) == ["other rule:tidy"])
        try await volume.scratch.shell(#"echo saved > "$MOUNT/doc""#)
        try presenter.answer(asked)
        let ended = await news.next()
        #expect(ended?.what == .ended && ended?.intent == asked.intent)
        #expect(try await evictions(volume) == ["other rule:tidy"])
        #expect(try await run(["cat", volume.path("doc")]).text == "saved\n")
        #expect(try await answers(volume) == ["evict ok"])
      }
    }

    @Test func aRuleGoesOnWithoutWhoIsSilent() async throws {
      try await withScenario(Self.rule, source: Self.source) { volume in
        let presenter = try AccessPresenter(volume.path("doc"))
        try await volume.read("doc")
        try await volume.log.wait("the end of its time") { records in
          records.contains { $0["type"]?.string == "eviction.finished" && $0["path"]?.string == "doc" }
        }
        #expect(try await answers(volume) == ["evict timed_out"])
        withExtendedLifetime(presenter) {}
      }
    }

    /// However long the answer took: a close is waited for from when the eviction begins.
    @Test func aCommandWaitsForTheCloseThatFollowsAnAnswer() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        try await volume.read("doc")
        let file = open(volume.path("doc"), O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        let presenter = try AccessPresenter(volume.path("doc"))
        var news = presenter.news.makeAsyncIterator()
        async let evicted = volume.done("evict", volume.path("doc"))
        let asked = try #require(await news.next())
        #expect(asked.what == .evict && asked.path == "doc")
        try await volume.scratch.shell("sleep 0.4")
        try presenter.answer(asked)
        try await volume.scratch.shell("sleep 0.02")
        close(file)
        _ = try await evicted
        #expect(try await evictions(volume) == ["doc command"])
      }
    }

    @Test func pressureAsksFirst() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        for name in ["doc", "other"] { try await volume.read(name) }
        let presenter = try AccessPresenter(volume.path("doc"))
        var news = presenter.news.makeAsyncIterator()
        async let pressed = volume.json("pressure", "10000", volume.mountpoint)
        let asked = try #require(await news.next())
        #expect(asked.what == .evict && asked.path == "doc" && asked.others == 0)
        #expect(try await volume.list()["doc"]?["state"]?.string == "resident")
        try presenter.answer(asked)
        #expect(try await pressed["files"]?.int == 2)
        #expect(Set(try await evictions(volume)) == ["doc pressure", "other pressure"])
        let (evicted, ended) = (await news.next(), await news.next())
        #expect(evicted?.what == .evicted && evicted?.path == "doc")
        #expect(ended?.what == .ended && ended?.intent == asked.intent)
        #expect(try await answers(volume) == ["evict ok"])
      }
    }

    @Test func whatIsSavedBeforeAChangeIsAConflict() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        try await volume.read("doc")
        let presenter = try AccessPresenter(volume.path("doc"))
        var news = presenter.news.makeAsyncIterator()
        try await volume.scratch.shell(#"echo theirs > "$SOURCE/doc"; echo theirs > "$SOURCE/other""#)
        async let refreshed = volume.json("refresh", volume.mountpoint)
        let asked = try #require(await news.next())
        #expect(asked.what == .change && asked.path == "doc" && asked.waits && asked.others == 0)
        #expect(try await volume.records(ofType: "source.changed").isEmpty)
        try await volume.scratch.shell(#"echo mine > "$MOUNT/doc""#)
        try presenter.answer(asked)
        let result = try await refreshed
        #expect(result["kept"]?.int == 1 && result["changed"]?.int == 1)
        #expect(try await run(["cat", volume.path("doc"), volume.path("other")]).text == "mine\ntheirs\n")
        let conflicts = try await volume.json("conflicts", volume.mountpoint)["conflicts"]?.array
        #expect(conflicts?.map { $0["path"]?.string } == ["doc"])
        // What SOURCE has was not taken over: nothing else is told.
        let ended = await news.next()
        #expect(ended?.what == .ended && ended?.intent == asked.intent)
        #expect(try await answers(volume) == ["change ok"])
      }
    }

    /// A refresh waits 5 s for it, and nobody else does.
    @Test func aRefreshGoesOnWithoutWhoIsSilent() async throws {
      try await withVolume(source: Self.source) { volume in
        let hash = try await volume.sourceHash("doc")
        try await volume.read("doc")
        let presenter = try AccessPresenter(volume.mountpoint)
        var news = presenter.news.makeAsyncIterator()
        try await volume.scratch.shell(#"echo theirs > "$SOURCE/doc""#)
        async let refreshed = volume.json("refresh", volume.mountpoint)
        let asked = await news.next()
        #expect(asked?.what == .change && asked?.path == "doc")
        #expect(try await volume.read("doc").hash == hash)
        #expect(try await volume.records(ofType: "source.changed").isEmpty)
        #expect(try await refreshed["changed"]?.int == 1)
        #expect(try await run(["cat", volume.path("doc")]).text == "theirs\n")
        #expect(try await answers(volume) == ["change timed_out"])
      }
    }

    /// Of files that change places, on the volume and then in SOURCE, each presenter keeps its own.
    @Test func aPresenterKeepsItsFileWhenTwoChangePlaces() async throws {
      try await withVolume(["--scratch"], source: Self.source) { volume in
        try await volume.scratch.shell(#"ls "$MOUNT""#)
        let (one, two, other) = (
          try await CoordinatingClient(), try await CoordinatingClient(), try await CoordinatingClient()
        )
        #expect(await one("present 1 \(volume.path("doc"))") == "1 presents")
        #expect(await two("present 1 \(volume.path("other"))") == "1 presents")
        try await volume.scratch.shell(#"cd "$SOURCE" && mv doc t && mv other doc && mv t other"#)
        async let refreshed = volume.json("refresh", volume.mountpoint)
        for client in [one, two] {
          let question = try #require(await client("news 1")).split(separator: " ")
          #expect(question.count == 5 && question[1] == "11", "\(question)")
          #expect(await client("answer 1 \(question[2])") == "1 answered")
        }
        #expect(try await refreshed["renamed"]?.int == 2)
        #expect(try await names(one) == ["other"])
        #expect(try await names(two) == ["doc"])
        #expect(await other("exchange \(volume.path("doc")) \(volume.path("other"))") == "exchanged")
        #expect(await one("news 1") == "1 9 0 0 doc")
        #expect(await two("news 1") == "1 9 0 0 other")
        #expect(await other("ask 1 0 0 w:\(volume.path("doc"))") == "1 asked")
        #expect(await one("news 1")?.hasPrefix("1 2 ") == true)
      }
    }

    /// What a presenter is told to have become, until a refresh has ended.
    private func names(_ client: CoordinatingClient) async throws -> [String] {
      var names: [String] = []
      while true {
        let news = try #require(await client("news 1")).split(separator: " ")
        if news[1] == "9" { names.append(String(news[4])) }
        if news[1] == "6" { return names }
      }
    }

    @Test func whomItDoesNotConcernIsNotAsked() async throws {
      try await withVolume(source: Self.source) { volume in
        try await volume.read("doc")
        let presenter = try AccessPresenter(volume.path("other"))
        try await volume.scratch.shell(#"echo theirs > "$SOURCE/doc""#)
        #expect(try await volume.json("refresh", volume.mountpoint)["changed"]?.int == 1)
        try await volume.read("doc")
        try await volume.done("evict", volume.path("doc"))
        try await volume.read("doc")
        try await volume.done("pressure", "1", volume.mountpoint)
        #expect(Set(try await evictions(volume)).isSuperset(of: ["doc command", "doc pressure"]))
        #expect(try await answers(volume) == [])
        withExtendedLifetime(presenter) {}
      }
    }
  }
}
