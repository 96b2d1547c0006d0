@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// What an item is in its store does not depend on what is done to it on the volume.
@Suite struct StoreBindingTests {
  private func make(_ files: [String: Int]) -> EngineFixture {
    let fixture = EngineFixture(ScriptedStore(files))
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  /// Does something to names of a directory, with all of them found.
  private func change(
    _ fixture: EngineFixture, in directory: String, _ body: @Sendable (inout Namespace, NodeIndex) -> Void
  ) {
    let node = fixture.node(directory)
    fixture.engine.state.withLock { state in
      guard let index = state.namespace.index(of: node) else { return }
      while !state.namespace.indexNames(of: index) {}
      body(&state.namespace, index)
    }
  }

  private func move(_ fixture: EngineFixture, _ from: String, to: String, in directory: String = "") {
    change(fixture, in: directory) { namespace, index in
      let name = Array(from.utf8).withUnsafeBufferPointer { namespace.find($0, in: index, .visible) }
      guard let name else { return }
      _ = Array(to.utf8).withUnsafeBufferPointer { namespace.move(name, to: $0, in: index) }
    }
  }

  private func remove(_ fixture: EngineFixture, _ name: String) {
    change(fixture, in: "") { namespace, index in
      let name = Array(name.utf8).withUnsafeBufferPointer { namespace.find($0, in: index, .visible) }
      if let name { namespace.remove(name) }
    }
  }

  private func makeFile(_ fixture: EngineFixture, _ name: String, inode: UInt64) {
    change(fixture, in: "") { namespace, index in
      _ = Array(name.utf8).withUnsafeBufferPointer {
        namespace.make($0, .file(inode: inode, size: 0), in: index)
      }
    }
  }

  private func evict(_ fixture: EngineFixture, _ path: String) -> String {
    let answer = Mutex("")
    fixture.engine.evict(fixture.node(path), by: "command") { result in
      answer.withLock {
        if case .refused(let error) = result { $0 = error.errno.name } else { $0 = "evicted" }
      }
    }
    fixture.lane.runAll()
    return answer.withLock { $0 }
  }

  @Test func aFileThatWasMovedHereIsFetchedByTheNameThatTheStoreHas() {
    let fixture = make(["d/a": 10, "d/b": 3])
    move(fixture, "a", to: "z", in: "d")
    move(fixture, "d", to: "e")
    #expect(fixture.names("e") == [".", "..", "b", "z"])
    #expect(fixture.content("e/z") == fixture.store.bytes("d/a"))
    #expect(
      fixture.events.all.contains { event in
        if case .materializationStarted(let started) = event { started.path == Array("e/z".utf8) } else { false }
      })
  }

  @Test func attributesThatWereChangedHereDoNotMakeAFileStale() {
    let fixture = make(["a": 10])
    let node = fixture.node("a")
    change(fixture, in: "") { namespace, _ in
      guard let index = namespace.index(of: node) else { return }
      var attributes = namespace.attributes(of: index)
      attributes.mode = 0o100600
      attributes.modificationTime.seconds += 77
      attributes.changeTime.seconds += 78
      namespace.setAttributes(attributes, of: index)
    }
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    #expect(fixture.engine.attributes(of: node)?.attributes.mode == 0o100600)
    #expect(fixture.refresh("").text == "1 unchanged in 1")
    #expect(fixture.engine.attributes(of: node)?.attributes.mode == 0o100600)
    #expect(fixture.node("a") == node)
  }

  @Test func whatTheStoreRenamesStaysWhereItWasMovedHere() {
    let fixture = make(["a": 10, "b": 3])
    let node = fixture.node("a")
    move(fixture, "a", to: "mine")
    fixture.store.move("a", to: "theirs")
    #expect(fixture.refresh("").text == "1 renamed, 1 unchanged in 1")
    #expect(fixture.names("") == [".", "..", "b", "mine"])
    #expect(fixture.node("mine") == node)
    #expect(fixture.content("mine") == fixture.store.bytes("theirs"))
  }

  @Test func aNewVersionOfWhatWasMovedHereIsUnderItsNewName() {
    let fixture = make(["a": 10])
    move(fixture, "a", to: "mine")
    fixture.store.write("a", size: 20)
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.names("") == [".", "..", "mine"])
    #expect(fixture.content("mine") == fixture.store.bytes("a"))
  }

  @Test func whatWasRemovedHereDoesNotComeBack() {
    let fixture = make(["a": 10, "b": 3])
    remove(fixture, "a")
    #expect(fixture.names("") == [".", "..", "b"])
    #expect(fixture.refresh("").text == "2 unchanged in 1")
    fixture.store.write("a", size: 20)
    _ = fixture.refresh("")
    #expect(fixture.names("") == [".", "..", "b"])
    // Another item than the one that was removed.
    fixture.store.remove("a")
    fixture.store.write("a", size: 7)
    #expect(fixture.refresh("").text == "1 changed, 1 unchanged in 1")
    #expect(fixture.names("").sorted() == [".", "..", "a", "b"])
    #expect(fixture.content("a") == fixture.store.bytes("a"))
  }

  @Test func whatWasMadeHereStaysWhateverTheStoreLists() {
    let fixture = make(["a": 10])
    makeFile(fixture, "new", inode: 5_000)
    #expect(fixture.refresh("").text == "1 unchanged in 1")
    #expect(fixture.names("") == [".", "..", "a", "new"])
    let node = fixture.node("new")
    fixture.store.write("new", size: 9)
    _ = fixture.refresh("")
    #expect(fixture.node("new") == node && fixture.names("") == [".", "..", "a", "new"])
    // Dropped here, the store's is seen when it is listed again as another item.
    remove(fixture, "new")
    #expect(fixture.names("") == [".", "..", "a"])
  }

  @Test func whatTheStoreHasNoMoreLosesItsNewNameUnlessItsContentIsHere() {
    let fixture = make(["a": 10, "b": 3])
    let bytes = fixture.store.bytes("b")
    #expect(fixture.content("b") == bytes)
    move(fixture, "a", to: "x")
    move(fixture, "b", to: "y")
    fixture.store.remove("a")
    fixture.store.remove("b")
    #expect(fixture.refresh("").text == "2 gone in 1")
    #expect(fixture.names("") == [".", "..", "y"])
    #expect(fixture.content("y") == bytes)
  }

  @Test func aDirectoryWithChangesIsNotEvicted() {
    let fixture = make(["d/a": 10])
    move(fixture, "a", to: "z", in: "d")
    #expect(evict(fixture, "d") == "EBUSY")
    move(fixture, "z", to: "a", in: "d")
    #expect(evict(fixture, "d") == "evicted")
  }

  @Test func aTokenIsWhatAVersionIsCheckedBy() {
    let fixture = EngineFixture(ScriptedStore(["a": 10]))
    fixture.store.edit("a") { $0.token = VersionToken("v1".utf8) }
    let node = fixture.node("a")
    // Times and even the size may be told otherwise, as long as the token is the same.
    fixture.store.edit("a") { $0.attributes.modificationTime.seconds += 5 }
    #expect(fixture.content("a") == fixture.store.bytes("a"))
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.node("a") == node)
    fixture.store.edit("a") { $0.token = VersionToken("v2".utf8) }
    #expect(fixture.refresh("").text == "1 changed in 1")
    #expect(fixture.node("a") != node)
  }
}
