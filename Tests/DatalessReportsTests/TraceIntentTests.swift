import DatalessControl
import Testing

@testable import DatalessReports

/// Coordinated accesses in traces: as many, and as long, as the log says.
@Suite struct TraceIntentTests {
  /// One that others wait for, one that waits for it, one that is given up, one whose beginning was lost, and one that
  /// is under way.
  private static var log: LogLines {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "editor")
    log.process(2, pid: 12, "sync")
    let own = #""path":"a","reads":0,"writes":1,"options":["replacing"],"process":1"#
    let other = #""path":"a","names":["a","b<"],"reads":2,"writes":0,"within":9,"process":2"#
    log.add("coordination.started", at: 1_000, #""intent":1,\#(own)"#)
    log.add(
      "coordination.granted", at: 1_100, #""intent":1,\#(own),"waited_ns":0,"asking_ns":40,"materializing_ns":60"#)
    log.add("coordination.started", at: 2_000, #""intent":2,\#(other),"waits_for":[1],"waits_at":"a""#)
    log.add("coordination.started", at: 2_500, #""intent":3,\#(other),"waits_for":[1],"waits_at":"a""#)
    log.add("coordination.finished", at: 3_000, #""intent":3,\#(other),"outcome":"cancelled""#)
    log.add("coordination.finished", at: 5_000, #""intent":1,\#(own),"outcome":"ok","held_ns":3900"#)
    for (time, outcome) in [(5_100, "ok"), (5_200, "timed_out")] as [(Int64, String)] {
      log.add(
        "presenter.answered", at: time,
        #""presenter":9,"path":"a","process":1,"intent":2,"what":"read","took_ns":100,"outcome":"\#(outcome)""#)
    }
    log.add(
      "coordination.granted", at: 5_300,
      #""intent":2,\#(other),"waited_ns":3000,"asking_ns":100,"materializing_ns":200"#)
    log.add("coordination.finished", at: 6_000, #""intent":2,\#(other),"outcome":"ok","held_ns":700"#)
    log.add(
      "coordination.granted", at: 7_000, #""intent":4,\#(own),"waited_ns":500,"asking_ns":0,"materializing_ns":0"#)
    log.add("coordination.started", at: 8_000, #""intent":5,\#(own)"#)
    log.add("mark", at: 9_000, #""label":"now""#)
    return log
  }

  private static func phase(_ phase: String, of pairs: [Trace.Pair]) -> [Trace.Pair] {
    pairs.filter { $0.arguments?.string("phase") == phase }.sorted { $0.id < $1.id }
  }

  @Test func itHasTheIntentsOfTheLog() throws {
    let folder = try ReportFolder(Self.log.bytes)
    let sum = try #require(try folder.export().summary.coordination)
    let trace = try Trace(folder.text(.trace))
    let pairs = try trace.pairs("intent")
    let (asked, granted) = (Self.phase("asked", of: pairs), Self.phase("granted", of: pairs))
    #expect(Int64(asked.count) == sum.intents && Int64(granted.count) == sum.granted)
    #expect(asked.map(\.id) == [1, 2, 3, 4, 5] && granted.map(\.id) == [1, 2, 4])
    #expect(asked.map(\.start) == [1_000, 2_000, 2_500, 6_500, 8_000])
    #expect(asked.map(\.duration) == [100, 3_300, 500, 500, 1_000])
    #expect(granted.map(\.start) == [1_100, 5_300, 7_000] && granted.map(\.duration) == [3_900, 700, 2_000])
    #expect(Set(pairs.filter { $0.process == 10 }.map(\.id)) == [1, 4, 5])
    #expect(Set(pairs.map(\.process)) == [10, 12] && Set(pairs.map(\.track)).count == 2)
    #expect(trace.names(of: "process_name") == ["editor", "sync", "volume"])
    #expect(
      trace.names(of: "thread_name") == ["coordinated accesses", "coordinated accesses", "what happened"])
    func total(_ key: StaticString) -> Int64 { asked.reduce(0) { $0 + ($1.arguments?.integer(key) ?? 0) } }
    #expect(total("asking_ns") == sum.askingNanoseconds && total("materializing_ns") == sum.materializingNanoseconds)
    for pair in asked where pair.arguments?.string("outcome") == "granted" {
      let parts = ["waited_ns", "asking_ns", "materializing_ns"] as [StaticString]
      let sum: Int64 = parts.reduce(0) { $0 + (pair.arguments?.integer($1) ?? 0) }
      #expect(sum == pair.duration, "\(pair.id)")
    }
  }

  @Test func itSaysWhatTheyAreAbout() throws {
    let folder = try ReportFolder(Self.log.bytes)
    try folder.export([.trace])
    let trace = try Trace(folder.text(.trace))
    let pairs = try trace.pairs("intent")
    let asked = Self.phase("asked", of: pairs)
    let outcomes = ["granted", "granted", "cancelled", "granted", "under way"]
    #expect(asked.map { $0.arguments?.string("outcome") } == outcomes)
    #expect(asked[0].name == "asks to write a" && asked[0].arguments?.strings("options") == ["replacing"])
    #expect(asked[1].arguments?.strings("paths") == ["a", "b<"] && asked[1].arguments?.integer("within") == 9)
    #expect(asked[1].arguments?.integer("reads") == 2 && asked[1].arguments?.string("process") == "sync")
    #expect(Self.phase("granted", of: pairs).map { $0.arguments?.string("outcome") } == ["ok", "ok", "under way"])
    #expect(Self.phase("granted", of: pairs).first?.name == "may write a")
    let answers = trace.moments("presenter")
    #expect(answers.map { $0.string("name") } == ["ok: read a", "timed_out: read a"])
    #expect(answers.allSatisfy { $0.integer("pid") == 10 && $0.object("args")?.integer("took_ns") == 100 })
    #expect(answers.map { $0.object("args")?.integer("intent") } == [2, 2])
  }

  /// Records were lost: each intent is there once, and nothing is made up.
  @Test func whatIsLostIsNotMadeUp() throws {
    var log = LogLines()
    log.mounted()
    log.process(1, pid: 10, "editor")
    let own = #""path":"a","reads":1,"writes":0,"process":1"#
    log.add("coordination.started", at: 1_000, #""intent":1,\#(own)"#)
    log.add("coordination.finished", at: 5_000, #""intent":1,\#(own),"outcome":"ok","held_ns":3000"#)
    log.add("coordination.finished", at: 6_000, #""intent":2,\#(own),"outcome":"coordination_busy""#)
    log.add("coordination.started", at: 7_000, #""intent":3,\#(own)"#)
    log.unmounted(at: 9_000)
    let folder = try ReportFolder(log.bytes)
    let sum = try #require(try folder.export().summary.coordination)
    let pairs = try Trace(folder.text(.trace)).pairs("intent")
    let (asked, granted) = (Self.phase("asked", of: pairs), Self.phase("granted", of: pairs))
    #expect(Int64(asked.count) == sum.intents && Int64(granted.count) == sum.granted)
    #expect(asked.map(\.duration) == [1_000, 0, 0] && granted.map(\.duration) == [3_000])
  }
}
