@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What becomes of items whose names change.
@Suite struct WritableNameTests {
  private func makeDirty(_ node: NodeID, _ fixture: EngineFixture) {
    let (handle, _) = fixture.openForWriting(node)
    fixture.write([9], to: node, handle, at: 0)
    fixture.close(node, handle)
  }

  /// Of a file with several names in SOURCE those that are known are removed.
  @Test(arguments: [false, true]) func whatWasWrittenStaysForNamesThatAreNotListedYet(_ isReplaced: Bool) {
    let fixture = EngineFixture.writable(["d1/x": 10, "d1/n": 1, "d2/z": 1], links: [("d2/y", to: "d1/x")])
    let (d1, node) = (fixture.node("d1"), fixture.lookUp("d1/x"))
    makeDirty(node, fixture)
    if isReplaced {
      #expect(fixture.rename("n", in: d1, to: "x", into: d1) == .ok)
    } else {
      #expect(fixture.unlink("x", in: d1) == .ok)
    }
    fixture.forget(node)
    #expect(fixture.attributes(node)?.linkCount == 1)
    #expect(fixture.content("d2/y") == [9] + PatternBytes.bytes(1, 9))
    #expect(fixture.node("d2/y") == node && fixture.engine.changes.dirtyFiles == 1)
    #expect(fixture.evict(node) == "EBUSY")
    // The last name takes it along.
    #expect(fixture.unlink("y", in: fixture.node("d2")) == .ok)
    fixture.forget(node)
    #expect(fixture.content.items == 0)
  }

  /// What a refresh has left without a name is that one's to free: there may be a tree of it.
  @Test func aChangeOfOneNameDisposesOfWhatItRemoved() {
    let fixture = EngineFixture.writable(["d/a": 1, "d/b": 1, "g": 1])
    let (d, g) = (fixture.node("d"), fixture.node("g"))
    _ = fixture.node("d/a")
    let before = fixture.engine.state.withLock { state -> Int in
      for name in ["a", "b"] {
        let found = Array(name.utf8).withUnsafeBufferPointer { text in
          state.namespace.index(of: d).flatMap { directory in
            while !state.namespace.indexNames(of: directory) {}
            return state.namespace.find(text, in: directory)
          }
        }
        if let found { state.namespace.setStanding(.gone, of: found) }
      }
      return state.namespace.orphanCount
    }
    #expect(before == 2)
    let answer = Array("g".utf8).withUnsafeBufferPointer {
      fixture.engine.unlink($0, in: .root, by: EngineFixture.maker)
    }
    guard case .done = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(fixture.engine.state.withLock { $0.namespace.orphanCount } == 2)
    #expect(fixture.attributes(g)?.linkCount == 0)
  }

  /// A directory that is gone in the store stays with what was changed below it: it has the attributes that were given
  /// to it here, and the kernel asks for its ACL at each look at permissions. A file of which nothing but these was
  /// changed goes.
  @Test func whatTheStoreHasNoMoreHasTheAttributesOfTheVolume() {
    let fixture = EngineFixture.writable(["d/a": 10, "d/b": 10, "d/c": 10])
    for name in ["d/a", "d/b"] { makeDirty(fixture.lookUp(name), fixture) }
    let (d, b, c) = (fixture.node("d"), fixture.node("d/b"), fixture.node("d/c"))
    for node in [b, c] { #expect(fixture.setAttribute("user.here", [65], of: node) == nil) }
    fixture.store.remove("d")
    #expect(fixture.refresh("").error == nil)
    #expect(fixture.entries(of: d).keys.sorted() == ["a", "b"])
    for node in [d, b] {
      #expect(fixture.attribute("system.posix_acl_access", of: node) == "absent")
      #expect(fixture.attribute("user.there", of: node) == "absent")
      #expect(fixture.setAttribute("user.new", [66], .create, of: node) == nil)
      #expect(fixture.setAttribute("user.none", [66], .replace, of: node) == "ENODATA")
      #expect(fixture.attribute("user.new", of: node) == "B")
    }
    #expect(fixture.attribute("user.here", of: b) == "A")
    #expect(fixture.attribute(nil, of: b) == "user.here\0user.new\0")
  }

  /// A waiter that the adapter has announced is taken by each call, whether it has to wait or not.
  @Test func everyCallTakesTheWaiterThatWasAnnounced() {
    let fixture = EngineFixture.writable(["a": 10])
    let (node, made) = (fixture.lookUp("a"), fixture.makeLink("link", to: "there").node!)
    func announced(_ call: (WaiterID) -> Void) {
      let waiter = fixture.makeWaiter()
      fixture.engine.expect(waiter)
      call(waiter)
      fixture.lane.runAll()
      #expect(fixture.engine.state.withLock { $0.calls.announcedCount } == 0)
    }
    for (item, name) in [
      (node, "user.a"), (node, "user.a"), (made, "user.b"), (node, "nothing"), (NodeID(rawValue: 999), "user.c"),
    ] {
      for how in [AttributeExistence.any, .create, .replace] {
        announced { waiter in
          fixture.engine.setExtendedAttribute(
            Array(name.utf8), to: [1], how: how, of: item, by: EngineFixture.maker, waiter: waiter
          ) { _ in }
        }
      }
      announced { waiter in
        fixture.engine.removeExtendedAttribute(
          Array(name.utf8), of: item, by: EngineFixture.maker, waiter: waiter
        ) { _ in }
      }
    }
    for item in [node, made] {
      announced { waiter in fixture.engine.readLink(item, threadID: 10, waiter: waiter) { _ in } }
    }
  }
}
