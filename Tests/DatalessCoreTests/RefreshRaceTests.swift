@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What a refresh meets when others list at the same time, or when a store says what no file system says.
@Suite struct EngineRefreshRaceTests {
  private func directory(_ fixture: EngineFixture, _ path: String) -> NodeIndex { fixture.index(fixture.node(path)) }

  /// Empty when the refresh looked, listed anew with names before it began: with names that nobody has searched.
  @Test func aDirectoryThatIsListedAnewBeforeItsRefreshBegins() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 1, "b": 1]))
    fixture.store.remove("d/a")
    fixture.list("d")
    let node = directory(fixture, "d")
    for index in 0..<600 { fixture.store.write("d/n\(index)", size: 1) }
    // The other's eviction and listing, between two steps of the refresh.
    #expect(fixture.engine.state.withLock { $0.namespace.indexNames(of: node) })
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.list("d")
    let begun = fixture.engine.beginRefresh(of: node, recurses: true)
    #expect(begun?.0.directory == node)
    #expect(fixture.refresh("").text == "602 unchanged in 2")
  }

  /// Bytes of two versions, and the name gone before the check: what is open is the file, whatever its names.
  @Test(arguments: StoreKind.allCases, [Hydration.full, .partial])
  func aFileThatIsWrittenAndLosesItsNameWhileItIsFetchedIsNotCommitted(
    kind: StoreKind, hydration: Hydration
  ) {
    for isRenamed in [false, true] { fetchWhatLosesItsName(kind, hydration, isRenamed: isRenamed) }
  }

  private func fetchWhatLosesItsName(_ kind: StoreKind, _ hydration: Hydration, isRenamed: Bool) {
    var configuration = EngineConfiguration()
    configuration.simulation.bandwidth = 1_000_000
    configuration.simulation.hydration = hydration
    let fixture = EngineFixture(ScriptedStore(["a": 200_000]), configuration, kind: kind)
    let node = fixture.node("a")
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 80) { fixture.lane.runAll() }
    fixture.store.write("a", size: 200_000)
    fixture.timer.advance(milliseconds: 80) { fixture.lane.runAll() }
    if isRenamed { fixture.store.move("a", to: "b") } else { fixture.store.remove("a") }
    fixture.timer.advance(milliseconds: 80) { fixture.lane.runAll() }
    #expect(answer.errno == "ESTALE")
    #expect(fixture.engine.describe(node)?.state != "resident")
    #expect(fixture.content.openWriters == 0)
  }

  /// Two directories change places while they are listed: seen from two moments, one lies in itself.
  @Test func aDirectoryThatSeemsToLieInItselfIsANewItem() {
    let fixture = EngineFixture(ScriptedStore(["a/b/c": 1]))
    _ = fixture.node("a/b/c")
    let moved = fixture.store.item("a")
    // The listing of a/b is of the moment after, all others are of the moment before.
    fixture.store.items.withLock { items in
      items["a/b/a"] = ScriptedStore.Item(attributes: moved.attributes)
      items["a/b"]?.children.append("a")
      items[""]?.children.removeAll { $0 == "a" }
    }
    #expect(fixture.refresh("", "a/b").error == nil)
    let longest = fixture.events.all.compactMap {
      if case .sourceChanged(let record) = $0 { record.path.count } else { nil }
    }
    #expect(longest.max() ?? 0 < 20)
  }

  /// Number, size and times of a file that is known by another name, but another kind: an item of its own, or the
  /// counts of the directory that holds it would go below zero.
  @Test func anItemOfAnotherKindIsNeverAnotherNameOfAFile() {
    let fixture = EngineFixture(ScriptedStore([:]))
    fixture.store.write("d/a", size: 3, inode: 77, links: 2)
    fixture.store.write("e/x", size: 1)
    #expect(fixture.content("d/a") != nil)
    fixture.list("e")
    let file = fixture.node("d/a")
    var attributes = fixture.store.item("d/a").attributes
    attributes.mode = 0o120777
    fixture.store.items.withLock { items in
      items["e/l"] = ScriptedStore.Item(attributes: attributes)
      items["e"]?.children.append("l")
    }
    #expect(fixture.refresh("e").error == nil)
    #expect(fixture.node("e/l") != file)
    #expect(fixture.engine.attributes(of: file)?.attributes.kind == .file)
    let result = Mutex<String>("")
    fixture.engine.evict(fixture.node("e"), by: "command") { answer in
      if case .evicted = answer { result.withLock { $0 = "evicted" } }
    }
    #expect(result.withLock { $0 } == "evicted")
  }
}
