@testable import DatalessCore
import TestSupport
import Testing

/// Where an earlier run has kept items, by item and by place.
@Suite struct RestoredKeysTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
  private func node(_ number: UInt32) -> NodeIndex { NodeIndex(rawValue: number) }

  private func keys(_ items: [(UInt32, String)]) -> RestoredKeys {
    var keys = RestoredKeys()
    for (number, key) in items { keys[node(number)] = bytes(key) }
    return keys
  }

  @Test func theWayToAKeyIsGoneUp() {
    func above(_ key: String) -> [String] {
      StoreKey.directories(above: bytes(key)).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(above("a/bc/d") == ["a/bc", "a"])
    #expect(above("a") == [])
    #expect(above("") == [])
  }

  @Test func aKeyHasALastName() {
    #expect(StoreKey.name(of: bytes("a/bc")) == bytes("bc") && StoreKey.name(of: bytes("bc")) == bytes("bc"))
    #expect(StoreKey.name(of: []) == nil)
  }

  /// Who has no name, and waits for that of the store, does so as long as it has a key.
  @Test func whatWaitsForItsNameIsKnown() {
    var items = RestoredItems()
    items.setKey(bytes("a/x"), of: node(1))
    items.awaitName(at: bytes("a/y"), of: node(2))
    items.awaitName(at: bytes("b/z"), of: node(3))
    #expect(items.awaited == [node(2), node(3)])
    _ = items.moveKeys([(from: bytes("a"), to: bytes("c"))]) { _ in true }
    #expect(items.awaited == [node(2), node(3)] && items.key(of: node(2)) == bytes("c/y"))
    items.setKey(nil, of: node(2))
    items.forget(node(3))
    #expect(items.awaited == [])
  }

  @Test func anItemIsFoundByItsPlaceAsLongAsItHasIt() {
    var keys = keys([(1, "a/b"), (2, "a/b"), (3, "a")])
    #expect(keys.items(at: bytes("a/b")) == [node(1), node(2)])
    keys[node(1)] = bytes("c")
    #expect(keys.items(at: bytes("a/b")) == [node(2)])
    #expect(keys.items(at: bytes("c")) == [node(1)])
    keys[node(2)] = nil
    #expect(keys.items(at: bytes("a/b")) == [] && keys[node(2)] == nil)
    #expect(Set(keys.all) == [node(1), node(3)])
  }

  @Test func whatIsBelowADirectoryIsTaken() {
    var keys = keys([(1, "a"), (2, "a/b"), (3, "a/b/c"), (4, "ab/c"), (5, "a/d")])
    #expect(Set(keys.takeBelow(bytes("a")) { $0 != node(5) }) == [node(2), node(3)])
    #expect(Set(keys.all) == [node(1), node(4), node(5)])
    #expect(keys.items(at: bytes("a/b")) == [])
  }

  @Test func theNearestMoveCounts() {
    var keys = keys([(1, "a/x"), (2, "a/b/x"), (3, "c/x")])
    let moved = keys.takeMoved([bytes("a"): bytes("z"), bytes("a/b"): bytes("y")])
    #expect(moved == [node(1): bytes("z/x"), node(2): bytes("y/x")])
    #expect(keys.all == [node(3)])
  }

  /// Directories that change places keep what is in each.
  @Test func directoriesMayChangePlaces() {
    var items = RestoredItems()
    items.setKey(bytes("a/x"), of: node(1))
    items.setKey(bytes("b/x"), of: node(2))
    let moves = [(from: bytes("a"), to: bytes("b")), (from: bytes("b"), to: bytes("a"))]
    let replaced = items.moveKeys(moves) { _ in true }
    #expect(replaced == [])
    #expect(items.key(of: node(1)) == bytes("b/x") && items.key(of: node(2)) == bytes("a/x"))
  }

  /// Both tables have the same, whatever is put in and taken.
  @Test(arguments: TestSeed.first(3)) func bothTablesAgree(seed: UInt64) {
    var random = TestRandom(seed: seed)
    var keys = RestoredKeys()
    var model: [NodeIndex: [UInt8]] = [:]
    for _ in 0..<2000 {
      let item = node(UInt32(random.below(40)))
      let parts = (0...random.below(3)).map { _ in random.element(of: ["a", "b"]) }
      let key = random.oneIn(4) ? nil : bytes(parts.joined(separator: "/"))
      keys[item] = key
      model[item] = key
      let place = random.element(of: ["a", "b", "a/b", "b/a/b"])
      #expect(Set(keys.items(at: bytes(place))) == Set(model.filter { $0.value == bytes(place) }.keys))
      guard random.oneIn(50) else { continue }
      let below = model.filter { $0.value.starts(with: bytes(place + "/")) }.keys
      #expect(Set(keys.takeBelow(bytes(place)) { _ in true }) == Set(below))
      for gone in below { model[gone] = nil }
    }
    #expect(Set(keys.all) == Set(model.keys))
  }
}
