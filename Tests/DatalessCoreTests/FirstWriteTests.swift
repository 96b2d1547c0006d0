@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// The first write of a file that holds nothing: small ones lie where small content does, until the next change.
@Suite struct FirstWriteTests {
  private static func content(of node: NodeID, _ fixture: EngineFixture) -> ContentID {
    fixture.engine.state.withLock { state in
      state.namespace.index(of: node).map { state.namespace[$0].content } ?? .none
    }
  }

  private static func expect(_ bytes: [UInt8], of node: NodeID, _ fixture: EngineFixture, _ context: String = "") {
    #expect(fixture.attributes(node)?.size == Int64(bytes.count), "\(context)")
    let handle = fixture.open(node)
    #expect(fixture.read(node, handle) == .bytes(bytes), "\(context)")
    fixture.close(node, handle)
  }

  @Test func aSmallFirstWriteTakesNoFileOfItsOwnUntilTheNextChange() {
    let fixture = EngineFixture.writable(["empty": 0])
    let (made, handle) = fixture.create("a")
    for (node, handle) in [(made.node!, handle), (fixture.lookUp("empty"), 0)] {
      let handle = handle == 0 ? fixture.openForWriting(node).handle : handle
      // A reader from before sees what is written since.
      let reader = fixture.open(node)
      #expect(fixture.write([1, 2, 3], to: node, handle, at: 0).count == 3)
      let first = Self.content(of: node, fixture)
      #expect(first != .none && !fixture.content.hasOwnFile(first))
      Self.expect([1, 2, 3], of: node, fixture)
      #expect(fixture.evict(node) == "EBUSY")
      #expect(fixture.write([9], to: node, handle, at: 4).count == 1)
      #expect(fixture.content.hasOwnFile(Self.content(of: node, fixture)))
      Self.expect([1, 2, 3, 0, 9], of: node, fixture)
      #expect(fixture.read(node, reader) == .bytes([1, 2, 3, 0, 9]))
      #expect(fixture.write([7], to: node, handle, at: 0).count == 1)
      Self.expect([7, 2, 3, 0, 9], of: node, fixture)
      fixture.close(node, reader)
      fixture.close(node, handle)
      #expect(fixture.evict(node) == "EBUSY", "written to, and nowhere else")
    }
    #expect(fixture.content.items == 2, "what was copied is gone")
  }

  @Test(arguments: [Int64(0), 2, 3, 10])
  func itsSizeCanBeChanged(size: Int64) {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    fixture.write([1, 2, 3], to: made.node!, handle, at: 0)
    #expect(fixture.truncate(made.node!, to: size) == nil)
    let bytes: [UInt8] = [1, 2, 3] + [UInt8](repeating: 0, count: 7)
    Self.expect(Array(bytes.prefix(Int(size))), of: made.node!, fixture)
    fixture.write([5, 5], to: made.node!, handle, at: 0)
    Self.expect([5, 5] + bytes.prefix(Int(size)).dropFirst(2), of: made.node!, fixture)
    #expect(fixture.content.items == 1)
  }

  @Test func whoeverIsSlowerWritesAsAnyOther() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    let node = made.node!
    fixture.content.making.withLock { $0 = { fixture.write([1, 1, 1, 1], to: node, handle, at: 0) } }
    #expect(fixture.write([2, 2], to: node, handle, at: 0).count == 2)
    Self.expect([2, 2, 1, 1], of: node, fixture)
    // Two copy the same: neither what they write nor what was there is lost.
    let (other, second) = fixture.create("b")
    fixture.write([1, 1, 1, 1], to: other.node!, second, at: 0)
    fixture.content.making.withLock { $0 = { fixture.write([3], to: other.node!, second, at: 3) } }
    fixture.write([2], to: other.node!, second, at: 0)
    Self.expect([2, 1, 1, 3], of: other.node!, fixture)
    #expect(fixture.content.items == 2)
  }

  @Test func aFullDiskIsToldAndLeavesNothing() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    fixture.content.limit.store(0, ordering: .relaxed)
    #expect(fixture.write([1], to: made.node!, handle, at: 0).errno == "ENOSPC")
    Self.expect([], of: made.node!, fixture)
  }

  @Test func onAVolumeThatIsKeptItIsDirtyBeforeItIsWritten() {
    let fixture = EngineFixture.writable([:], writing: .kept)
    let (made, handle) = fixture.create("a")
    fixture.write([1, 2, 3], to: made.node!, handle, at: 0)
    let content = Self.content(of: made.node!, fixture)
    #expect(content == .none || fixture.content.hasOwnFile(content))
  }

  @Test func whatIsRemovedAfterItsFirstWriteLeavesNothing() {
    let fixture = EngineFixture.writable([:])
    let (made, handle) = fixture.create("a")
    fixture.write([1, 2, 3], to: made.node!, handle, at: 0)
    #expect(fixture.unlink("a") == .ok)
    #expect(fixture.read(made.node!, handle) == .bytes([1, 2, 3]))
    fixture.close(made.node!, handle)
    fixture.forget(made.node!)
    #expect(fixture.content.items == 0)
  }
}
