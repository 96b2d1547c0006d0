import DatalessControl
import Testing

@testable import DatalessCommands

/// What `dataless stack` says of coordinated accesses that wait.
@Suite struct WaitingIntentTests {
  private static func intent(
    _ number: UInt64, stage: String, by pid: Int32?, path: String, writes: Int64 = 1, waitsFor: [UInt64]? = nil,
    waitsAt: String? = nil, asks: [UInt64]? = nil, presenters: [AskedPresenter]? = nil
  ) -> CoordinatedIntent {
    CoordinatedIntent(
      number: number, stage: stage, reads: 0, writes: writes, path: bytes(path), ageNanoseconds: 3_100_000_000,
      waitsFor: waitsFor, waitsAt: waitsAt.map { bytes($0) }, asks: asks, presenters: presenters,
      process: pid.map { WireProcess(pid: $0, comm: "p\($0)") })
  }

  private static let status = CoordinationStatus(
    waiting: 1, granted: 1, presenters: 1,
    totals: CoordinationTotals(granted: 1, refused: 0, deadlocks: 0, takenAway: 0),
    intents: [
      intent(5, stage: "granted", by: 10, path: "a"),
      intent(7, stage: "waiting", by: 12, path: "a", writes: 3, waitsFor: [5, 9], waitsAt: "d"),
      intent(8, stage: "asking", by: nil, path: "", asks: [4]),
    ])

  @Test func whoWaitsIsNamedWithThoseWhoKeepIt() {
    let waiting = Self.status.waitingIntents()
    #expect(waiting.map(\.intent.number) == [7, 8])
    #expect(waiting.map { $0.holders.map(\.number) } == [[5], []])
    #expect(
      waiting.map { StackCommand.lines($0)[0] } == [
        "p12[12] (intent 7), to write a and 2 more, waiting for 3.10 s, at d behind p10[10] (intent 5), intent 9",
        "unknown (intent 8), to write ., asking for 3.10 s, asks presenter 4",
      ])
    #expect(StackCommand.lines(waiting[0])[1].contains("blocks no thread"))
  }

  /// Of an older daemon nobody knows where they meet: not at the first path of the other one, perhaps.
  @Test func wherePathsMeetIsSaidOnlyIfItIsKnown() throws {
    let holder = Self.intent(5, stage: "granted", by: 10, path: "a", writes: 2)
    func line(at place: String?) -> String {
      let intent = Self.intent(7, stage: "waiting", by: 12, path: "b", writes: 2, waitsFor: [5], waitsAt: place)
      return StackCommand.lines(WaitingIntent(intent: intent, holders: [holder]))[0]
    }
    let start = "p12[12] (intent 7), to write b and 1 more, waiting for 3.10 s, "
    #expect(line(at: "d/x") == start + "at d/x behind p10[10] (intent 5)")
    #expect(line(at: "") == start + "at . behind p10[10] (intent 5)")
    #expect(line(at: nil) == start + "behind p10[10] (intent 5)")
    let old = #"{"number":7,"stage":"waiting","reads":0,"writes":2,"path":"b","age_ns":1,"waits_for":[5]}"#
    let decoded = try WireCoding.decode(CoordinatedIntent.self, from: bytes(old), named: "it")
    #expect(decoded.waitsFor == [5] && decoded.waitsAtBytes == nil)
  }

  @Test func presentersThatHaveNotAnsweredAreNamed() {
    let presenters = [
      AskedPresenter(number: 4, path: bytes("a"), process: WireProcess(pid: 20, comm: "editor")),
      AskedPresenter(number: 5, path: []),
    ]
    let asking = Self.intent(8, stage: "asking", by: 12, path: "a", asks: [4, 5, 6], presenters: presenters)
    #expect(
      StackCommand.lines(WaitingIntent(intent: asking, holders: []))[0]
        == "p12[12] (intent 8), to write a, asking for 3.10 s, asks editor[20] (presenter 4) at a, "
        + "unknown (presenter 5) at ., presenter 6")
  }

  @Test func whoIsNotListedIsCounted() {
    var status = Self.status
    (status.waiting, status.preparing) = (6_450, 2)
    #expect(status.unlistedWaiting == 6_450)
    #expect(StackCommand.unlisted(status.unlistedWaiting) == "6,450 more coordinated accesses wait, and are not listed")
    #expect(StackCommand.unlisted(1) == "1 more coordinated access waits, and is not listed")
    (status.waiting, status.preparing) = (1, nil)
    #expect(status.unlistedWaiting == 0)
    (status.waiting, status.preparing) = (.max, .max)
    #expect(status.unlistedWaiting > 0)
  }

  @Test func theStatusCountsWhatItLists() {
    var status = Self.status
    status.preparing = 1
    let lines = StatusText.coordination(status)
    #expect(lines.first?.contains("now 1 granted, 1 waiting, 1 being prepared") == true, "\(lines)")
    #expect(lines.contains { $0.contains("5: p10[10] writes a, granted, asked for 3.10 s ago") }, "\(lines)")
    #expect(lines.contains { $0.hasSuffix("waiting, asked for 3.10 s ago, at d behind 5, 9") }, "\(lines)")
    #expect(!lines.contains { $0.contains("more") && $0.contains("    and") }, "\(lines)")
  }

  /// Among the waiters of an attempt: for how long, and that it is no thread.
  @Test func aWaiterThatIsAnIntentIsTold() {
    let waiter = InFlightWaiter(
      pid: 12, tid: 0, mainThread: false, comm: "p12", trigger: "coordinate", blockedNanoseconds: 2_050_000_000)
    #expect(WaiterText.lines([waiter], count: 1, indent: "") == ["p12[12] for an intent, for 2.05 s"])
  }

  @Test func oneProcessIsEnough() {
    #expect(Self.status.waitingIntents(of: 12).map(\.intent.number) == [7])
    #expect(Self.status.waitingIntents(of: 10).isEmpty)
  }
}
