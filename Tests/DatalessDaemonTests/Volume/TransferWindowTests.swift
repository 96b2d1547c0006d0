import DatalessCore
import Synchronization
import Testing

@testable import DatalessDaemon

@Suite(.timeLimit(.minutes(1))) struct TransferWindowTests {
  private static func waiter(_ number: UInt64) -> WaiterID { WaiterID(rawValue: number) }

  @Test func whoFindsItFullWaitsForRoom() async {
    let window = TransferWindow(limit: 4)
    for number in UInt64(1)...4 { #expect(await window.enter(Self.waiter(number))) }
    async let isIn = window.enter(Self.waiter(5))
    window.leave(Self.waiter(1))
    window.leave(Self.waiter(2))
    #expect(await isIn)
    #expect(window.count == 3)
  }

  /// Whatever runs beside it: never more than the limit, and nobody is forgotten.
  @Test func manyThatLeaveFromOtherThreadsAreAllCounted() async {
    let window = TransferWindow(limit: 8)
    let most = Mutex(0)
    let left = Atomic<Int>(0)
    let lane = ThreadBlockingLane(timer: ManualTimerLane(), threads: 4)
    defer { lane.stop() }
    for number in 1...20_000 {
      #expect(await window.enter(Self.waiter(UInt64(number))))
      let count = window.count
      most.withLock { $0 = max($0, count) }
      lane.submit {
        left.add(1, ordering: .relaxed)
        window.leave(Self.waiter(UInt64(number)))
      }
    }
    await window.drain()
    #expect(left.load(ordering: .relaxed) == 20_000 && window.count == 0)
    #expect(most.withLock { $0 } <= 8)
  }

  @Test func cancelledItNamesWhatIsUnderWayAndLetsNobodyIn() async {
    let window = TransferWindow(limit: 4)
    for number in UInt64(1)...3 { #expect(await window.enter(Self.waiter(number))) }
    window.leave(Self.waiter(2))
    #expect(window.cancel() == [Self.waiter(1), Self.waiter(3)])
    #expect(window.isCancelled)
    #expect(await !window.enter(Self.waiter(4)))
    async let drained: Void = window.drain()
    window.leave(Self.waiter(1))
    window.leave(Self.waiter(3))
    await drained
    #expect(window.count == 0)
  }
}
