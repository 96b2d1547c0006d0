@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

@Suite struct EngineEvictTests {
  /// The outcome as text: bytes, `nothing`, or the errno's name.
  private func evict(_ fixture: EngineFixture, _ node: NodeID) -> String? {
    let box = OutcomeBox()
    fixture.engine.evict(node, by: "command") { result in
      switch result {
      case .evicted(let bytes, let wasResident): box.text.withLock { $0 = wasResident ? "\(bytes)" : "nothing" }
      case .refused(let error): box.text.withLock { $0 = error.errno.name }
      }
    }
    fixture.lane.runAll()
    return box.text.withLock { $0 }
  }

  private final class OutcomeBox: Sendable {
    let text = Mutex<String?>(nil)
  }

  private func materialize(_ fixture: EngineFixture, _ path: String) -> NodeID {
    let node = fixture.node(path)
    fixture.trigger(node)
    fixture.lane.runAll()
    return node
  }

  @Test func evictionDropsContentAndTheNextReadMaterializesAgain() {
    let fixture = EngineFixture(ScriptedStore(["a": 100]))
    let node = materialize(fixture, "a")
    #expect(evict(fixture, node) == "100")
    #expect(fixture.content.items == 0)
    #expect(fixture.kernel.calls.withLock { $0.last } == "content \(node.rawValue)")
    #expect(fixture.engine.attributes(of: node)?.attributes.blocks == 0)
    #expect(evict(fixture, node) == "nothing")
    _ = materialize(fixture, "a")
    #expect(fixture.store.opens.load(ordering: .relaxed) == 2)
  }

  @Test func openFileIsBusyAfterTheGraceAndACloseEndsTheWait() {
    let fixture = EngineFixture(ScriptedStore(["a": 100]))
    let node = materialize(fixture, "a")
    let handle = fixture.open(node)
    let box = OutcomeBox()
    func start() {
      fixture.engine.evict(node, by: "command") { result in
        box.text.withLock { if case .refused(let error) = result { $0 = error.errno.name } else { $0 = "evicted" } }
      }
    }
    start()
    fixture.timer.advance(milliseconds: 249)
    #expect(box.text.withLock { $0 } == nil)
    fixture.timer.advance(milliseconds: 1)
    #expect(box.text.withLock { $0 } == "EBUSY")
    box.text.withLock { $0 = nil }
    start()
    fixture.timer.advance(milliseconds: 100)
    fixture.engine.release(node, handle: handle)
    #expect(box.text.withLock { $0 } == "evicted")
    fixture.timer.advance(milliseconds: 1000)
    #expect(fixture.events.kinds.filter { $0 == "evicted" || $0 == "refused" } == ["refused", "evicted"])
  }

  /// A READ of it would lock its page in the kernel, and the drop would wait for that page: so nobody opens it
  /// meanwhile.
  @Test func aFileIsNotOpenedBeforeTheKernelHasDroppedItsPages() {
    let fixture = EngineFixture(ScriptedStore(["a": 100, "b": 100]))
    let (node, other) = (materialize(fixture, "a"), materialize(fixture, "b"))
    fixture.kernel.isHeld.store(true, ordering: .relaxed)
    #expect(evict(fixture, node) == nil)
    #expect(fixture.engine.isDataless(node))
    let opened = Counter()
    for _ in 0..<3 {
      guard case .isBeingEvicted = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
        Issue.record("opened while its pages are dropped")
        return
      }
      fixture.engine.waitForEviction(node, threadID: 10, waiter: fixture.makeWaiter()) { if $0 == nil { opened.add() } }
    }
    guard case .resident = fixture.engine.open(other, process: .unknown, openFlags: 0) else {
      Issue.record("another file is as it was")
      return
    }
    // Brought back by a command, which opens nothing, it is not evicted a second time before the first is through.
    fixture.trigger(node, TriggerRequest(trigger: .command, caller: EngineFixture.caller()))
    fixture.lane.runAll()
    #expect(!fixture.engine.isDataless(node) && opened.value == 0)
    #expect(evict(fixture, node) == "EBUSY")
    fixture.kernel.release()
    #expect(opened.value == 0, "not on the thread that tells the kernel")
    fixture.lane.runAll()
    #expect(opened.value == 3)
    #expect(fixture.engine.state.withLock { $0.pageDrops.isEmpty && $0.calls.parkedCount == 0 })
    guard case .resident = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("it can be opened again")
      return
    }
  }

  @Test(arguments: ["early", "later", "end"]) func whoWaitsForADropIsAnswered(by end: String) {
    let fixture = EngineFixture(ScriptedStore(["a": 100]))
    let node = materialize(fixture, "a")
    fixture.kernel.isHeld.store(true, ordering: .relaxed)
    _ = evict(fixture, node)
    let answers = Mutex<[String]>([])
    let waiter = fixture.makeWaiter()
    fixture.engine.expect(waiter)
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    if end == "early" { fixture.engine.interrupt(waiter) }
    fixture.engine.waitForEviction(node, threadID: 10, waiter: waiter) { error in
      answers.withLock { $0.append(error?.errno.name ?? "goes on") }
    }
    if end == "later" { fixture.engine.interrupt(waiter) }
    if end == "end" { fixture.engine.end(FSError(.timedOut, "the volume ends")) }
    let expected = [end == "end" ? "ETIMEDOUT" : "EINTR"]
    #expect(answers.withLock { $0 } == expected)
    fixture.kernel.release()
    fixture.lane.runAll()
    #expect(answers.withLock { $0 } == expected)
  }

  @Test func hardLinksRefuseWithEMLINK() {
    let fixture = EngineFixture(ScriptedStore(["a": 100], links: [("b", to: "a")]))
    let node = materialize(fixture, "b")
    #expect(node == fixture.node("a"))
    #expect(evict(fixture, node) == "EMLINK")
  }

  @Test func aDirectoryIsEvictedAfterItsChildrenAndListedAgain() {
    let fixture = EngineFixture(ScriptedStore(["d/a": 100, "d/b": 1, "d/e/c": 1]))
    fixture.list("d")
    fixture.list("d/e")
    let directory = fixture.node("d")
    let file = materialize(fixture, "d/a")
    #expect(evict(fixture, directory) == "EBUSY")
    #expect(evict(fixture, file) == "100")
    #expect(evict(fixture, directory) == "EBUSY")
    #expect(evict(fixture, fixture.node("d/e")) == "0")
    #expect(evict(fixture, directory) == "0")
    #expect(fixture.engine.counts.directoriesDataless == 2)
    #expect(fixture.kernel.calls.withLock { $0.last } == "directory \(directory.rawValue) 3")
    fixture.store.edit("d") { $0.children = ["b", "a", "e"] }
    fixture.list("d")
    #expect(fixture.node("d/a") == file)
    #expect(fixture.names("d").sorted() == [".", "..", "a", "b", "e"])
  }
}
