import DatalessControl
import DatalessCore
import Testing

@testable import DatalessCommands

/// What `dataless log` leaves out: by time, end, wait, rule and thread.
@Suite struct LogFilterTests {
  private static let log: LogText = {
    var log = LogText()
    log.process(1, pid: 10, "app", exe: "/usr/bin/app")
    log.process(2, pid: 11, "tool", exe: "/usr/bin/tool")
    // Two attempts; a main thread waits for the second, shorter than another thread does.
    log.add(
      "materialization.started", at: 100_000_000,
      #""attempt":1,"path":"a","kind":"file","trigger":"read","process":2,"main_thread":false,"rules":["slow"]"#)
    log.add("wait.started", at: 100_000_000, #""attempt":1,"process":2,"main_thread":false"#)
    log.add(
      "materialization.finished", at: 300_000_000,
      #""attempt":1,"path":"a","kind":"file","outcome":"EIO","waiter_count":1,"#
        + #""waiters":[{"process":2,"main_thread":false,"blocked_ns":200000000,"outcome":"EIO"}]"#)
    log.add(
      "wait.finished", at: 300_000_000,
      #""attempt":1,"process":2,"main_thread":false,"blocked_ns":200000000,"outcome":"EIO""#)
    log.add(
      "materialization.started", at: 400_000_000,
      #""attempt":2,"path":"b","kind":"file","trigger":"read","process":1,"main_thread":true"#)
    log.add(
      "materialization.finished", at: 500_000_000,
      #""attempt":2,"path":"b","kind":"file","outcome":"ok","waiter_count":2,"waiters":["#
        + #"{"process":1,"main_thread":true,"blocked_ns":50000000},{"process":2,"main_thread":null,"blocked_ns":90000000}]"#
    )
    log.add("materialization.refused", at: 600_000_000, #""path":"c","errno":"EDEADLK","policy":"rule:no""#)
    log.add("eviction.finished", at: 700_000_000, #""path":"a","kind":"file","bytes":1"#)
    log.add("access.finished", at: 800_000_000, #""access":1,"rule":"slow","blocked_ns":1000,"outcome":"cancelled""#)
    return log
  }()

  /// Nothing of what a caller asked for has failed where its stack could not be taken, and nothing has ended.
  @Test(arguments: ["ok", "thread_ran", "not_permitted"]) func aStackHasNoOutcomeOfThese(outcome: String) throws {
    var log = LogText()
    log.add("wait.stack", at: 1, #""attempt":1,"process":2,"trigger":"read","outcome":"\#(outcome)""#)
    let record = try #require(log.lines.first.flatMap { LogRecord(line: bytes($0)) })
    for wanted in [.ok, .cancelled, .failed, .errno("EIO")] as [LogOutcome] {
      var filter = LogFilter()
      filter.outcomes = [wanted]
      let isAccepted = filter.accepts(record, LogProcesses(keepsRecords: false))
      #expect(!isAccepted, "\(wanted)")
    }
  }

  private static func accepted(of log: LogText = Self.log, _ change: (inout LogFilter) -> Void) throws -> [String] {
    var filter = LogFilter()
    change(&filter)
    #expect(!filter.isEmpty)
    var processes = LogProcesses(keepsRecords: false)
    var texts: [String] = []
    for line in log.lines {
      let record = try #require(LogRecord(line: bytes(line)))
      processes.add(record)
      if filter.accepts(record, processes) { texts.append("\(record.typeName) \(record.attempt ?? 0)") }
    }
    return texts
  }

  private static let first = [
    "materialization.started 1", "wait.started 1", "materialization.finished 1", "wait.finished 1",
  ]

  @Test func byTimeBothEndsIncluded() throws {
    func moment(_ nanoseconds: UInt32) -> LogMoment { LogMoment(seconds: 1_767_323_045, nanoseconds: nanoseconds) }
    let seen = try Self.accepted {
      $0.since = moment(400_000_000); $0.until = moment(500_000_000)
    }
    #expect(seen == ["materialization.started 2", "materialization.finished 2"])
    #expect(try Self.accepted { $0.since = moment(800_000_001) }.isEmpty)
    #expect(try Self.accepted { $0.until = moment(99_999_999) } == ["process.seen 0", "process.seen 0"])
  }

  @Test func byOutcome() throws {
    #expect(try Self.accepted { $0.outcomes = [.errno("EIO")] } == [Self.first[2], Self.first[3]])
    #expect(
      try Self.accepted { $0.outcomes = [.failed] }
        == [Self.first[2], Self.first[3], "materialization.refused 0"])
    #expect(
      try Self.accepted { $0.outcomes = [.ok, .cancelled] }
        == ["materialization.finished 2", "eviction.finished 0", "access.finished 0"])
  }

  @Test func byTheTimeThatACallerWasBlocked() throws {
    func blocked(_ text: String) throws -> [String] {
      let limit = try BlockedLimit.parse(text)
      return try Self.accepted { $0.blocked = limit }
    }
    #expect(try blocked("100ms") == [Self.first[2], Self.first[3]])
    #expect(try blocked(">=200ms").count == 2)
    #expect(try blocked("> 200ms").isEmpty)
    #expect(try blocked("<1ms") == ["access.finished 0"])
    #expect(try blocked("<=1us") == ["access.finished 0"])
  }

  /// Two tools of one interpreter are two programs, also to who looks for one of them.
  @Test func byTheScriptOfAnInterpreter() throws {
    var processes = LogProcesses(keepsRecords: false)
    for (id, script) in [(1, "fm.py"), (2, "backup.py")] {
      let line =
        #"{"type":"process.seen","process":\#(id),"pid":\#(10 + id),"comm":"python3","#
        + #""exe":"/usr/bin/python3.11","script":"\#(script)","parents":[]}"#
      processes.add(try partialRecord(line))
    }
    for name in ["fm.py", "python3 fm.py", "python3", "python3.11"] {
      #expect(processes.isNamed(1, bytes(name)), "\(name)")
    }
    #expect(!processes.isNamed(2, bytes("fm.py")) && !processes.isNamed(2, bytes("python3 fm.py")))
    #expect(processes.isNamed(2, bytes("python3")) && !processes.isNamed(1, bytes("fm")))
  }

  /// Logs of earlier versions have what Linux shows of an executable that was removed; a name of its own is one, too.
  @Test func byAnExecutableThatWasRemoved() throws {
    var processes = LogProcesses(keepsRecords: false)
    let line =
      #"{"type":"process.seen","process":1,"pid":11,"comm":"worker","exe":"/opt/tp (deleted)","parents":[]}"#
    processes.add(try partialRecord(line))
    for name in ["tp", "tp (deleted)", "worker"] { #expect(processes.isNamed(1, bytes(name)), "\(name)") }
    for name in ["(deleted)", "opt", "tp (deleted", ""] { #expect(!processes.isNamed(1, bytes(name)), "\(name)") }
  }

  /// The one who waited long was no main thread.
  @Test func allThatIsAskedOfACallerIsTrueOfOne() throws {
    #expect(
      try Self.accepted { $0.isOfMainThreads = true } == ["materialization.started 2", "materialization.finished 2"])
    let blocked = try BlockedLimit.parse("50ms")
    #expect(
      try Self.accepted {
        $0.isOfMainThreads = true
        $0.blocked = blocked
      } == ["materialization.finished 2"])
    #expect(
      try Self.accepted {
        $0.isOfMainThreads = true
        $0.blocked = BlockedLimit(.above, .milliseconds(50))
      }.isEmpty)
    #expect(
      try Self.accepted {
        $0.process = bytes("app")
        $0.blocked = BlockedLimit(.above, .milliseconds(50))
      }.isEmpty)
  }

  /// Records of waits name the attempt only, and may come after its end.
  @Test func byRuleTakesTheWaitsOfItsAttemptsAlong() throws {
    #expect(try Self.accepted { $0.rule = bytes("slow") } == Self.first + ["access.finished 0"])
    #expect(try Self.accepted { $0.rule = bytes("no") } == ["materialization.refused 0"])
    #expect(try Self.accepted { $0.rule = bytes("slo") }.isEmpty)
  }

  /// A stack may be told after the end of its wait, which may be the last of an attempt that has ended; so may what a
  /// watchdog has done, with the path or without.
  @Test func whatIsToldOfAnAttemptThatHasEndedIsOfItsPathAndRule() throws {
    var log = LogText()
    for attempt in 1...2 {
      log.add(
        "materialization.started", at: 1, #""attempt":\#(attempt),"path":"p\#(attempt)","rules":["r\#(attempt)"]"#)
      log.waited(attempt, by: 1, from: 1, to: 2)
      log.finished(attempt, "p\(attempt)", by: 1, at: 2)
    }
    for attempt in 1...2 {
      log.add("watchdog.survived", at: 3, #""attempt":\#(attempt),"path":"p\#(attempt)","signal":"SIGABRT""#)
      log.add("watchdog.signalled", at: 3, #""attempt":\#(attempt),"signal":"SIGABRT""#)
      log.add("wait.stack", at: 3, #""attempt":\#(attempt),"process":1,"outcome":"ok""#)
    }
    let late = ["watchdog.survived 2", "watchdog.signalled 2", "wait.stack 2"]
    let all = [
      "materialization.started 2", "wait.started 2", "wait.finished 2", "materialization.finished 2",
    ]
    #expect(try Self.accepted(of: log) { $0.path = PathPattern(bytes("p2")) } == all + late)
    #expect(try Self.accepted(of: log) { $0.rule = bytes("r2") } == all + late)
    #expect(try Self.accepted(of: log) { $0.path = PathPattern(bytes("p3")) }.isEmpty)
  }

  /// A log may be of any length, and what is kept of it is not.
  @Test func ofAttemptsThatHaveEndedTheLastAreKept() throws {
    var filter = LogFilter(path: PathPattern(bytes("p")))
    let processes = LogProcesses(keepsRecords: false)
    func accepts(_ type: String, _ attempt: Int, _ fields: String = "") throws -> Bool {
      let record = try partialRecord(#"{"type":"\#(type)","attempt":\#(attempt)\#(fields)}"#)
      return filter.accepts(record, processes)
    }
    let last = 65_536 + 10
    for attempt in 1...last {
      guard try accepts("materialization.finished", attempt, #","path":"p""#) else {
        Issue.record("attempt \(attempt)")
        return
      }
    }
    #expect(try !accepts("wait.stack", 10))
    #expect(try accepts("wait.stack", 11))
    #expect(try accepts("wait.stack", last))
    #expect(try !accepts("wait.stack", last + 1))
  }

  @Test func conditionsHoldTogether() throws {
    #expect(
      try Self.accepted {
        $0.types = ["wait"]
        $0.rule = bytes("slow")
        $0.outcomes = [.failed]
        $0.path = PathPattern(bytes("a"))
      } == ["wait.finished 1"])
  }

  @Test(arguments: ["", "5", ">", "=5ms", ">>5ms", "100", "-1s", "<0s"])
  func limitsThatAreNone(text: String) { #expect(throws: FSError.self) { try BlockedLimit.parse(text) } }

  @Test(arguments: ["", "OK", "EIOO", "refused"])
  func outcomesThatAreNone(text: String) { #expect(throws: FSError.self) { try LogOutcome.parse(text) } }

  @Test func anErrnoIsMeantByTheNameThatLogsPrint() throws {
    #expect(try LogOutcome.parse("EWOULDBLOCK") == .errno("EAGAIN"))
  }

  @Test func aConditionThatNoWantedTypeCanMeetIsNamed() {
    var filter = LogFilter(types: ["mark", "handle"])
    #expect(filter.contradiction == nil)
    filter.blocked = BlockedLimit(.above, 1)
    #expect(filter.contradiction?.condition == "--blocked")
    #expect(
      filter.contradiction?.types == ["access.finished", "materialization.finished", "wait.finished"])
    filter.types = ["wait"]
    #expect(filter.contradiction == nil)
  }
}
