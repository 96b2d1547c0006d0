@testable import DatalessCore
import Testing

/// Walks through directories in pages, while names vanish and places are used again.
@Suite struct WalkTests {
  /// Names of a page, and where it ends.
  private func page(
    _ fixture: EngineFixture, _ path: String, after position: DirectoryPosition, limit: Int = 2
  ) -> (names: [String], end: DirectoryPosition)? {
    guard case .children(let found) = fixture.engine.children(of: fixture.node(path), after: position, limit: limit)
    else { return nil }
    return (found.map { String(decoding: $0.item.path, as: UTF8.self) }, found.last?.position ?? position)
  }

  private func fixture() -> EngineFixture {
    let fixture = EngineFixture(ScriptedStore(["d/a": 1, "d/b": 1, "d/c": 1, "d/e": 1, "d/f": 1]))
    fixture.list("d")
    return fixture
  }

  private func vanish(_ names: [String], _ fixture: EngineFixture) {
    for name in names { fixture.store.remove(name) }
    _ = fixture.refresh("")
    fixture.lane.runAll()
  }

  /// Where the page ended goes, and more before and behind it.
  @Test func aHeldDirectoryIsWalkedToItsEndWhateverVanishes() throws {
    let fixture = fixture()
    var hold: DirectoryHold? = fixture.engine.hold(fixture.node("d"))
    let first = try #require(page(fixture, "d", after: .start))
    let all = Set(["d/a", "d/b", "d/c", "d/e", "d/f"])
    let left = all.subtracting(first.names).sorted()
    vanish(first.names + [left[0]], fixture)
    fixture.store.write("d/new", size: 1)
    vanish([], fixture)
    var seen: [String] = []
    var end = first.end
    while let next = page(fixture, "d", after: end), !next.names.isEmpty {
      seen += next.names
      end = next.end
    }
    #expect(seen.sorted() == [left[1], left[2], "d/new"])
    #expect(gone(fixture, "d") == 3)
    withExtendedLifetime(hold) {}
    hold = nil
    fixture.lane.runAll()
    #expect(gone(fixture, "d") == 0)
  }

  private func gone(_ fixture: EngineFixture, _ path: String) -> Int {
    let directory = fixture.index(fixture.node(path))
    return fixture.engine.state.withLock { state in
      var (count, name) = (0, state.namespace[directory].firstChild)
      while name != .end {
        if !state.namespace.record(of: name).isPresent { count += 1 }
        name = state.namespace.record(of: name).nextSibling
      }
      return count
    }
  }

  /// The place of the name at which a page ended is free, or has another name of the same directory: neither is the
  /// end.
  @Test(arguments: [false, true]) func aPlaceThatWasGivenBackIsLostAndNotTheEnd(isUsedAgain: Bool) throws {
    let fixture = fixture()
    let first = try #require(page(fixture, "d", after: .start))
    vanish(first.names, fixture)
    if isUsedAgain {
      for index in 0..<4 { fixture.store.write("d/new\(index)", size: 1) }
      vanish([], fixture)
    }
    guard case .lost = fixture.engine.children(of: fixture.node("d"), after: first.end, limit: 2) else {
      Issue.record("the walk went on")
      return
    }
    #expect(page(fixture, "d", after: .start, limit: 99)?.names.count == (isUsedAgain ? 7 : 3))
  }

  @Test func aHeldDirectoryIsEvictedAndListedAgainAndTheWalkGoesOn() throws {
    let fixture = fixture()
    let directory = fixture.node("d")
    let hold = fixture.engine.hold(directory)
    let first = try #require(page(fixture, "d", after: .start))
    fixture.engine.evict(directory, by: "command") { _ in }
    fixture.lane.runAll()
    guard case .notListed = fixture.engine.children(of: directory, after: first.end, limit: 2) else {
      Issue.record("the directory was not evicted")
      return
    }
    fixture.list("d")
    let rest = try #require(page(fixture, "d", after: first.end, limit: 99))
    #expect(Set(rest.names + first.names).count == 5 && rest.names.count == 3)
    withExtendedLifetime(hold) {}
  }

  /// All of its names are gone, and kept by a handle; when that is closed they are looked at once more, in steps, and
  /// swept meanwhile.
  @Test func theNamesOfADirectoryThatIsGoneAreDroppedAndNoOthers() {
    let fixture = EngineFixture(ScriptedStore(["d/first": 1, "e/first": 1]))
    for index in 0..<5000 { fixture.store.write("d/f\(index)", size: 1) }
    fixture.list("d")
    // Known to the kernel, so that it is not forgotten with its names.
    let directory = fixture.lookUp("d")
    _ = fixture.engine.openDirectory(directory)
    fixture.store.remove("d")
    _ = fixture.refresh("")
    fixture.lane.runAll()
    fixture.engine.release(directory, handle: 0)
    // The first step; then what would give the names back, if it could.
    _ = fixture.lane.runOne()
    fixture.engine.giveBackLeftovers()
    _ = fixture.lane.runOne()
    // Names that would have the places of those.
    for index in 0..<5000 { fixture.store.write("e/g\(index)", size: 1) }
    let listed = fixture.node("e")
    fixture.trigger(listed, TriggerRequest(trigger: .readdir, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(fixture.names("e").count == 5003)
    #expect(fixture.engine.state.withLock { $0.reclamation.pins } == 0)
    #expect(fixture.engine.counts.files == 5001)
  }
}
