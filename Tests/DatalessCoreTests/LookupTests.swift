@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Answers that bring a node to the kernel while its attributes change.
@Suite struct EngineLookupTests {
  private func make() -> (EngineFixture, NodeID) {
    let fixture = EngineFixture(ScriptedStore(["d/a": 10, "d/b": 20, "d/c": 30]))
    let node = fixture.node("d/a")
    fixture.kernel.calls.withLock { $0 = [] }
    return (fixture, node)
  }

  /// The kernel's LOOKUP: the answer is on its way until the test says otherwise.
  private func lookUp(_ name: String, _ fixture: EngineFixture) {
    let directory = fixture.node("d")
    let found = Array(name.utf8).withUnsafeBufferPointer { fixture.engine.lookup($0, in: directory) }
    guard case .found = found else {
      Issue.record("'\(name)' is not there")
      return
    }
  }

  private func told(_ fixture: EngineFixture) -> Int { fixture.kernel.calls.withLock { $0.count } }

  enum Change: CaseIterable { case materialized, mode, presented, evicted }

  @Test(arguments: Change.allCases) func aChangeIsToldUntilTheAnswerOnItsWayHasArrived(change: Change) {
    let (fixture, node) = make()
    if change == .evicted {
      fixture.trigger(node)
      fixture.lane.runAll()
    }
    lookUp("a", fixture)
    fixture.kernel.unknown.withLock { _ = $0.insert(node) }
    switch change {
    case .materialized:
      fixture.trigger(node)
      fixture.lane.runAll()
    case .mode:
      fixture.store.edit("d/a") {
        $0.attributes.mode = 0o100600
        $0.attributes.changeTime.seconds += 1
      }
      _ = fixture.refresh("")
    case .presented: _ = fixture.engine.refreshAttributes(from: nil)
    case .evicted:
      fixture.engine.evict(node, by: "command") { _ in }
      fixture.lane.runAll()
    }
    #expect(fixture.timer.pending == 1)
    let before = told(fixture)
    fixture.timer.advance(milliseconds: 1)
    #expect(told(fixture) == before + 1)
    fixture.timer.advance(milliseconds: 100)
    #expect(fixture.timer.pending == 1, "the answer has not arrived yet")
    fixture.kernel.unknown.withLock { $0 = [] }
    fixture.timer.advance(milliseconds: 200)
    #expect(fixture.kernel.calls.withLock { $0.last } == "attributes \(node.rawValue)")
    #expect(fixture.timer.pending == 0)
  }

  @Test func aNodeThatTheKernelWasNotGivenIsToldOnce() {
    let (fixture, node) = make()
    fixture.kernel.unknown.withLock { _ = $0.insert(node) }
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(fixture.kernel.calls.withLock { $0 } == ["attributes \(node.rawValue)"])
    #expect(fixture.timer.pending == 0)
  }

  @Test func aNodeThatTheKernelGivesBackIsToldNoMore() {
    let (fixture, node) = make()
    fixture.kernel.unknown.withLock { _ = $0.insert(node) }
    for _ in 0..<3 { lookUp("a", fixture) }
    fixture.trigger(node)
    fixture.lane.runAll()
    fixture.engine.forget([(node: node, count: UInt64(2))])
    fixture.timer.advance(milliseconds: 50)
    #expect(fixture.timer.pending == 1)
    fixture.engine.forget([(node: node, count: UInt64(1)), (node: NodeID(rawValue: 1 << 40), count: UInt64(1))])
    fixture.timer.advance(milliseconds: 100)
    #expect(fixture.timer.pending == 0)
  }

  @Test func aListingGivesWhatItsAnswerHasRoomFor() {
    let (fixture, node) = make()
    let other = fixture.node("d/b")
    fixture.kernel.unknown.withLock { $0 = [node, other] }
    var names: [String] = []
    _ = fixture.engine.readDirectory(fixture.node("d"), from: 2, countsLookups: true) { entry in
      guard names.isEmpty else { return false }
      names.append(String(decoding: entry.name, as: UTF8.self))
      return true
    }
    #expect(names == ["a"])
    for file in [node, other] { fixture.trigger(file) }
    fixture.lane.runAll()
    let before = told(fixture)
    fixture.timer.advance(milliseconds: 1)
    #expect(told(fixture) == before + 1, "only the one that was given")
    fixture.engine.end(FSError(.timedOut, "the end"))
    fixture.timer.advance(milliseconds: 100)
    #expect(fixture.timer.pending == 0)
  }
}
