@testable import DatalessCore
import Testing

/// Where callers find something else because SOURCE has another version: what presenters are told of.
@Suite struct TakenOverTests {
  private static func taken(_ fixture: EngineFixture) -> Set<String> {
    let paths = fixture.events.all.compactMap { event -> [UInt8]? in
      switch event {
      case .sourceChanged(let change): change.shownPath
      case .conflict(let conflict): conflict.takesOver ? conflict.path : nil
      case .evictionFinished(let eviction): eviction.isSuperseded ? eviction.path : nil
      default: nil
      }
    }
    #expect(Set(paths).count == paths.count)
    return Set(paths.map { String(decoding: $0, as: UTF8.self) })
  }

  private static func write(_ path: String, _ fixture: EngineFixture) {
    let node = fixture.lookUp(path)
    let (handle, _) = fixture.openForWriting(node)
    #expect(fixture.write([9], to: node, handle, at: 0).count == 1)
    fixture.close(node, handle)
  }

  @Test(arguments: ConflictChoice.allCases) func aConflictIsTakenOverWhenItIsResolvedSo(_ choice: ConflictChoice) {
    let fixture = EngineFixture.writable(["a": 10, "b": 10])
    Self.write("a", fixture)
    for path in ["a", "b"] { fixture.store.write(path, size: 20) }
    #expect(fixture.refresh("").text == "1 changed, 1 kept in 1")
    #expect(Self.taken(fixture) == ["b"])
    fixture.engine.resolveConflicts(at: [Array("a".utf8)], choice, completion: { _ in })
    fixture.lane.runAll()
    #expect(fixture.events.kinds.filter { $0 == "conflict changed over" }.count == 1)
    #expect(Self.taken(fixture) == (choice == .keepMine ? ["b"] : ["a", "b"]))
    #expect((fixture.content("a") == fixture.store.bytes("a")) == (choice != .keepMine))
  }

  @Test func whatStaysInAConflictIsNotTakenOver() {
    let fixture = EngineFixture.writable(["written": 10, "removed": 10, "mode": 10, "gone": 10, "replaced": 10])
    for path in ["mode", "gone", "replaced"] { _ = fixture.lookUp(path) }
    Self.write("written", fixture)
    #expect(fixture.unlink("removed") == .ok && fixture.unlink("replaced") == .ok)
    #expect(fixture.makeFile("made").node != nil && fixture.makeFile("replaced").node != nil)
    var mode = AttributeChange()
    mode.mode = 0o600
    #expect(fixture.set(mode, of: fixture.node("mode")) == nil)
    for path in ["written", "gone"] { fixture.store.remove(path) }
    for path in ["removed", "made", "replaced"] { fixture.store.write(path, size: 20) }
    fixture.store.edit("mode") { $0.attributes.mode = 0o100640 }
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.events.kinds.filter { $0.hasPrefix("conflict") }.count == 5)
    #expect(Self.taken(fixture) == ["gone"])
  }

  /// A name that an item got on the volume stays; so does what was fetched of it, if SOURCE has it no more.
  @Test func whatWasMovedHereChangesUnderItsName() {
    let fixture = EngineFixture.writable(["a/x": 10, "a/gone": 10, "a/fetched": 10, "a/renamed": 10, "m/y": 10])
    fixture.bring(fixture.lookUp("a/fetched"), .read)
    let (a, m) = (fixture.node("a"), fixture.node("m"))
    for name in ["x", "gone", "fetched", "renamed"] {
      #expect(fixture.rename(name, in: a, to: name, into: m) == .ok)
    }
    fixture.store.write("a/x", size: 20)
    for path in ["a/gone", "a/fetched"] { fixture.store.remove(path) }
    fixture.store.move("a/renamed", to: "a/other")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: m).keys.sorted() == ["fetched", "renamed", "x", "y"])
    #expect(Self.taken(fixture) == ["m/x", "m/gone"])
  }

  @Test func aRenamedItemIsShownUnderItsNewName() {
    let fixture = EngineFixture.writable(["a": 10, "b": 20])
    for path in ["a", "b"] { _ = fixture.lookUp(path) }
    // Another item of the volume's has the name that one of them gets.
    #expect(fixture.makeFile("y").node != nil)
    fixture.store.move("a", to: "x")
    fixture.store.move("b", to: "y")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: .root).keys.sorted() == ["x", "y"])
    #expect(Self.taken(fixture) == ["x", "b"])
  }

  @Test func whatWasKeptIsTakenOverWhenItIsEvicted() {
    let fixture = EngineFixture.writable(["a": 10]) { $0.keepsResidentChanges = true }
    let node = fixture.lookUp("a")
    fixture.bring(node, .read)
    fixture.store.write("a", size: 4)
    #expect(fixture.refresh("").text == "1 kept in 1")
    #expect(Self.taken(fixture) == [])
    #expect(fixture.evict(node) == nil)
    #expect(Self.taken(fixture) == ["a"])
  }
}
