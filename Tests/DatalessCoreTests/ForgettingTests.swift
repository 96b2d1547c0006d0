@testable import DatalessCore
import SystemPackage
import Testing

/// Names and items that go are given back, and nobody who still asks for them is led elsewhere.
@Suite struct ForgettingTests {
  private static func names(_ fixture: EngineFixture) -> (nodes: UInt32, names: UInt32) {
    fixture.engine.state.withLock { ($0.namespace.nodeEnd, $0.namespace.nameEnd) }
  }

  private func replace(_ round: Int, _ count: Int, _ fixture: EngineFixture) {
    for index in 0..<count {
      if round > 0 { fixture.store.remove("d/f\(round - 1)-\(index)") }
      fixture.store.write("d/f\(round)-\(index)", size: 1)
    }
    _ = fixture.refresh("")
    fixture.lane.runAll()
  }

  @Test func namesThatComeAndGoUseTheSamePlaces() {
    let fixture = EngineFixture(ScriptedStore(["d/stays": 1]))
    fixture.list("d")
    replace(0, 50, fixture)
    replace(1, 50, fixture)
    let full = Self.names(fixture)
    var given = Set<NodeID>()
    for round in 2..<40 {
      replace(round, 50, fixture)
      #expect(fixture.names("d").count == 53)
      for index in 0..<50 { given.insert(fixture.node("d/f\(round)-\(index)")) }
    }
    #expect(Self.names(fixture) == full)
    #expect(given.count == 38 * 50, "a node id was given twice")
    #expect(fixture.engine.counts.files == 51)
  }

  @Test func aDirectoryWhoseNamesAllVanishedIsLeftWithoutAny() {
    let fixture = EngineFixture(ScriptedStore(["d/stays": 1]))
    fixture.list("d")
    replace(0, 3000, fixture)
    _ = fixture.node("d/f0-7")
    for index in 0..<3000 { fixture.store.remove("d/f0-\(index)") }
    fixture.store.remove("d/stays")
    _ = fixture.refresh("")
    fixture.lane.runAll()
    let directory = fixture.index(fixture.node("d"))
    #expect(fixture.engine.state.withLock { $0.namespace[directory].firstChild == .end })
    #expect(fixture.engine.state.withLock { $0.namespace[directory].lastChild == .end })
    fixture.store.write("d/new", size: 1)
    _ = fixture.refresh("")
    #expect(fixture.names("d") == [".", "..", "new"])
  }

  @Test func aCookieStaysValidWhileTheDirectoryIsOpen() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 1, "d/b": 1, "d/c": 1]))
    fixture.list("d")
    let directory = fixture.node("d")
    _ = fixture.engine.openDirectory(directory)
    var cookies: [UInt64] = []
    _ = fixture.engine.readDirectory(directory, from: 0) { entry in
      cookies.append(entry.nextCookie)
      return true
    }
    for name in ["a", "b"] { fixture.store.remove("d/" + name) }
    _ = fixture.refresh("")
    fixture.lane.runAll()
    for cookie in cookies {
      guard case .filled = fixture.engine.readDirectory(directory, from: cookie, { _ in true }) else {
        Issue.record("cookie \(cookie) leads nowhere")
        continue
      }
    }
    let before = Self.gone(fixture, "d")
    fixture.engine.release(directory, handle: 0)
    fixture.lane.runAll()
    #expect(before == 2 && Self.gone(fixture, "d") == 0)
    #expect(fixture.names("d") == [".", "..", "c"])
  }

  private static func gone(_ fixture: EngineFixture, _ path: String) -> Int {
    let directory = fixture.index(fixture.node(path))
    return fixture.engine.state.withLock { state in
      var count = 0
      var name = state.namespace[directory].firstChild
      while name != .end {
        let record = state.namespace.record(of: name)
        if !record.isPresent { count += 1 }
        name = record.nextSibling
      }
      return count
    }
  }

  @Test func whatTheKernelKnowsIsForgottenWhenItIsGivenBack() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 1, "d/b": 1]))
    let node = fixture.lookUp("d/a")
    fixture.store.remove("d/a")
    _ = fixture.refresh("")
    fixture.lane.runAll()
    #expect(fixture.engine.attributes(of: node)?.attributes.size == 1)
    #expect(fixture.engine.describe(node)?.path == Array("d/a".utf8))
    fixture.engine.forget([(node: node, count: UInt64(1))])
    fixture.lane.runAll()
    #expect(fixture.engine.attributes(of: node) == nil)
    // Its place has another item, its id leads nowhere.
    fixture.store.write("d/c", size: 7)
    _ = fixture.refresh("")
    let next = fixture.node("d/c")
    #expect(next.rawValue & 0xffff_ffff == node.rawValue & 0xffff_ffff && next != node)
    #expect(fixture.engine.attributes(of: node) == nil)
    guard case .failed(.staleNFSFileHandle) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("a forgotten node was opened")
      return
    }
  }

  /// A file that is open keeps its directories' names, however many levels of them have gone.
  @Test func anOpenFileOfATreeThatIsGoneStillSaysWhereItWas() {
    let fixture = EngineFixture(ScriptedStore(["d/e/f/a": 1, "z": 1]))
    let node = fixture.lookUp("d/e/f/a")
    guard case .dataless(let handle) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("not open")
      return
    }
    let before = Self.names(fixture)
    fixture.store.remove("d")
    _ = fixture.refresh("")
    fixture.lane.runAll()
    for index in 0..<10 { fixture.store.write("n\(index)", size: 1) }
    _ = fixture.refresh("")
    #expect(fixture.engine.describe(node)?.path == Array("d/e/f/a".utf8))
    fixture.engine.release(node, handle: handle)
    fixture.engine.forget([(node: node, count: UInt64(1))])
    fixture.lane.runAll()
    for index in 10..<14 { fixture.store.write("n\(index)", size: 1) }
    _ = fixture.refresh("")
    // The four places of the tree.
    #expect(Self.names(fixture).nodes == before.nodes + 10)
  }

  @Test func aPlaceThatWasUsedUpIsLeft() {
    let attributes = ItemAttributes.file(inode: 9, size: 1)
    var table = NodeTable(root: .directory(inode: 1))
    var ids = Set<NodeID>()
    for _ in 0..<70_000 {
      guard let node = table.node(for: ListedItem(attributes)) else { return }
      let id = table.id(of: node)
      if !ids.insert(id).inserted { Issue.record("\(id) was given twice") }
      table.update(node) { $0.isOrphan = true }
      table.free(node)
      if table.index(of: id) != nil { Issue.record("\(id) leads somewhere") }
    }
    #expect(table.end == 4)
  }

  @Test func textsOfEachLengthAreUsedAgain() {
    var arena = NameArena()
    func add(_ text: [UInt8]) -> UInt32 { text.withUnsafeBufferPointer { arena.append($0) } ?? .max }
    func text(_ offset: UInt32, _ length: Int) -> [UInt8] { Array(arena.name(at: offset, length: UInt16(length))) }
    for length in [1, 3, 4, 5, 255, 1024] {
      let first = add([UInt8](repeating: 1, count: length))
      let second = add([UInt8](repeating: 2, count: length))
      arena.free(at: first, length: UInt16(length))
      arena.free(at: second, length: UInt16(length))
      let third = add([UInt8](repeating: 3, count: length))
      let fourth = add([UInt8](repeating: 4, count: length))
      #expect(Set([third, fourth]) == Set([first, second]))
      #expect(text(third, length) == [UInt8](repeating: 3, count: length))
      #expect(text(fourth, length) == [UInt8](repeating: 4, count: length))
      #expect(add([UInt8](repeating: 5, count: length)) != third)
    }
  }
}
