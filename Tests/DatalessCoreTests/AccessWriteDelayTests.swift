@testable import DatalessCore
import TestSupport
import Testing

/// Delays of writes.
@Suite struct AccessWriteDelayTests {
  private static func fixture(_ files: [String: Int], _ edit: (inout Simulation) -> Void) -> EngineFixture {
    .writable(files) { edit(&$0.simulation) }
  }

  private static func delay(_ milliseconds: Int64) -> (inout Simulation) -> Void {
    { $0.access[.write] = LatencyModel(.fixed(milliseconds * AccessCalls.ms)) }
  }

  @Test func aWriteWaitsAndSaysWhatItHas() throws {
    let fixture = Self.fixture(["a": 100], Self.delay(5))
    let node = AccessCalls.resident(fixture, "a")
    let answer = try #require(AccessCalls.call(fixture, .write, of: node, offset: 90, length: 4096))
    fixture.timer.advance(milliseconds: 4)
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 1)
    #expect(answer.isReady)
    let record = try #require(AccessCalls.records(fixture).first)
    #expect(record.operation == .write)
    #expect(record.range == 90..<4186)
    #expect(record.blocked == 5 * AccessCalls.ms)
    #expect(fixture.engine.accessTotals.sums[.write]?.calls == 1)
  }

  @Test func whatIsWrittenToComesFirst() {
    let fixture = Self.fixture(["a": 100, "empty": 0], Self.delay(1))
    let (node, empty) = (fixture.node("a"), fixture.node("empty"))
    func verdict(_ node: NodeID, offset: Int64 = 0, length: Int64 = 10) -> AccessAnswer {
      let waiter = fixture.makeWaiter()
      fixture.engine.expect(waiter)
      let access = Access(
        .write, of: .node(node), caller: EngineFixture.caller(), offset: offset, length: length)
      return fixture.engine.delay(access, waiter: waiter) { _ in }
    }
    #expect(verdict(node) == .missing)
    #expect(verdict(empty) == .delayed, "an empty file has nothing that could be missing")
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(verdict(node) == .delayed)
    #expect(verdict(node, offset: 1000) == .delayed, "behind the end")
    #expect(verdict(node, length: 0) == .passes)
    #expect(verdict(node, offset: .max, length: 2) == .passes, "the answer is an error")
    #expect(verdict(fixture.node("")) == .passes, "a directory")
  }

  @Test func aMebibyteTakesWhatItShould() throws {
    var model = LatencyModel(.fixed(AccessCalls.ms))
    model.perMebibyte = 8 * AccessCalls.ms
    let fixture = Self.fixture(["a": 100]) { $0.access[.write] = model }
    let node = AccessCalls.resident(fixture, "a")
    _ = try #require(AccessCalls.call(fixture, .write, of: node, length: 1 << 19))
    #expect(fixture.engine.accessesUnderWay().some.first?.requestedDelay == 5 * AccessCalls.ms)
  }
}
