import Testing

@testable import DatalessControl

/// Findings: each where it is, where it is not, at its boundary, and where the log does not tell.
@Suite struct FindingTests {
  private static let ms = FindingLog.millisecond

  // MARK: - One after the other

  @Test func threeFilesOneAfterTheOtherAreAListAndTwoAreNone() throws {
    var log = FindingLog()
    log.read("a", from: 0, to: 100)
    log.read("b", from: 110, to: 200)
    var two = log
    two.unmount()
    let none = try two.finding(.serial)
    #expect(none.outcome == .none && none.count == 0 && none.places.isEmpty && none.sparedNanoseconds == nil)
    log.read("c", from: 300, to: 400)
    log.unmount()
    let found = try log.finding(.serial)
    #expect(found.outcome == .found && found.count == 3 && found.reasons.isEmpty)
    #expect(found.blockedNanoseconds == 290 * Self.ms && found.sparedNanoseconds == 190 * Self.ms)
    let place = try #require(found.places.first)
    #expect(found.placeCount == 1 && place.lists == 1 && place.process?.pid == 10 && place.process?.name == "viewer")
    #expect(place.paths.map(\.path) == ["a", "b", "c"] && place.threadID == 10 && place.attempt == 1)
    let text = SummaryText.lines(try log.summary(), width: 400)
    #expect(
      text.contains(
        "serial     3 files one after the other, 290.0 ms (at once 100.0 ms): viewer[10] at a, b, c. "
          + "Ask for all files of a list at once, and wait for them then."), "\(text)")
  }

  /// What is waited for at the same time is in no list, and ends the one before it.
  @Test func whatIsWaitedForAtTheSameTimeIsNoList() throws {
    var log = FindingLog()
    let other = FindingLog.caller { ($0.thread, $0.isMain) = (11, false) }
    for (index, path) in ["a", "b", "c", "d"].enumerated() {
      let start = Int64(index) * 100
      let (first, second) = (log.begin(path, at: start), log.begin(path + "2", at: start + 1, by: other))
      log.end(first, path, from: start, to: start + 50)
      log.end(second, path + "2", from: start + 1, to: start + 60, by: other)
    }
    log.unmount()
    #expect(try log.finding(.serial).outcome == .none)

    var split = FindingLog()
    for index in 0..<3 { split.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10) }
    let (one, two) = (split.begin("g", at: 40), split.begin("h", at: 41, by: other))
    split.end(one, "g", from: 40, to: 50)
    split.end(two, "h", from: 41, to: 51, by: other)
    for index in 0..<2 { split.read("i\(index)", from: Int64(60 + index * 10), to: Int64(70 + index * 10)) }
    split.unmount()
    #expect(try split.finding(.serial).count == 3)
    #expect(try split.finding(.serial).places.first?.paths.map(\.path) == ["f0", "f1", "f2"])
  }

  /// A list goes on for as long as nobody pauses: waiting for a listing is no pause.
  @Test(arguments: [(Int64(1_100), true), (1_101, false)]) func aPauseEndsAList(start: Int64, goesOn: Bool) throws {
    var log = FindingLog()
    log.read("a", from: 0, to: 50)
    log.read("b", from: 50, to: 100)
    log.read("c", from: start, to: start + 10)
    var listed = log
    log.unmount()
    #expect(try log.finding(.serial).count == (goesOn ? 3 : 0))
    listed.list("d", from: start + 20, to: start + 5_000)
    listed.read("d/x", from: start + 5_100, to: start + 5_200)
    listed.read("d/y", from: start + 5_200, to: start + 5_300)
    listed.unmount(at: 90_000)
    #expect(try listed.finding(.serial).count == (goesOn ? 5 : 3))
  }

  /// One file in pieces is one, and so is one that two threads wait for.
  @Test func oneFileIsNoList() throws {
    var log = FindingLog()
    for index in 0..<5 { log.read("large", from: Int64(index) * 10, to: Int64(index) * 10 + 5) }
    let other = FindingLog.caller { ($0.thread, $0.isMain) = (11, false) }
    let shared = log.begin("shared", at: 100)
    log.join(shared, at: 101, by: other)
    log.answer(shared, from: 101, to: 120, by: other)
    log.end(shared, "shared", from: 100, to: 120)
    var two = log
    two.unmount()
    #expect(try two.finding(.serial).outcome == .none)
    log.read("third", from: 200, to: 210)
    log.unmount()
    let found = try log.finding(.serial)
    // Of both threads' waits for the one file its time counts once.
    #expect(found.count == 3 && found.blockedNanoseconds == (25 + 20 + 10) * Self.ms)
    #expect(found.sparedNanoseconds == (55 - 25) * Self.ms)
  }

  @Test func eachProcessHasItsOwnList() throws {
    var log = FindingLog()
    let cat = FindingLog.caller { ($0.process, $0.thread) = (2, 20) }
    for index in 0..<3 {
      let start = Int64(index) * 100
      let (one, two) = (log.begin("a\(index)", at: start), log.begin("b\(index)", at: start, by: cat))
      log.end(one, "a\(index)", from: start, to: start + 10)
      log.end(two, "b\(index)", from: start, to: start + 90, by: cat)
    }
    log.unmount()
    let found = try log.finding(.serial)
    #expect(found.count == 6 && found.placeCount == 2)
    #expect(found.places.map { $0.process?.name } == ["cat", "viewer"])
  }

  /// What SOURCE takes may take as long for all of them at once.
  @Test func whatSourceTakesIsNotSpared() throws {
    var log = FindingLog()
    for index in 0..<4 {
      log.read("f\(index)", from: Int64(index) * 100, to: Int64(index) * 100 + 100, rest: #","store_ns":40000000"#)
    }
    log.unmount()
    #expect(try log.finding(.serial).sparedNanoseconds == (400 - 100 - 4 * 40) * Self.ms)
    var slow = FindingLog()
    for index in 0..<4 {
      slow.read("f\(index)", from: Int64(index) * 100, to: Int64(index) * 100 + 100, rest: #","store_ns":99000000"#)
    }
    slow.unmount()
    #expect(try slow.finding(.serial).sparedNanoseconds == 0)
  }

  @Test(arguments: [
    (#""observe":"reads","concurrency":2"#, "", "concurrency"),
    (#""observe":"reads","bandwidth_bytes_per_second":1000"#, "", "bandwidth"),
    (#""observe":"reads""#, #","store_ns":0,"held_ns":5"#, "gates or queues"),
    (#""observe":"reads""#, #","store_ns":0,"queued_ns":5"#, "gates or queues"),
  ])
  func withACommonLimitNobodyKnowsHowLongItTakesAtOnce(options: String, rest: String, words: String) throws {
    var log = FindingLog(options: options)
    for index in 0..<3 { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10, rest: rest) }
    log.unmount()
    let found = try log.finding(.serial)
    #expect(found.outcome == .found && found.count == 3 && found.sparedNanoseconds == nil)
    #expect(found.places.first?.sparedNanoseconds == nil)
    #expect(found.reasons.count == 1 && found.reasons.first?.contains(words) == true, "\(found.reasons)")
  }

  @Test func aLimitThatIsSetLaterCountsFromThenOn() throws {
    var log = FindingLog(options: #""observe":"reads","concurrency":null"#)
    log.log.add(
      "configuration.changed", at: 0, #""what":"settings","before":{},"after":{"latency":"1s","bandwidth":"none"}"#)
    for index in 0..<3 { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10) }
    var before = log
    before.unmount()
    #expect(try before.finding(.serial).sparedNanoseconds == 20 * Self.ms)
    log.log.add("configuration.changed", at: 0, #""what":"settings","before":{},"after":{"concurrency":4}"#)
    log.unmount()
    #expect(try log.finding(.serial).sparedNanoseconds == nil)
  }

  @Test(arguments: [nil, 3]) func whoIsNotKnownMayBeSeveral(process: Int?) throws {
    var log = FindingLog()
    let unknown = FindingLog.caller { $0.process = process }
    for index in 0..<3 { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10, by: unknown) }
    log.unmount()
    let found = try log.finding(.serial)
    #expect(found.outcome == .unknown && found.count == 0 && found.unknownCount == 3)
    #expect(found.reasons == ["3 waits of callers of which the log does not tell who they are"])
    #expect(
      SummaryText.lines(try log.summary(), width: 200).contains(
        "serial     not known: 3 waits of callers of which the log does not tell who they are"))
  }

  // MARK: - Main threads

  @Test func mainThreadsAreToldByProgram() throws {
    var log = FindingLog()
    log.read("a", from: 0, to: 10)
    log.read("b", from: 1_500, to: 1_600)
    log.read("c", from: 3_000, to: 3_200, by: FindingLog.caller { ($0.thread, $0.isMain) = (11, false) })
    log.read("d", from: 5_000, to: 5_100, by: FindingLog.caller { $0.isMain = nil })
    log.unmount()
    let found = try log.finding(.mainThread)
    #expect(found.outcome == .found && found.count == 2 && found.blockedNanoseconds == 110 * Self.ms)
    #expect(found.unknownCount == 1 && found.reasons.count == 1)
    #expect(found.places.count == 1 && found.places.first?.hitches == 1 && found.places.first?.attempt == 2)
    #expect(found.places.first?.paths.map(\.path) == ["a", "b"])
    // The summary says it itself.
    #expect(SummaryText.facts(try log.summary()).count { $0.0 == "main thread" } == 1)
  }

  // MARK: - Stacks

  /// Of the longest wait, whether its stack comes before its end or after.
  @Test(arguments: [true, false]) func aFindingHasTheStackOfItsLongestWait(isEarly: Bool) throws {
    var log = FindingLog()
    func stack(_ attempt: Int, _ number: Int, at time: Int64, _ function: String?) {
      let content = function.map {
        #","stack":{"complete":true,"end":"outermost","frames":[{"found_by":"tables","module":"/bin/viewer","offset":2,"symbol":"\#($0)","file":"v.c","line":7}]}"#
      }
      log.log.add(
        "wait.stack", at: time * Self.ms,
        #""attempt":\#(attempt),"process":1,"tid":10,"trigger":"read","main_thread":true,"outcome":"ok","stack_id":\#(number)"#
          + (content ?? ""))
    }
    for (index, length) in [Int64(10), 50, 20].enumerated() {
      let start = Int64(index) * 100
      let attempt = log.begin("f\(index)", at: start)
      if isEarly { stack(attempt, index, at: start, "load_\(index)") }
      log.end(attempt, "f\(index)", from: start, to: start + length)
      if !isEarly { stack(attempt, index, at: start + length, "load_\(index)") }
    }
    log.unmount()
    for kind in [Finding.Kind.serial, .mainThread] {
      let place = try #require(try log.finding(kind).places.first)
      #expect(place.attempt == 2 && place.stack?.frames.first?.symbol == "load_1")
      #expect(FindingText.place(place) == "load_1 (v.c:7)")
    }
    #expect(
      SummaryText.lines(try log.summary(), width: 400).contains { $0.contains("f0, f1, f2, load_1 (v.c:7). Ask") })
  }

  // MARK: - What is missing

  @Test func ofALogThatLacksRecordsOnlyMainThreadsAreCertain() throws {
    var log = FindingLog()
    for index in 0..<3 { log.read("f\(index)", from: Int64(index) * 10, to: Int64(index) * 10 + 10) }
    log.log.add("log.dropped", at: 0, #""count":1"#)
    log.unmount()
    let found = try log.summary().findings
    #expect(found.map(\.kind) == Finding.Kind.allCases)
    #expect(found.map(\.outcome) == [.unknown, .found, .unknown, .unknown, .unknown])
    #expect(found.first?.count == 3 && found.allSatisfy { $0.kind == .mainThread || !$0.reasons.isEmpty })
  }

  @Test func programsBeyondTheLimitAreCounted() throws {
    var log = FindingLog()
    for index in 0..<Finding.placesMax + 5 {
      log.log.process(100 + index, pid: 1_000 + index, "p\(index)", exe: "/bin/p\(index)")
      log.read(
        "f\(index)", from: Int64(index), to: Int64(index) + 1, by: FindingLog.caller { $0.process = 100 + index })
    }
    log.unmount()
    let found = try log.finding(.mainThread)
    #expect(found.places.count == Finding.placesMax && found.placeCount == Int64(Finding.placesMax + 5))
    #expect(found.count == Int64(Finding.placesMax + 5))
  }
}
