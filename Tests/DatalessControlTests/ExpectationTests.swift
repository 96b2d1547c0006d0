import DatalessCore
import Testing

@testable import DatalessControl

/// What is expected, against logs that were written by hand.
@Suite struct ExpectationTests {
  @Test func everyFileBeyondTheBoundIsToldWithItsCaller() throws {
    var log = ExpectationLog()
    for name in ["a", "b", "c"] { log.take(name) }
    log.take("d", { $0.outcome = "EIO" })
    log.take("photos", { ($0.kind, $0.trigger) = ("directory", "readdir") })
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 1), Expected(.maxDirectories, 1), Expected(.maxBytes, 300)])
    #expect(verdict.outcome == .violated)
    #expect(verdict.expectations.map(\.outcome) == [.violated, .held, .held])
    #expect(verdict.expectations.map(\.measured) == [3, 1, 300])
    #expect(verdict.violations.map(\.path) == ["b", "c"])
    let first = try #require(verdict.violations.first)
    #expect(first.process?.name == "python3 fm.py" && first.process?.pid == 11 && first.threadID == 11)
    #expect(first.isMainThread == true && first.trigger == "read" && first.attempt == 2 && first.measured == 2)
    #expect(first.ancestors.map(\.name) == ["sh", "init"])
    #expect(first.time != nil && first.hint.contains("--stacks"))
  }

  @Test func zeroIsABound() throws {
    var log = ExpectationLog()
    log.take("a")
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 0), Expected(.maxBytes, 0)])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .violated])
    #expect(verdict.expectations.map(\.violationCount) == [1, 1])
  }

  @Test func conditionsAreThoseOfRules() throws {
    var log = ExpectationLog()
    log.take("photos/a.jpg")
    log.take("photos/b.jpg", { $0.process = 4 })
    log.take("big.iso", { $0.size = 1_000_000 })
    log.unmount()
    func measured(_ change: (inout RuleMatch) throws -> Void) throws -> Int64? {
      var match = RuleMatch()
      try change(&match)
      let expectation = Expected(name: "e", measure: .maxFiles, bound: 100, match: match)
      return try log.verdict([expectation]).expectations[0].measured
    }
    #expect(try measured { $0.paths = [try glob("photos/**")] } == 2)
    #expect(try measured { $0.size = 1_000...Int64.max } == 1)
    #expect(try measured { $0.kind = .file } == 3)
    #expect(try measured { $0.triggers = [.copy] } == 0)
    #expect(try measured { $0 = try .of("tar") } == 1)
    #expect(
      try measured {
        $0.process = ProcessMatch(); $0.process?.uids = [1_000]
      } == 2)
    #expect(
      try measured {
        $0.process = ProcessMatch(); $0.process?.cgroups = [try glob("/user.slice")]
      } == 2)
    #expect(
      try measured {
        $0.ancestor = ProcessMatch(); $0.ancestor?.commandNames = [try glob("sh")]
      } == 2)
  }

  /// A condition that the log does not answer is neither met nor not.
  @Test func aCallerThatIsNotKnownMakesItUnknown() throws {
    var log = ExpectationLog()
    log.log.add("process.seen", at: 0, #""process":5,"unavailable":"pid_namespace","uid":0,"parents":[]"#)
    log.take("a", { $0.process = 5 })
    log.take("b", { $0.process = 77 })
    log.unmount()
    func outcome(_ bound: Int64) throws -> ExpectationResult {
      let expectation = Expected(name: "e", measure: .maxFiles, bound: bound, match: try .of("tar"))
      return try #require(try log.verdict([expectation]).expectations.first)
    }
    #expect(try outcome(0).outcome == .unknown && outcome(1).outcome == .unknown && outcome(2).outcome == .held)
    #expect(try outcome(0).reason?.contains("2 files") == true && outcome(0).violationCount == 0)
    // Without a condition on the caller it counts.
    #expect(try log.verdict([Expected(.maxFiles, 1)]).outcome == .violated)
  }

  /// A file of the volume behind a loop device is read by one.
  @Test func aThreadOfTheKernelMayWorkForTheCommand() throws {
    var log = ExpectationLog(isRun: true)
    log.log.add(
      "process.seen", at: 0, #""process":5,"pid":2,"comm":"kthreadd","unavailable":"kernel_thread","parents":[]"#)
    log.log.add(
      "process.seen", at: 0, #""process":6,"pid":50,"comm":"kworker","unavailable":"kernel_thread","parents":[5]"#)
    log.take("image", { $0.process = 6 })
    log.take("others", { $0.process = 4 })
    log.finishRun(files: 1, bytes: 100)
    log.unmount()
    #expect(try log.verdict([Expected(.maxFiles, 0)]).expectations.first?.violationCount == 1)
    #expect(try log.verdict([Expected(.maxFiles, 1)]).outcome == .held)
  }

  @Test func waitsAreHeldAgainstTheLongest() throws {
    var log = ExpectationLog()
    log.take("a", { ($0.start, $0.end) = (0, 100) })
    log.take("b", { ($0.start, $0.end, $0.isMain, $0.thread) = (0, 300, false, 12) })
    log.take("b", { ($0.start, $0.end, $0.isMain, $0.thread) = (500, 900, false, 12) })
    log.log.add(
      "access.finished", at: 2_000,
      #""access":7,"operation":"read","path":"c","kind":"file","process":4,"tid":12,"main_thread":true,"blocked_ns":250"#
    )
    log.unmount()
    let verdict = try log.verdict([Expected(.maxWait, 200), Expected(.maxMainThread, 200)])
    #expect(verdict.expectations.map(\.measured) == [400, 250])
    #expect(verdict.violations.map(\.path) == ["b", "c", "c"])
    #expect(verdict.violations[0].count == 2 && verdict.violations[0].measured == 400)
    #expect(verdict.violations[1].access == 7 && verdict.violations[1].attempt == nil)
    #expect(verdict.violations.map(\.trigger) == ["read", "read", "read"])
    #expect(try log.verdict([Expected(.maxWait, 400), Expected(.maxMainThread, 250)]).outcome == .held)
  }

  /// A delayed call is told by its operation; a condition on triggers means none.
  @Test func aDelayedCallNamesItsOperation() throws {
    var log = ExpectationLog()
    for (number, operation) in [(1, "open"), (2, "getattr"), (3, "later")] {
      log.log.add(
        "access.finished", at: 2_000,
        #""access":\#(number),"operation":"\#(operation)","path":"\#(operation)","kind":"file","process":4,"tid":12,"#
          + #""main_thread":true,"blocked_ns":250"#)
    }
    log.unmount()
    let verdict = try log.verdict([Expected(.maxWait, 200)])
    #expect(verdict.violations.map(\.trigger) == ["open", "getattr", nil])
    var opened = RuleMatch()
    opened.triggers = [.open]
    #expect(try log.verdict([Expected(name: "e", measure: .maxWait, bound: 200, match: opened)]).outcome == .held)
  }

  @Test func aWaitOfAThreadThatMayBeTheMainOneIsUnknown() throws {
    var log = ExpectationLog()
    log.take("a", { ($0.start, $0.end, $0.isMain) = (0, 100, nil) })
    log.unmount()
    #expect(try log.verdict([Expected(.maxMainThread, 99)]).outcome == .unknown)
    #expect(try log.verdict([Expected(.maxMainThread, 100)]).outcome == .held)
    #expect(try log.verdict([Expected(.maxWait, 99)]).outcome == .violated)
  }

  @Test func forbiddenIsWhatIsAskedForWhateverBecomesOfIt() throws {
    var log = ExpectationLog()
    log.take("secret", { ($0.kind, $0.trigger) = ("directory", "lookup") })
    log.take("secret/key", { $0.outcome = "EIO" })
    log.take("open/key")
    log.unmount()
    let verdict = try log.verdict([Expected(.forbid, paths: [try glob("secret/**")])])
    #expect(verdict.violations.map(\.path) == ["secret", "secret/key"] && verdict.expectations[0].violationCount == 2)
    // What joins an attempt asks for it, too.
    let joined = try log.verdict([Expected(.forbid, paths: [try glob("*.jpg")])])
    #expect(joined.outcome == .held)
  }

  @Test func allowedAreTheDirectoriesOnTheWay() throws {
    var log = ExpectationLog()
    for (path, kind) in [("", "directory"), ("photos", "directory"), ("photos/a.jpg", "file"), ("music", "directory")] {
      log.take(path, { ($0.kind, $0.trigger) = (kind, kind == "file" ? "read" : "readdir") })
    }
    log.unmount()
    func violations(_ text: String) throws -> [String?] {
      try log.verdict([Expected(.allow, paths: [try glob(text)])]).violations.map(\.path)
    }
    #expect(try violations("photos/**") == ["music"])
    #expect(try violations("photos/*.png") == ["photos/a.jpg", "music"])
    #expect(try violations("*.jpg") == [])
    #expect(try violations("**") == [])
    #expect(try violations("music/x") == ["photos", "photos/a.jpg"])
  }

  @Test func refusalsAreCounted() throws {
    var log = ExpectationLog()
    for path in ["a", "a", "b"] {
      log.log.add(
        "materialization.refused", at: 10,
        #""path":"\#(path)","kind":"file","size":1,"trigger":"read","process":3,"tid":11,"errno":"EDEADLK","policy":"volume""#
      )
    }
    log.unmount()
    let verdict = try log.verdict([Expected(.maxRefusals, 0), Expected(.maxFiles, 0)])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .held])
    #expect(verdict.expectations[0].violationCount == 3 && verdict.violations.map(\.count) == [2, 1])
  }

  /// Ranges of one file are one file; after its eviction it is another, materialized again.
  @Test func filesThatComeInPartsAreOne() throws {
    var log = ExpectationLog()
    for offset in [0, 50] {
      let step = ExpectationLog.step { _ in }
      let attempt = log.start("a", step)
      log.log.add("mark", at: 1, #""label":"\#(offset)""#)
      log.end(attempt, "a", ExpectationLog.step { ($0.outcome, $0.bytes) = ("EIO", 50) })
    }
    log.evict("a")
    log.take("a")
    log.evict("a")
    log.take("a")
    log.take("b")
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 100), Expected(.maxRepeated, 1), Expected(.maxBytes, 100)])
    #expect(verdict.expectations.map(\.measured) == [4, 2, 400])
    #expect(verdict.expectations.map(\.outcome) == [.held, .violated, .violated])
    #expect(verdict.violations.first?.path == "a" && verdict.violations.first?.measured == 2)
  }

  /// Another version is another file.
  @Test func aFileThatChangedIsNotMaterializedAgain() throws {
    var log = ExpectationLog()
    log.take("a")
    log.log.add("source.changed", at: 10, #""path":"a","kind":"file","change":"changed","by":"command""#)
    log.take("a")
    log.log.add("source.changed", at: 10, #""path":"b","old_path":"a","kind":"file","change":"renamed","by":"command""#)
    log.evict("b")
    log.take("b")
    log.unmount()
    #expect(try log.verdict([Expected(.maxRepeated, 0)]).expectations[0].measured == 1)
  }

  @Test func parallelIsWhatIsInFlightForOneProcess() throws {
    var log = ExpectationLog()
    // tar: one after the other. fm.py: two at once for half of the time.
    for (index, name) in ["a", "b", "c"].enumerated() {
      log.take(name, { ($0.process, $0.start, $0.end) = (4, Int64(index) * 100, Int64(index) * 100 + 100) })
    }
    let one = log.start("d", ExpectationLog.step { $0.start = 0 })
    let two = log.start("e", ExpectationLog.step { ($0.start, $0.thread) = (50, 12) })
    log.end(one, "d", ExpectationLog.step { ($0.start, $0.end) = (0, 100) })
    log.end(two, "e", ExpectationLog.step { ($0.start, $0.end, $0.thread) = (50, 150, 12) })
    log.unmount()
    let verdict = try log.verdict([
      Expected(.minParallel, 150), Expected(.maxParallel, 100), Expected(.maxParallel, 200),
    ])
    #expect(verdict.expectations.map(\.measured) == [100, 200, 200])
    #expect(verdict.expectations.map(\.outcome) == [.violated, .violated, .held])
    // Two in 50 of 150 ns: 1.33.
    #expect(verdict.violations.map(\.measured) == [100, 133, 200])
    #expect(verdict.violations.map(\.process?.name) == ["tar", "python3 fm.py", "python3 fm.py"])
    #expect(verdict.violations[2].path == "e" && verdict.violations[0].path == nil)
  }

  /// Callers of other pid namespaces are one for the log, and may be many.
  @Test func howManyAProcessThatMayBeSeveralHadInFlightIsUnknown() throws {
    var log = ExpectationLog()
    log.log.add("process.seen", at: 0, #""process":5,"pid":null,"unavailable":"pid_namespace","parents":[]"#)
    for pair in 0..<2 {
      let start = Int64(pair) * 100
      let one = log.start("a\(pair)", ExpectationLog.step { ($0.process, $0.start) = (5, start) })
      let two = log.start("b\(pair)", ExpectationLog.step { ($0.process, $0.start) = (5, start) })
      log.end(one, "a\(pair)", ExpectationLog.step { ($0.process, $0.start, $0.end) = (5, start, start + 100) })
      log.end(two, "b\(pair)", ExpectationLog.step { ($0.process, $0.start, $0.end) = (5, start, start + 100) })
    }
    log.unmount()
    for expected in [Expected(.minParallel, 150), Expected(.minParallel, 300), Expected(.maxParallel, 100)] {
      let verdict = try log.verdict([expected])
      #expect(verdict.expectations.map(\.outcome) == [.unknown] && verdict.violations.isEmpty, "\(expected)")
    }
  }

  @Test func neededIsWhatWasRead() throws {
    var log = ExpectationLog()
    log.log.add(
      "configuration.changed", at: 1, #""what":"settings","before":{},"after":{"observe":"reads"},"by":"api""#)
    for name in ["a", "b"] { log.take(name, { $0.size = 100_000 }) }
    log.log.closed("a", by: 3, size: 100_000, covered: 100_000, at: 5_000)
    log.log.closed("b", by: 3, size: 100_000, covered: 10, at: 5_000)
    log.unmount()
    let verdict = try log.verdict([Expected(.maxNeedless, 0)])
    #expect(verdict.expectations[0].measured == 1 && verdict.violations.map(\.path) == ["b"])
    #expect(verdict.violations.first?.process?.name == "python3 fm.py" && verdict.violations.first?.attempt == 2)
    let other = Expected(name: "e", measure: .maxNeedless, match: try .of("tar"))
    #expect(try log.verdict([other]).outcome == .held)
  }

  @Test func whatNobodySawBeingReadIsUnknown() throws {
    var log = ExpectationLog()
    log.take("a", { $0.size = 100_000 })
    log.log.closed("a", by: 3, size: 100_000, covered: 10, at: 5_000)
    log.log.add("handle.unseen", at: 5_001, #""path":"a","inode":1,"process":3,"size":100000,"io":"page_cache""#)
    log.unmount()
    let result = try log.verdict([Expected(.maxNeedless, 0)]).expectations[0]
    #expect(result.outcome == .unknown && result.reason?.contains("--observe reads") == true)
    #expect(try log.verdict([Expected(.maxNeedless, 1)]).outcome == .held)
  }

  @Test func stacksAreFoundWhetherTheyComeBeforeOrAfter() throws {
    var log = ExpectationLog()
    let stack =
      #""stack":{"complete":true,"end":"outermost","frames":[{"module":"/bin/fm","offset":1,"symbol":"load","found_by":"tables"}]}"#
    let first = log.start("a")
    log.log.add(
      "wait.stack", at: 1_500, #""attempt":\#(first),"process":3,"tid":11,"outcome":"ok","stack_id":1,\#(stack)"#)
    log.end(first, "a")
    log.take("b")
    log.log.add("wait.stack", at: 2_500, #""attempt":2,"process":3,"tid":11,"outcome":"ok","stack_id":1"#)
    log.take("c")
    for number in [7, 8] {
      let call = #""access":\#(number),"operation":"read","path":"x","process":3,"tid":12,"thread_name":"io""#
      log.log.add("access.started", at: 3_000, call)
      if number == 7 { log.log.add("wait.stack", at: 3_100, call + #","outcome":"ok","stack_id":1"#) }
      log.log.add("access.finished", at: 3_500, call + #","blocked_ns":5000"#)
      log.log.add("wait.stack", at: 3_600, call + #","outcome":"ok","stack_id":1"#)
    }
    let calls = try log.verdict([Expected(.maxWait, 4_000)]).violations
    #expect(calls.map(\.count) == [2] && calls[0].stack != nil && calls[0].threadName == "io")
    log.unmount()
    let verdict = try log.verdict([Expected(.maxFiles, 0), Expected(.forbid, paths: [try glob("a")])])
    #expect(verdict.violations.map { $0.stack?.frames.first?.symbol } == ["load", "load", nil, "load"])
    #expect(verdict.violations.map { $0.hint.contains("--stacks") } == [false, false, true, false])
  }

  /// One file that two places of a program wait for has two culprits; the same place is one, however often.
  @Test func waitsOfTwoPlacesAreTwoViolations() throws {
    func stack(_ symbol: String) -> String {
      #""stack":{"complete":true,"end":"outermost","frames":[{"module":"/bin/fm","offset":1,"symbol":"\#(symbol)","found_by":"tables"}]}"#
    }
    var log = ExpectationLog()
    let known = [stack("first"), stack("second")]
    func wait(_ number: Int, _ thread: Int, at time: Int64, stack id: Int, isLate: Bool) {
      let call = #""access":\#(number),"operation":"read","path":"x","kind":"file","process":3,"tid":\#(thread)"#
      let told = call + #","outcome":"ok","stack_id":\#(id)"# + (number <= 2 ? "," + known[id - 1] : "")
      log.log.add("access.started", at: time, call)
      if !isLate { log.log.add("wait.stack", at: time, told) }
      log.log.add(
        "access.finished", at: time + 500,
        call + #","main_thread":\#(thread == 11),"blocked_ns":\#(500 + number)"#)
      if isLate { log.log.add("wait.stack", at: time + 600, told) }
    }
    wait(1, 11, at: 1_000, stack: 1, isLate: true)
    wait(2, 11, at: 2_000, stack: 2, isLate: false)
    wait(3, 11, at: 3_000, stack: 1, isLate: false)
    wait(4, 12, at: 4_000, stack: 1, isLate: true)
    wait(5, 11, at: 5_000, stack: 2, isLate: true)
    for number in [6, 7] {
      log.log.add(
        "access.finished", at: 6_000,
        #""access":\#(number),"operation":"read","path":"x","process":3,"tid":11,"main_thread":true,"blocked_ns":400"#)
    }
    log.unmount()
    let verdict = try log.verdict([Expected(.maxWait, 100), Expected(.maxMainThread, 100)])
    #expect(verdict.expectations.map(\.violationCount) == [7, 6])
    let all = verdict.violations.filter { $0.expectation == "max_wait" }
    #expect(all.map { $0.stack?.frames.first?.symbol } == ["first", "second", "first", nil])
    #expect(all.map(\.count) == [2, 2, 1, 2] && all.map(\.measured) == [503, 505, 504, 400])
    #expect(all.map(\.access) == [1, 2, 4, 6] && all.map(\.isMainThread) == [true, true, false, true])
    let main = verdict.violations.filter { $0.expectation == "max_main_thread" }
    #expect(main.map(\.count) == [2, 2, 2] && main.map(\.access) == [1, 2, 6])
  }

  /// What is listed is bounded, also while stacks are waited for that never come.
  @Test func waitsWithoutStacksAreOne() throws {
    var log = ExpectationLog()
    for _ in 0..<1_500 { log.take("a") }
    for index in 0..<600 { log.take("f\(index)") }
    log.unmount(files: 2_000)
    let verdict = try log.verdict([Expected(.maxWait, 10)])
    #expect(verdict.violations.count == 601 && verdict.violations[0].count == 1_500)
    #expect(verdict.violations.map(\.path).prefix(3) == ["a", "f0", "f1"])
    #expect(verdict.expectations[0].violationCount == 2_100)
  }

  /// Whether a file was needed is known at the end alone: its stack is that of the wait for it all the same.
  @Test func aNeedlessFileHasTheStackOfItsWait() throws {
    var log = ExpectationLog()
    log.log.add(
      "configuration.changed", at: 1, #""what":"settings","before":{},"after":{"observe":"reads"},"by":"api""#)
    let stack =
      #""stack":{"complete":true,"end":"outermost","frames":[{"module":"/bin/fm","offset":1,"symbol":"load","found_by":"tables"}]}"#
    let early = log.start("a", ExpectationLog.step { $0.size = 100_000 })
    log.log.add(
      "wait.stack", at: 1_500, #""attempt":\#(early),"process":3,"tid":11,"outcome":"ok","stack_id":1,\#(stack)"#)
    log.end(early, "a", ExpectationLog.step { $0.size = 100_000 })
    for name in ["b", "c", "d"] { log.take(name, { $0.size = 100_000 }) }
    log.log.add("wait.stack", at: 2_500, #""attempt":2,"process":3,"tid":11,"outcome":"ok","stack_id":1"#)
    log.log.add("wait.stack", at: 2_600, #""attempt":3,"process":3,"tid":11,"outcome":"thread_ran""#)
    for name in ["a", "b", "c", "d"] { log.log.closed(name, by: 3, size: 100_000, covered: 10, at: 5_000) }
    log.unmount()
    let violations = try log.verdict([Expected(.maxNeedless, 0)]).violations.sorted {
      ($0.attempt ?? 0) < ($1.attempt ?? 0)
    }
    #expect(violations.map(\.path) == ["a", "b", "c", "d"])
    #expect(violations.map { $0.stack?.frames.first?.symbol } == ["load", "load", nil, nil])
    #expect(violations.allSatisfy { $0.time?.hasSuffix("05.000002000Z") == true && $0.monotonicNanoseconds == 2_000 })
    #expect(violations.map { $0.hint.contains("stack") } == [false, false, true, true])
    #expect(violations[2].hint.contains("No stack: the wait was over"))
  }

  /// Whoever takes stacks already is not told to; a wait that was too short says so, whenever the log tells it.
  @Test(arguments: [true, false]) func aViolationWithoutAStackSaysWhy(isEarly: Bool) throws {
    func hint(_ option: String?, _ outcome: String?) throws -> String {
      var log = ExpectationLog()
      if let option { log.log.add("volume.mounted", at: 0, #""source":"/s","options":{"stacks":"\#(option)"}"#) }
      let attempt = log.start("a")
      let call = #""attempt":\#(attempt),"process":3,"tid":11"#
      if isEarly, let outcome { log.log.add("wait.stack", at: 1_500, call + #","outcome":"\#(outcome)""#) }
      log.end(attempt, "a")
      if !isEarly, let outcome { log.log.add("wait.stack", at: 2_500, call + #","outcome":"\#(outcome)""#) }
      log.unmount()
      return try #require(try log.verdict([Expected(.maxFiles, 0)]).violations.first).hint
    }
    let ran = try hint("all", "thread_ran")
    #expect(ran.contains("No stack: the wait was over before it could be taken. A longer --latency leaves"))
    #expect(try hint("first", "not_permitted").hasSuffix("No stack: the daemon may not look at this process."))
    #expect(try hint("all", nil).hasSuffix("The log has no stack of it."))
    #expect(try hint("first", nil).hasSuffix("--stacks all takes one of every wait."))
    let advice = "Run again with --stacks first to see the line of code."
    for option in [nil, "off"] { #expect(try hint(option, nil).hasSuffix(advice)) }
  }

  @Test func violationsAreCountedBeyondTheList() throws {
    var log = ExpectationLog()
    for index in 0..<1_010 { log.take("f\(index)") }
    log.unmount(files: 2_000)
    let verdict = try log.verdict([Expected(.maxFiles, 0)])
    #expect(verdict.violations.count == Violation.listedMax && verdict.expectations[0].violationCount == 1_010)
  }

  @Test func whatACommandOfOursMaterializesIsNobodys() throws {
    var log = ExpectationLog()
    log.take("a", { $0.trigger = "command" })
    log.unmount()
    #expect(try log.verdict([Expected(.maxFiles, 0), Expected(.maxWait, 0)]).outcome == .held)
  }

  @Test func whatNothingCanViolateIsSaid() throws {
    var log = ExpectationLog()
    log.take("a")
    log.unmount(files: 15)
    let tar = Expected(name: "e", measure: .maxFiles, match: try .of("tra"))
    let verdict = try log.verdict([
      Expected(.maxFiles, 15), Expected(.maxDirectories, 19), Expected(.maxBytes, 100_000), tar,
      Expected(.minParallel, 200),
    ])
    #expect(verdict.outcome == .held && verdict.warnings.count == 4)
    #expect(verdict.warnings[0] == "max_files: nothing can violate it: the whole volume has 15 files.")
    #expect(verdict.warnings[1].hasPrefix("max_bytes:") && verdict.warnings[2].hasPrefix("e: no caller"))
    #expect(verdict.warnings[3].hasPrefix("min_parallel: no process"))
    #expect(verdict.expectations.map { $0.warning != nil } == [true, false, true, true, true])
    #expect(verdict.expectations[3].warning?.hasPrefix("no caller in the log") == true)
  }

  /// Who only lists is one that is meant, and does nothing of what is bound.
  @Test func aCallerThatDoesNothingOfItIsMet() throws {
    var log = ExpectationLog()
    log.take("d", { $0.kind = "directory" })
    log.unmount()
    func warning(_ program: String) throws -> String? {
      let expected = Expected(name: "e", measure: .maxFiles, match: try .of(program))
      return try log.verdict([expected]).expectations[0].warning
    }
    #expect(try warning("python3") == nil)
    #expect(try warning("tar")?.hasPrefix("no caller in the log") == true)
  }

  /// Of options; of a scenario it is said where that is read.
  @Test func optionsThatNothingCanViolateAreSaid() throws {
    var log = ExpectationLog()
    for path in ["a", "b/c"] { log.take(path) }
    log.unmount()
    func pattern(_ glob: String) throws -> PathPattern { try PathPattern(parsing: Array(glob.utf8)) }
    let verdict = try log.verdict([
      Expected(.minParallel, 100), Expected(.allow, paths: [try pattern("x"), try pattern("{*,y}")]),
    ])
    #expect(verdict.outcome == .held && verdict.warnings.count == 2)
    #expect(verdict.warnings.allSatisfy { $0.contains(": nothing can violate it: ") })
    let placed = Expected(name: "e", measure: .allow, paths: [try pattern("**")], place: "s.yaml:1:1")
    #expect(try log.verdict([placed]).warnings.isEmpty)
    #expect(try log.verdict([Expected(.allow, paths: [try pattern("/*")])]).warnings.isEmpty)
  }
}
