@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Files that programs could have written to past the volume, and did not.
@Suite struct UntouchedFileTests {
  @Test(arguments: [EngineConfiguration.Writing.scratch, .kept])
  func whatNobodyWroteToIsTheStoresAgain(writing: EngineConfiguration.Writing) throws {
    let journal = RecordingJournal()
    journal.makeDurable(.max)
    let volume = PassthroughFixture(["a": 200], writing: writing, journal: writing == .kept ? journal : nil)
    let (node, fixture) = (volume.resident("a"), volume.fixture)
    for _ in 0..<2 {
      if writing == .kept {
        #expect(volume.open(node).errno == "durability")
        fixture.engine.whenDurable(ChangeNumber(rawValue: UInt64(journal.changes.count))) { _ in }
      }
      let (first, second) = (try #require(volume.open(node).open), try #require(volume.open(node).open))
      volume.close(node, first)
      volume.advance(milliseconds: 3_000)
      #expect(volume.isDirty(node), "somebody has it open")
      volume.close(node, second)
      fixture.content.mapped.store(true, ordering: .relaxed)
      volume.advance(milliseconds: 1_500)
      #expect(volume.isDirty(node), "somebody has it mapped")
      fixture.content.mapped.store(false, ordering: .relaxed)
      volume.advance(milliseconds: 200_000)
      #expect(!volume.isDirty(node) && volume.unsettled == 0)
    }
    if writing == .kept {
      let told = journal.changes.compactMap { change in
        switch change {
        case .dirty(let item, _) where item.node == node: "dirty"
        case .content(let item, _) where item.node == node: "clean"
        default: nil
        }
      }
      #expect(told == ["clean", "dirty", "clean", "dirty", "clean"])
    }
    #expect(fixture.evict(node) == nil && volume.fixture.engine.isDataless(node))
  }

  @Test func whatMayHaveBeenWrittenToStaysDirty() throws {
    let before: [(PassthroughFixture, NodeID) -> Void] = [
      // A store into a mapping moves no time there.
      { volume, _ in volume.fixture.content.seesStores.store(false, ordering: .relaxed) },
      // The disk's clock may show the same for what is written next.
      { volume, node in
        let content = volume.content(node)
        volume.fixture.content.state.withLock { state in
          state.now.seconds = 2_000_000_500
          state.touch(content)
        }
      },
    ]
    for prepare in before {
      let volume = PassthroughFixture(["a": 200])
      let node = volume.resident("a")
      prepare(volume, node)
      volume.close(node, try #require(volume.open(node).open))
      volume.advance(milliseconds: 5_000)
      #expect(volume.isDirty(node) && volume.unsettled == 0)
    }
    let after: [(PassthroughFixture, NodeID, PassthroughFixture.Open) -> Void] = [
      { volume, _, open in #expect(volume.fixture.content.writePast(open.content, [1], at: 5)) },
      { volume, node, _ in #expect(volume.fixture.truncate(node, to: 199) == nil) },
      { volume, node, open in
        #expect(volume.fixture.allocate(.punchHole, 0..<100, of: node, open.handle).errno == nil)
      },
    ]
    for change in after {
      let volume = PassthroughFixture(["a": 200])
      let node = volume.resident("a")
      let open = try #require(volume.open(node).open)
      change(volume, node, open)
      volume.close(node, open)
      volume.advance(milliseconds: 5_000)
      #expect(volume.isDirty(node) && volume.unsettled == 0)
      // Nor is what was written at some time clean because nobody wrote to it in the last open.
      volume.close(node, try #require(volume.open(node).open))
      volume.advance(milliseconds: 5_000)
      #expect(volume.isDirty(node))
    }
  }
  /// The store has got another version meanwhile: what nobody has written to is of use to nobody, and in no conflict.
  @Test(arguments: [false, true]) func whatTheStoreHasChangedIsTheStoresAgain(isWritten: Bool) throws {
    let volume = PassthroughFixture(["a": 200])
    let node = volume.resident("a")
    let open = try #require(volume.open(node).open)
    volume.fixture.store.write("a", size: 300)
    #expect(volume.fixture.refresh("").error == nil)
    let engine = volume.fixture.engine
    #expect(volume.isDirty(node) && engine.conflicts(at: [[]]).map(\.kind) == [.changedOnBothSides])
    if isWritten { #expect(volume.fixture.content.writePast(open.content, [1], at: 5)) }
    volume.close(node, open)
    volume.advance(milliseconds: 5_000)
    #expect(volume.unsettled == 0)
    #expect(engine.conflicts(at: [[]]).count == (isWritten ? 1 : 0))
    #expect(volume.isDirty(node) == isWritten)
    let name = volume.fixture.node("a")
    #expect((name == node) == isWritten)
    #expect(volume.fixture.attributes(name)?.size == (isWritten ? 200 : 300))
  }
}
