@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Content that comes in ranges, beside programs that change the file.
@Suite struct RangesBesideWritingTests {
  private static let latency = LatencyModel(.fixed(.milliseconds(5)))

  private func read(_ fixture: EngineFixture, _ node: NodeID, _ range: Range<Int64>, waiter: WaiterID? = nil) -> Answer
  {
    fixture.trigger(
      node,
      TriggerRequest(
        trigger: .read, caller: EngineFixture.caller(), offset: range.lowerBound, length: Int64(range.count)),
      waiter: waiter)
  }

  private func advance(_ fixture: EngineFixture, _ milliseconds: Int64) {
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: milliseconds) { [lane = fixture.lane] in lane.runAll() }
    fixture.lane.runAll()
  }

  /// Nothing is under way, and what was written is what there is.
  private func expect(_ bytes: [UInt8], _ fixture: EngineFixture, _ node: NodeID, _ handle: UInt64) {
    advance(fixture, 2_000)
    #expect(fixture.read(node, handle) == .bytes(bytes))
    #expect(fixture.engine.attemptsInFlight().isEmpty, "an attempt never ends")
    #expect(fixture.content.items == 1 && fixture.content.openWriters == 0)
    #expect(fixture.engine.changes.dirtyFiles == 1)
  }

  /// A read begins an attempt while room is made for what is to be written.
  @Test(arguments: [Hydration.partial, .progressive]) func aReadThatComesWhileAFileIsEmptiedBringsNothingBack(
    _ hydration: Hydration
  ) {
    let fixture = EngineFixture.writable(["a": 20_000], profile: .windows) { configuration in
      configuration.simulation.hydration = hydration
      configuration.simulation.latency = Self.latency
    }
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    let answers = Mutex<[Answer]>([])
    fixture.content.making.withLock { hook in
      hook = {
        let answer = read(fixture, node, 8_000..<8_100)
        answers.withLock { $0.append(answer) }
      }
    }
    var change = AttributeChange()
    change.size = 0
    while case .needsMaterialization = fixture.engine.setAttributes(change, of: node, by: EngineFixture.maker) {
      fixture.trigger(node, TriggerRequest(trigger: .truncate, caller: EngineFixture.maker))
      advance(fixture, 10)
    }
    fixture.write([1, 2, 3], to: node, handle, at: 0)
    expect([1, 2, 3], fixture, node, handle)
    #expect(answers.withLock { $0.map(\.count) } == [1], "who read is answered")
  }

  /// An attempt for a part goes on although another one has completed the file.
  @Test(arguments: [false, true]) func anAttemptThatIsStillUnderWayDoesNotTouchWhatIsWritten(_ hasOwnFiles: Bool) {
    let fixture = EngineFixture.writable(["a": 400_000]) { configuration in
      configuration.simulation.hydration = .partial
      configuration.simulation.transferBandwidth = 1_000_000
    }
    fixture.content.ownFiles.store(hasOwnFiles, ordering: .relaxed)
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    let leaving = fixture.makeWaiter()
    _ = read(fixture, node, 0..<300_000, waiter: leaving)
    let first = read(fixture, node, 0..<100)
    advance(fixture, 100)
    #expect(first.isReady, "it goes on because somebody was answered by it")
    fixture.engine.leave(leaving, FSError(.interrupted, "gone"))
    var simulation = fixture.engine.simulation
    simulation.transferBandwidth = nil
    fixture.engine.apply(simulation, restartsClock: false)
    let all = read(fixture, node, 0..<400_000)
    fixture.lane.runAll()
    #expect(all.isReady && fixture.engine.attemptsInFlight().count == 1)
    fixture.write([9], to: node, handle, at: 0)
    expect([9] + PatternBytes.bytes(1, 399_999), fixture, node, handle)
  }

  /// An attempt for all of a file waits while others complete the file.
  @Test(arguments: [false, true]) func anAttemptForAllOfACompleteFileKeepsNoWriterWaiting(_ hasOwnFiles: Bool) {
    let fixture = EngineFixture.writable(["a": 20_000]) { configuration in
      configuration.simulation.hydration = .partial
      configuration.simulation.latency = Self.latency
    }
    fixture.content.ownFiles.store(hasOwnFiles, ordering: .relaxed)
    let node = fixture.lookUp("a")
    let (handle, _) = fixture.openForWriting(node)
    let parts = [read(fixture, node, 0..<8_192), read(fixture, node, 8_192..<20_000)]
    advance(fixture, 2)
    let whole = fixture.trigger(node, TriggerRequest(trigger: .write, caller: EngineFixture.maker))
    advance(fixture, 4)
    #expect(parts.allSatisfy(\.isReady) && whole.count == 0)
    let rounds = Atomic<Int>(0)
    @Sendable func again() {
      if rounds.add(1, ordering: .relaxed).newValue < 5 {
        fixture.content.making.withLock { $0 = again }
      } else {
        advance(fixture, 10)
      }
    }
    fixture.content.making.withLock { $0 = again }
    fixture.write([9], to: node, handle, at: 0)
    #expect(rounds.load(ordering: .relaxed) <= 1, "the content was copied again and again")
    expect([9] + PatternBytes.bytes(1, 19_999), fixture, node, handle)
    #expect(whole.isReady, "the file is here")
  }
}
