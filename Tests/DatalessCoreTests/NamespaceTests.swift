@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct NamespaceTests {
  private func make(_ names: [String]) -> ScriptedStore {
    ScriptedStore(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
  }

  @Test func manyNamesAreAllFoundAndNoOthers() {
    let names = (0..<20_000).map { "file-\($0)-\($0 * 7919 % 104_729)" }
    let fixture = EngineFixture(make(names))
    fixture.list("")
    var nodes = Set<NodeID>()
    for name in names {
      let found = Array(name.utf8).withUnsafeBufferPointer { fixture.engine.lookup($0, in: .root) }
      guard case .found(let item) = found else {
        Issue.record("'\(name)' is lost")
        return
      }
      nodes.insert(item.node)
    }
    #expect(nodes.count == names.count)
    for name in names.prefix(1000) {
      let found = Array((name + "x").utf8).withUnsafeBufferPointer { fixture.engine.lookup($0, in: .root) }
      guard case .absent = found else {
        Issue.record("'\(name)x' should not exist")
        return
      }
    }
  }

  /// A listed name is entered into the hash table by the first lookup in its directory, in steps, and then later ones
  /// too.
  @Test func namesAreFoundBeforeAndAfterARenewedListing() {
    let store = make((0..<1500).map { "d/f\($0)" })
    let fixture = EngineFixture(store)
    fixture.list("d")
    let directory = fixture.node("d")
    fixture.engine.evict(directory, by: "command") { _ in }
    store.edit("d") { $0.children.append("late") }
    store.items.withLock { $0["d/late"] = $0["d/f0"] }
    store.edit("d/late") { $0.attributes.inode = 90_000 }
    fixture.list("d")
    #expect(fixture.names("d").count == 1503)
    #expect(Set(fixture.names("d")).count == 1503)
    #expect(fixture.node("d/f1499") != NodeID(rawValue: 0))
    #expect(fixture.node("d/late") != NodeID(rawValue: 0))
    #expect(fixture.node("d/never") == NodeID(rawValue: 0))
    fixture.engine.evict(directory, by: "command") { _ in }
    store.edit("d") { $0.children.append("later") }
    store.items.withLock { $0["d/later"] = $0["d/f0"] }
    store.edit("d/later") { $0.attributes.inode = 90_001 }
    fixture.list("d")
    #expect(fixture.node("d/later") != NodeID(rawValue: 0))
    #expect(fixture.names("d").count == 1504)
  }

  @Test func readdirResumesAtEveryCookie() {
    let fixture = EngineFixture(make((0..<100).map { "f\($0)" }))
    fixture.list("")
    let whole = fixture.names("")
    #expect(whole.count == 102)
    for page in [1, 2, 3, 7, 50] {
      var names: [String] = []
      var cookie: UInt64 = 0
      var progress = true
      while progress {
        progress = false
        var left = page
        _ = fixture.engine.readDirectory(.root, from: cookie) { entry in
          guard left > 0 else { return false }
          left -= 1
          names.append(String(decoding: entry.name, as: UTF8.self))
          cookie = entry.nextCookie
          progress = true
          return true
        }
      }
      #expect(names == whole)
    }
  }

  @Test func aDatalessDirectoryShowsNothingWithoutBeingListed() {
    let fixture = EngineFixture(make(["d/a"]))
    guard case .needsListing = fixture.engine.readDirectory(.root, from: 0, { _ in true }) else {
      Issue.record("the root must start dataless")
      return
    }
    #expect(fixture.store.lists.load(ordering: .relaxed) == 0)
    fixture.list("")
    #expect(fixture.engine.isDataless(fixture.node("d")))
    #expect(fixture.store.lists.load(ordering: .relaxed) == 1)
  }

  @Test func aRenewedListingDropsVanishedNamesAndReplacesOthers() {
    let fixture = EngineFixture(make(["d/a", "d/b", "d/c"]))
    fixture.list("d")
    let (older, replaced) = (fixture.lookUp("d/a"), fixture.lookUp("d/b"))
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.store.edit("d") { $0.children = ["a", "b"] }
    fixture.store.edit("d/b") { $0.attributes.inode = 4711 }
    fixture.store.edit("d/a") { $0.attributes.size = 77 }
    fixture.list("d")
    #expect(fixture.names("d") == [".", "..", "a", "b"])
    // The kernel may still know the old one's size and pages: what evicts says so later, on another lane.
    #expect(fixture.node("d/a") != older)
    #expect(fixture.engine.attributes(of: older)?.attributes.size == 1)
    #expect(fixture.engine.attributes(of: fixture.node("d/a"))?.attributes.size == 77)
    #expect(fixture.engine.counts.files == 2)
    #expect(fixture.node("d/b") != replaced)
    let gone = Array("c".utf8).withUnsafeBufferPointer { fixture.engine.lookup($0, in: fixture.node("d")) }
    guard case .absent = gone else {
      Issue.record("'c' vanished from the source")
      return
    }
  }

  @Test func hardLinksAreOneNodeWhicheverNameIsSeenFirst() {
    let fixture = EngineFixture(ScriptedStore(["x/a": 10], links: [("y/b", to: "x/a")]))
    let second = fixture.node("y/b")
    #expect(fixture.node("x/a") == second)
    #expect(fixture.engine.counts.files == 1)
    #expect(fixture.engine.attributes(of: second)?.attributes.linkCount == 2)
  }

  @Test func changedMetadataIsToldToTheKernelAndAnOpenFileKeepsItsVersion() {
    let fixture = EngineFixture(make(["d/a", "d/b"]))
    let (open, moved) = (fixture.node("d/a"), fixture.node("d/b"))
    _ = fixture.engine.open(open, process: .unknown, openFlags: 0)
    fixture.engine.evict(fixture.node("d"), by: "command") { _ in }
    fixture.store.edit("d/a") {
      $0.attributes.size = 77
      $0.content = [UInt8](repeating: 7, count: 77)
    }
    fixture.store.edit("d/b") { $0.attributes.accessTime.seconds += 77 }
    fixture.kernel.calls.withLock { $0 = [] }
    fixture.list("d")
    #expect(fixture.kernel.calls.withLock { $0.first } == "attributes \(moved.rawValue)")
    #expect(fixture.node("d/b") == moved)
    #expect(fixture.engine.attributes(of: open)?.attributes.size == 1)
    let new = fixture.node("d/a")
    #expect(new != open)
    let (old, fresh) = (fixture.trigger(open), fixture.trigger(new))
    fixture.lane.runAll()
    #expect(old.errno == "ESTALE")
    #expect(fresh.isReady)
  }

  @Test func aHardLinkChangedInTheSourceIsOneNodeAgain() {
    let fixture = EngineFixture(ScriptedStore(["a/x": 10], links: [("a/y", to: "a/x")]))
    #expect(fixture.node("a/x") == fixture.node("a/y"))
    fixture.engine.evict(fixture.node("a"), by: "command") { _ in }
    for name in ["a/x", "a/y"] { fixture.store.edit(name) { $0.attributes.size = 20 } }
    fixture.list("a")
    #expect(fixture.node("a/x") == fixture.node("a/y"))
  }

  @Test func aNameThatIsGoneDoesNotKeepItsDirectoryBusy() {
    let fixture = EngineFixture(ScriptedStore(["a/x": 10], links: [("b/x", to: "a/x")]))
    let node = fixture.node("b/x")
    _ = fixture.node("a/x")
    fixture.engine.evict(fixture.node("a"), by: "command") { _ in }
    fixture.store.edit("a") { $0.children = [] }
    fixture.list("a")
    fixture.trigger(node)
    fixture.lane.runAll()
    fixture.engine.evict(fixture.node("a"), by: "command") { _ in }
    #expect(fixture.engine.isDataless(fixture.node("a")))
  }

  @Test func absurdSizesAndNamesTrapNothing() {
    let fixture = EngineFixture(ScriptedStore(["huge": 1, "more": 1, "negative": 1, "long": 1]))
    fixture.store.edit("huge") {
      $0.attributes.size = .max; $0.attributes.blocks = 0
    }
    fixture.store.edit("more") {
      $0.attributes.size = .max - 1; $0.attributes.blocks = .max
    }
    fixture.store.edit("negative") {
      $0.attributes.size = -1; $0.attributes.blocks = -1
    }
    let name = String(repeating: "n", count: 300)
    let tooLong = String(repeating: "n", count: 2000)
    fixture.store.items.withLock { items in
      for added in [name, tooLong] {
        items[added] = items["long"]
        items[""]?.children.append(added)
      }
    }
    fixture.list("")
    #expect(fixture.names("").contains(name))
    #expect(!fixture.names("").contains(tooLong))
    for path in ["huge", "more", "negative"] {
      let node = fixture.node(path)
      _ = fixture.engine.attributes(of: node)
      _ = fixture.engine.describe(node)
      _ = fixture.engine.seek(node, from: .max - 1, hole: true)
      for offset in [0, Int64.max - 1, .max] {
        _ = fixture.engine.read(node, handle: 0, offset: offset, length: .max, isDirect: false, threadID: 1)
      }
      fixture.store.edit(path) { $0.failure = FSError(.ioError, "scripted") }
      fixture.trigger(
        node,
        TriggerRequest(
          trigger: .read, caller: EngineFixture.caller(), offset: .max - 1, length: 4096, io: .pageCache))
      fixture.lane.runAll()
    }
    #expect(fixture.engine.counts.files == 5)
  }

  @Test func anInodeNumberThatTheSourceReusesIsAnotherFile() {
    let fixture = EngineFixture(ScriptedStore(["x/a": 10], links: [("x/b", to: "x/a")]))
    let first = fixture.node("x/a")
    fixture.store.edit("x/a") { $0.attributes.size = 20 }
    fixture.store.items.withLock { items in
      items["y"] = ScriptedStore.Item(attributes: .directory(inode: 900))
      items["y"]?.children = ["c", "d"]
      items["y/c"] = items["x/a"]
      items["y/d"] = items["x/a"]
      items[""]?.children.append("y")
    }
    fixture.engine.evict(fixture.node("x"), by: "command") { _ in }
    fixture.engine.evict(.root, by: "command") { _ in }
    let second = fixture.node("y/c")
    #expect(second != first)
    #expect(fixture.node("y/d") == second)
    #expect(fixture.engine.attributes(of: first)?.attributes.size == 10)
    #expect(fixture.engine.attributes(of: second)?.attributes.size == 20)
  }

  @Test func aFailedListingLeavesTheDirectoryDataless() {
    let fixture = EngineFixture(make(["d/a"]))
    fixture.list("")
    fixture.store.edit("d") { $0.failure = FSError(.ioError, "scripted") }
    let answer = fixture.trigger(fixture.node("d"), TriggerRequest(trigger: .readdir, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(answer.errno == "EIO")
    #expect(fixture.engine.isDataless(fixture.node("d")))
  }

  @Test func recordsStaySmall() {
    #expect(MemoryLayout<NodeRecord>.stride <= 120)
    #expect(MemoryLayout<NameRecord>.stride <= 32)
  }
}
