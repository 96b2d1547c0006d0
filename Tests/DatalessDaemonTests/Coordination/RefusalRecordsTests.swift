import DatalessCore
import Testing

@testable import DatalessDaemon

/// Which refusals have a record of their own, and that all are counted.
@Suite struct RefusalRecordsTests {
  private static let refusal = CoordinationRefusal(.busy, "too many")

  private static func event(_ id: UInt64, of pid: Int32 = 1) -> Event.Coordination {
    Event.Coordination(
      intent: id, step: .finished(outcome: "coordination_busy", held: nil, message: "too many"), path: [], reads: 0,
      writes: 0,
      caller: Caller(
        process: ProcessID(rawValue: UInt32(pid)), threadID: 0, pid: pid, isMainThread: false, uid: 0, gid: 0),
      time: MonotonicTime(nanoseconds: 0))
  }

  private static func others(_ event: Event.Coordination?) -> Int64? {
    guard case .finished(_, _, _, let others)? = event?.step else { return nil }
    return others
  }

  private static func time(_ milliseconds: Int64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func theFirstIsToldAtOnceAndTheOthersTogether() {
    var records = RefusalRecords()
    let first = records.add(Self.refusal, of: 1, process: 7, at: Self.time(0)) { Self.event(1) }
    #expect(first?.intent == 1 && Self.others(first) == 0)
    for id in UInt64(2)...5 {
      let next = records.add(Self.refusal, of: id, process: 7, at: Self.time(10)) { Self.event(id) }
      #expect(next == nil)
    }
    let other = records.add(Self.refusal, of: 6, process: 8, at: Self.time(20)) { Self.event(6) }
    #expect(other?.intent == 6)
    #expect(records.next == Self.time(1_000) && records.take(at: Self.time(999)).isEmpty)
    let told = records.take(at: Self.time(1_000))
    #expect(told.map(\.intent) == [5] && Self.others(told.first) == 3)
    let late = records.add(Self.refusal, of: 9, process: 7, at: Self.time(1_500)) { Self.event(9) }
    #expect(late == nil && records.takeAll().map(\.intent) == [9] && records.next == nil)
  }

  @Test func nothingIsKeptOfWhoIsRefusedNoMore() {
    var records = RefusalRecords()
    _ = records.add(Self.refusal, of: 1, process: 7, at: Self.time(0)) { Self.event(1) }
    #expect(records.take(at: Self.time(1_000)).isEmpty && records.next == nil)
  }

  /// A process for each refusal: those that are too many are counted together.
  @Test func aFloodOfProcessesFloodsNothing() {
    var records = RefusalRecords()
    var count: Int64 = 0
    var told = 0
    for id in UInt64(1)...10_000 {
      let event = records.add(Self.refusal, of: id, process: Int32(id), at: Self.time(0)) { Self.event(id) }
      if let others = Self.others(event) { (count, told) = (count + 1 + others, told + 1) }
    }
    for event in records.takeAll() { (count, told) = (count + 1 + (Self.others(event) ?? 0), told + 1) }
    #expect(count == 10_000 && told < 300)
  }

  /// A record that counts those of several processes names none of them.
  @Test func whoIsOneOfTooManyIsNotNamedForTheOthers() {
    var records = RefusalRecords()
    for id in UInt64(1)...300 {
      let pid = Int32(id)
      let event = records.add(Self.refusal, of: id, process: pid, at: Self.time(0)) { Self.event(id, of: pid) }
      #expect(event.map { $0.caller.pid == pid } ?? (id > 257), "who has a record of its own is named")
    }
    for id in UInt64(301)...302 {
      _ = records.add(Self.refusal, of: id, process: 7, at: Self.time(10)) { Self.event(id, of: 7) }
    }
    let told = records.take(at: Self.time(1_000))
    #expect(told.map(\.intent) == [302, 300] && told.map { Self.others($0) } == [1, 42])
    #expect(told.map(\.caller.pid) == [7, 0] && told.last?.caller.process == .unknown)
  }
}
