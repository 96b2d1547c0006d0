@testable import DatalessCore
import SystemPackage
import Testing

/// A limit on local content: what was used least recently goes, and who finds no room gets ENOSPC.
@Suite struct QuotaTests {
  private static let page = EngineFixture.page
  private static let names = ["a", "b", "c", "d"]

  private func make(_ pages: Int?, writing: EngineConfiguration.Writing = .readOnly) -> EngineFixture {
    let files = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Self.page) })
    return .limited(pages.map { $0 * Self.page }, files, writing: writing)
  }

  @Test func withoutAQuotaNothingGoes() {
    let fixture = make(nil)
    for name in Self.names { #expect(fixture.read(name) == nil) }
    #expect(fixture.resident(Self.names) == Self.names)
    #expect(fixture.evictions.isEmpty)
  }

  @Test func theLeastRecentlyUsedGoesFirst() {
    let fixture = make(3)
    for name in ["a", "b", "c"] { #expect(fixture.read(name) == nil) }
    #expect(fixture.evictions.isEmpty, "there is room for three")
    #expect(fixture.read("a") == nil, "used once more")
    #expect(fixture.read("d") == nil)
    #expect(fixture.resident(Self.names) == ["a", "c", "d"])
    #expect(fixture.evictions == ["b quota"], "the record says why")
    #expect(fixture.content.allocatedBytes <= Int64(3 * Self.page))
  }

  @Test func whatIsOpenStaysAndIsUsedWhenItIsClosed() {
    let fixture = make(2)
    let node = fixture.node("a")
    let handle = fixture.open(node)
    fixture.settle(fixture.trigger(node))
    #expect(fixture.read("b") == nil)
    #expect(fixture.read("c") == nil)
    #expect(fixture.resident(Self.names) == ["a", "c"], "a is older, and open")
    fixture.engine.release(node, handle: handle)
    #expect(fixture.read("d") == nil)
    #expect(fixture.resident(Self.names) == ["a", "d"], "c was used before a was closed")
  }

  @Test func whereNothingCanGoReadersGetENOSPC() {
    let fixture = make(1)
    #expect(fixture.read("a", keepsOpen: true) == nil)
    #expect(fixture.read("b") == "ENOSPC")
    #expect(fixture.resident(Self.names) == ["a"])
    #expect(fixture.engine.roomStatus.waiting == 0 && fixture.engine.roomStatus.pending == 0)
  }

  @Test func aFileLargerThanTheQuotaIsRefusedAtOnce() {
    let fixture = EngineFixture.limited(Self.page, ["large": 3 * Self.page])
    let answer = fixture.trigger(fixture.node("large"))
    fixture.lane.runAll()
    #expect(answer.errno == "ENOSPC")
  }

  @Test func aCloseThatIsUnderWayIsWaitedFor() {
    let fixture = make(1)
    let node = fixture.node("a")
    let handle = fixture.open(node)
    fixture.settle(fixture.trigger(node))
    let answer = fixture.trigger(fixture.node("b"))
    fixture.lane.runAll()
    #expect(answer.count == 0)
    // close(2) has returned before; RELEASE comes now.
    fixture.engine.release(node, handle: handle)
    fixture.lane.runAll()
    #expect(answer.isReady)
    #expect(fixture.resident(Self.names) == ["b"])
  }

  @Test func aReaderThatIsKilledNoLongerWaits() {
    let fixture = make(1)
    #expect(fixture.read("a", keepsOpen: true) == nil)
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(fixture.node("b"), waiter: waiter)
    fixture.lane.runAll()
    fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    #expect(answer.errno == "EINTR")
    #expect(fixture.engine.roomStatus.waiting == 0)
  }

  @Test func theEndOfTheVolumeEndsTheWaitForRoom() {
    let fixture = make(1, writing: .scratch)
    #expect(fixture.read("a", keepsOpen: true) == nil)
    let reader = fixture.trigger(fixture.node("b"))
    let writer = Answer()
    fixture.engine.waitForRoom(1, threadID: 0, waiter: fixture.makeWaiter()) {
      writer.set($0.map { .failed($0) } ?? .ready)
    }
    fixture.lane.runAll()
    fixture.engine.end(FSError(.timedOut, "the volume ends"))
    fixture.settle()
    #expect(reader.errno == "ETIMEDOUT" && writer.errno == "ETIMEDOUT" && writer.count == 1)
    #expect(fixture.engine.roomStatus.waiting == 0)
  }

  @Test func aLowerQuotaEvictsWhatIsThere() {
    let fixture = make(nil)
    for name in Self.names { #expect(fixture.read(name) == nil) }
    fixture.setQuota(2 * Self.page)
    #expect(fixture.resident(Self.names) == ["c", "d"])
    #expect(fixture.content.allocatedBytes == Int64(2 * Self.page))
  }

  @Test func concurrentReadersShareTheRoomOneAfterTheOther() {
    let fixture = make(1)
    let answers = Self.names.map { fixture.trigger(fixture.node($0)) }
    for answer in answers { fixture.settle(answer) }
    #expect(answers.map(\.count) == [1, 1, 1, 1])
    #expect(answers.map(\.isReady) == [true, true, true, true])
    #expect(fixture.content.allocatedBytes == Int64(Self.page))
  }

  @Test func filesWithSeveralNamesStay() {
    let fixture = EngineFixture.limited(Self.page, ["a": Self.page, "c": Self.page], links: [("b", to: "a")])
    #expect(fixture.read("a") == nil)
    #expect(fixture.read("c") == "ENOSPC")
  }

  // MARK: - Writing

  @Test func writersEvictToo() {
    let fixture = make(2, writing: .scratch)
    #expect(fixture.read("a") == nil)
    #expect(fixture.read("b") == nil)
    let made = fixture.create("new")
    guard let node = made.done.node else { return }
    let bytes = [UInt8](repeating: 7, count: Self.page)
    #expect(fixture.write(bytes, to: node, made.handle, at: 0).count == Self.page)
    #expect(fixture.resident(["a", "b"]) == ["b"])
    #expect(fixture.content.allocatedBytes <= Int64(2 * Self.page))
  }

  @Test func dirtyContentCountsAndNeverGoes() {
    let fixture = make(2, writing: .scratch)
    let made = fixture.create("new")
    guard let node = made.done.node else { return }
    let bytes = [UInt8](repeating: 7, count: 2 * Self.page)
    #expect(fixture.write(bytes, to: node, made.handle, at: 0).count == 2 * Self.page)
    fixture.close(node, made.handle)
    #expect(fixture.read("a") == "ENOSPC")
    let handle = fixture.openForWriting(node).handle
    #expect(fixture.write([1], to: node, handle, at: 5).count == 1, "what is there can be written over")
    #expect(fixture.write(bytes, to: node, handle, at: 2 * Self.page).errno == "ENOSPC")
    fixture.close(node, handle)
    #expect(fixture.unlink("new") == .ok)
    fixture.forget(node)
    #expect(fixture.read("a") == nil, "the trash is emptied, and there is room")
  }

  @Test func aWriterWaitsForTrashThatIsBeingEmptied() {
    let fixture = make(2, writing: .scratch)
    let made = fixture.create("new")
    guard let node = made.done.node else { return }
    let bytes = [UInt8](repeating: 7, count: 2 * Self.page)
    #expect(fixture.write(bytes, to: node, made.handle, at: 0).count == 2 * Self.page)
    fixture.close(node, made.handle)
    let other = fixture.create("other")
    guard let target = other.done.node else { return }
    #expect(fixture.unlink("new") == .ok)
    // The content is on its way out from here on, and still there.
    fixture.engine.forget([(node: node, count: UInt64(1_000_000))])
    while fixture.engine.roomStatus.removing == 0, fixture.lane.runOne() {}
    #expect(fixture.engine.roomStatus.removing == Int64(2 * Self.page))
    #expect(fixture.write([1], to: target, other.handle, at: 0).count == 1)
  }
}
