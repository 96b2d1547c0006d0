import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Calls that wait for the store's metadata: xattrs and the targets of links.
@Suite struct EngineStoreCallTests {
  private final class Call: Sendable {
    let answer = Answer()
    func set(_ result: Result<[UInt8], FSError>) {
      switch result {
      case .success: answer.set(.ready)
      case .failure(let error): answer.set(.failed(error))
      }
    }
  }

  /// One call of each kind; the metadata lane has not begun any of them.
  private func calls(_ fixture: EngineFixture, of node: NodeID) -> (calls: [Call], waiters: [WaiterID]) {
    let calls = [Call(), Call(), Call()]
    let waiters = calls.map { _ in fixture.makeWaiter() }
    let engine = fixture.engine
    engine.readLink(node, threadID: 10, waiter: waiters[0]) { calls[0].set($0) }
    engine.extendedAttribute(Array("user.a".utf8), of: node, threadID: 10, waiter: waiters[1]) { calls[1].set($0) }
    engine.extendedAttributeNames(of: node, threadID: 10, waiter: waiters[2]) { calls[2].set($0) }
    return (calls, waiters)
  }

  @Test(arguments: StoreKind.allCases) func theEndOfTheVolumeAnswersThoseWhoWaitForTheStore(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let node = fixture.node("a")
    let waiting = calls(fixture, of: node).calls
    #expect(waiting.allSatisfy { $0.answer.count == 0 })
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    #expect(waiting.map(\.answer.errno) == ["ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT"])
    // The store answers after all: nobody is answered twice.
    fixture.lane.runAll()
    #expect(waiting.allSatisfy { $0.answer.count == 1 })
    // And who comes later does not wait.
    let late = calls(fixture, of: node).calls
    #expect(late.map(\.answer.errno) == ["ETIMEDOUT", "ETIMEDOUT", "ETIMEDOUT"])
  }

  @Test(arguments: StoreKind.allCases) func aKilledCallerLeavesAStoreThatHangs(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    let (waiting, waiters) = calls(fixture, of: fixture.node("a"))
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    for waiter in waiters { fixture.engine.interrupt(waiter) }
    #expect(waiting.map(\.answer.errno) == ["EINTR", "EINTR", "EINTR"])
    fixture.lane.runAll()
    #expect(waiting.allSatisfy { $0.answer.count == 1 })
  }

  @Test(arguments: StoreKind.allCases) func aCallGetsWhatTheStoreAnswersOnce(_ kind: StoreKind) {
    let fixture = EngineFixture(ScriptedStore(["a": 10]), kind: kind)
    fixture.store.edit("a") { $0.xattrs["user.a"] = [1, 2] }
    let (waiting, waiters) = calls(fixture, of: fixture.node("a"))
    fixture.lane.runAll()
    #expect(waiting.allSatisfy { $0.answer.isReady })
    for waiter in waiters { fixture.engine.leave(waiter, FSError(.interrupted, "too late")) }
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    #expect(waiting.allSatisfy { $0.answer.count == 1 })
  }
}
