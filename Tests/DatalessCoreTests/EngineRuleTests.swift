import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Rules at work in the engine: delays, faults, refusals.
@Suite struct EngineRuleTests {
  private func rule(_ name: String, _ pattern: String?, _ edit: (inout Rule) -> Void) throws -> Rule {
    var rule = Rule(name: name, match: RuleMatch(), effects: RuleEffects())
    if let pattern { rule.match.paths = [try #require(PathPattern(Array(pattern.utf8)))] }
    edit(&rule)
    return rule
  }

  private func fixture(_ files: [String: Int], _ rules: [Rule], _ edit: (inout Simulation) -> Void = { _ in })
    -> EngineFixture
  {
    var configuration = EngineConfiguration()
    configuration.simulation.rules = RuleSet(rules)
    edit(&configuration.simulation)
    return EngineFixture(ScriptedStore(files), configuration)
  }

  @Test func eachPartIsDecidedByTheFirstRuleThatSaysIt() throws {
    let slow = try rule("slow", "*.jpg") { $0.effects.latency = LatencyModel(.fixed(5_000_000)) }
    let broken = try rule("broken", "a.jpg") { $0.effects.fault = Fault(.errno(.ioError)) }
    let never = try rule("never", nil) {
      $0.match.kind = .file
      $0.effects.latency = LatencyModel(.fixed(1))
    }
    let fixture = fixture(["a.jpg": 100, "b.jpg": 100, "c": 100], [slow, broken, never])
    let (a, b, c) = (fixture.node("a.jpg"), fixture.node("b.jpg"), fixture.node("c"))
    let answers = [a, b, c].map { fixture.trigger($0) }
    fixture.timer.advance(milliseconds: 0)
    fixture.lane.runAll()
    #expect(answers.map(\.count) == [0, 0, 0])
    fixture.timer.advance(milliseconds: 5)
    fixture.lane.runAll()
    #expect(answers[0].errno == "EIO")
    #expect(answers[1].isReady && answers[2].isReady)
    let failed = try #require(fixture.events.finished.first { $0.path == Array("a.jpg".utf8) })
    #expect(failed.rule == "broken")
    #expect(failed.requestedDelay == 5_000_000)
    #expect(failed.delay == 5_000_000)
    #expect(fixture.events.started.first { $0.path == Array("a.jpg".utf8) }?.rules == ["slow", "broken"])
    #expect(fixture.events.finished.first { $0.path == Array("c".utf8) }?.rule == nil)
  }

  @Test func rulesCountTheAttemptsThatTheyMatchAndThoseTheyDecide() throws {
    let broken = try rule("broken", "a") {
      $0.match.attempts = 1...1
      $0.effects.fault = Fault(.errno(.ioError))
    }
    let late = try rule("late", "a") {
      $0.match.attempts = 1...1
      $0.effects.fault = Fault(.errno(.timedOut))
    }
    let typo = try rule("typo", "no-such") { $0.effects.fault = Fault(.errno(.ioError)) }
    let none = try rule("none", "c") { $0.effects.materialize = false }
    let evicting = try rule("evicting", "b") { $0.effects.evict = SystemEviction(idle: 1) }
    let fixture = fixture(["a": 1, "b": 1, "c": 1], [broken, late, typo, none, evicting])
    for name in ["a", "a", "b", "c", "c"] {
      _ = fixture.trigger(fixture.node(name))
      fixture.lane.runAll()
    }
    // Whoever joins is no attempt.
    func counts() -> [String] { fixture.engine.ruleCounts.map { "\($0.name) \($0.attempts) \($0.decided)" } }
    #expect(counts() == ["broken 1 1", "late 1 0", "typo 0 0", "none 2 2", "evicting 1 1"])
    // A rule that stays as it was goes on counting.
    var simulation = fixture.engine.simulation
    var rules = RuleSet([typo, none])
    rules.keepCounts(of: simulation.rules)
    simulation.rules = rules
    fixture.engine.apply(simulation, restartsClock: false)
    _ = fixture.trigger(fixture.node("c"))
    #expect(counts() == ["typo 0 0", "none 3 3"])
  }

  @Test func everyNthOfAllAttemptsThatARuleMatches() throws {
    let flaky = try rule("flaky", "*.jpg") {
      $0.match.everyNth = 3
      $0.effects.fault = Fault(.errno(.ioError))
    }
    let files = Dictionary(uniqueKeysWithValues: (0..<9).flatMap { [("\($0).jpg", 1), ("\($0).txt", 1)] })
    let fixture = fixture(files, [flaky]) { $0.latency = LatencyModel(.fixed(1_000_000)) }
    var failed: [String] = []
    for number in 0..<9 {
      for ending in ["txt", "jpg"] {
        let node = fixture.node("\(number).\(ending)")
        let (first, joined) = (fixture.trigger(node), fixture.trigger(node))
        fixture.timer.advance(milliseconds: 1)
        fixture.lane.runAll()
        if first.errno != nil { failed.append("\(number).\(ending)") }
        #expect(first.errno == joined.errno)
      }
    }
    #expect(failed == ["2.jpg", "5.jpg", "8.jpg"])
    #expect(fixture.engine.ruleCounts.map(\.attempts) == [3])
    // Later attempts of a file count, too: the next third is the first of these.
    for (name, errno) in [("2.jpg", nil), ("5.jpg", nil), ("8.jpg", "EIO"), ("8.jpg", nil)] as [(String, String?)] {
      let answer = fixture.trigger(fixture.node(name))
      fixture.timer.advance(milliseconds: 1)
      fixture.lane.runAll()
      #expect(answer.errno == errno)
    }
  }

  @Test(arguments: ["docs/a", "other/hard", "hard", "nowhere/a"])
  func aRuleHoldsForAnyNameOfAHardLink(pattern: String) throws {
    var configuration = EngineConfiguration()
    configuration.simulation.rules = RuleSet([
      try rule("broken", pattern) { $0.effects.fault = Fault(.errno(.ioError)) }
    ])
    let store = ScriptedStore(["docs/a": 10, "docs/plain": 10], links: [("other/hard", to: "docs/a")])
    let fixture = EngineFixture(store, configuration)
    let names = ["docs/a", "other/hard"]
    let node = fixture.node("docs/a")
    #expect(fixture.node("other/hard") == node)
    var request = TriggerRequest(trigger: .read, caller: EngineFixture.caller())
    request.callerPath = Array("other/hard".utf8)
    let answer = fixture.trigger(node, request)
    fixture.lane.runAll()
    #expect(answer.errno == (pattern == "nowhere/a" ? nil : "EIO"))
    let started = try #require(fixture.events.started.last)
    #expect(started.names.map { String(decoding: $0, as: UTF8.self) }.sorted() == names)
    #expect(started.callerPath == request.callerPath)
    // What is none of its names is not believed, and a file with one name has no list.
    let plain = fixture.node("docs/plain")
    _ = fixture.trigger(plain, request)
    #expect(fixture.events.started.last?.names == [])
    #expect(fixture.events.started.last?.callerPath == nil)
  }

  @Test func whoIsRefusedByAnotherIsNotCounted() throws {
    let refused = try rule("refused", nil) {
      $0.match.everyNth = 2
      $0.match.kind = .file
      $0.effects.materialize = false
    }
    let broken = try rule("broken", nil) {
      $0.match.kind = .file
      $0.match.nth = 2...2
      $0.effects.fault = Fault(.errno(.ioError))
    }
    let fixture = fixture(["a": 1, "b": 1, "c": 1, "d": 1], [refused, broken])
    let answers = ["a", "b", "c", "d"].map { name in
      let answer = fixture.trigger(fixture.node(name))
      fixture.lane.runAll()
      return answer.errno
    }
    #expect(answers == [nil, "EDEADLK", "EIO", "EDEADLK"])
  }

  @Test func theFirstAttemptsFailAndTheNextSucceeds() throws {
    let flaky = try rule("flaky", nil) {
      $0.match.attempts = 1...2
      $0.match.kind = .file
      $0.effects.fault = Fault(.errno(.timedOut))
    }
    let fixture = fixture(["a": 100], [flaky])
    let node = fixture.node("a")
    for expected in ["ETIMEDOUT", "ETIMEDOUT", nil] {
      let answer = fixture.trigger(node)
      fixture.lane.runAll()
      #expect(answer.errno == expected)
    }
    #expect(fixture.store.opens.load(ordering: .relaxed) == 1)
  }

  @Test func aFaultIsSharedByAllWaitersOfItsAttempt() throws {
    let broken = try rule("broken", "a") { $0.effects.fault = Fault(.errno(.ioError), after: .fraction(0.6)) }
    let fixture = fixture(["a": 100_000], [broken])
    let node = fixture.node("a")
    let answers = (0..<5).map { _ in fixture.trigger(node) }
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.errno == "EIO" && $0.count == 1 })
    #expect(fixture.events.finished.last?.message?.contains("60000") == true)
    // Nothing of the part that arrived is kept.
    #expect(fixture.engine.isDataless(node))
    #expect(fixture.content.state.withLock { $0.content.isEmpty && $0.writers == 0 })
  }

  @Test(arguments: [Fault.Kind.wrongSize, .superseded])
  func aWrongVersionIsNeverServed(kind: Fault.Kind) throws {
    let fixture = fixture(["a": 300_000], [try rule("other", "a") { $0.effects.fault = Fault(kind) }])
    let node = fixture.node("a")
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.errno == (kind == .superseded ? "ESTALE" : "EIO"))
    #expect(fixture.engine.isDataless(node))
  }

  @Test func anImmediateFaultSparesTheDelay() throws {
    let fast = try rule("fast", "a") { $0.effects.fault = Fault(.errno(.noSpace), isImmediate: true) }
    let fixture = fixture(["a": 1], [fast]) { $0.latency = LatencyModel(.fixed(1_000_000_000)) }
    let answer = fixture.trigger(fixture.node("a"))
    #expect(answer.errno == "ENOSPC")
  }

  @Test func neverEndsOnlyWithItsWaiters() throws {
    let stuck = try rule("stuck", "a") { $0.effects.fault = Fault(.never) }
    let fixture = fixture(["a": 10], [stuck])
    let node = fixture.node("a")
    let waiter = fixture.makeWaiter()
    let answer = fixture.trigger(node, waiter: waiter)
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 3_600_000)
    #expect(answer.count == 0)
    #expect(fixture.engine.attemptsInFlight().map(\.stage) == ["stuck"])
    fixture.engine.leave(waiter, FSError(.interrupted, "killed"))
    #expect(answer.errno == "EINTR")
    #expect(fixture.events.finished.last?.outcome == .cancelled)
    #expect(fixture.engine.attemptsInFlight().isEmpty)
  }

  @Test func aDeadlineEndsWhatHangs() throws {
    let stuck = try rule("stuck", "a") { $0.effects.fault = Fault(.never, after: .bytes(5)) }
    let fixture = fixture(["a": 10], [stuck]) { $0.giveUpAfter = 2_000_000_000 }
    let answer = fixture.trigger(fixture.node("a"))
    fixture.lane.runAll()
    fixture.timer.advance(milliseconds: 1999)
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 1)
    #expect(answer.errno == "ETIMEDOUT")
    #expect(fixture.events.finished.last?.rule == "give_up_after")
  }

  @Test func anOfflineStoreFailsFastAndComesBack() {
    let fixture = fixture(["a": 10], [])
    let node = fixture.node("a")
    var simulation = fixture.engine.simulation
    simulation.isOffline = true
    simulation.latency = LatencyModel(.fixed(60_000_000_000))
    fixture.engine.apply(simulation, restartsClock: false)
    #expect(fixture.trigger(node).errno == "ETIMEDOUT")
    #expect(fixture.events.finished.last?.rule == "offline")
    fixture.engine.apply(Simulation(), restartsClock: false)
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.isReady)
  }

  @Test func windowsCountFromTheLoading() throws {
    let early = try rule("early", nil) {
      $0.match.kind = .file
      $0.match.window = 0..<10_000_000_000
      $0.effects.fault = Fault(.errno(.ioError))
    }
    let fixture = fixture(["a": 10], [early])
    let node = fixture.node("a")
    #expect(fixture.trigger(node).errno == "EIO")
    fixture.timer.advance(milliseconds: 10_000)
    let answer = fixture.trigger(node)
    fixture.lane.runAll()
    #expect(answer.isReady)
  }

  @Test func policyRefusesAtOnceInTheOrderOfMacOS() {
    let fixture = fixture(["a": 10], []) { $0.latency = LatencyModel(.fixed(1_000_000_000)) }
    let node = fixture.node("a")
    func errno(_ thread: Bool?, _ process: Bool?, joins: Bool = false) -> String? {
      var caller = EngineFixture.caller()
      caller.policy = CallerPolicy(thread: thread, process: process)
      let waiter = fixture.makeWaiter()
      let answer = fixture.trigger(node, TriggerRequest(trigger: .read, caller: caller), waiter: waiter)
      defer { if !joins { fixture.engine.leave(waiter, FSError(.interrupted, "done")) } }
      return answer.count == 0 ? "waits" : answer.errno
    }
    #expect(errno(false, true) == "EDEADLK")
    #expect(errno(true, false) == "waits")
    #expect(errno(nil, false) == "EDEADLK")
    #expect(errno(nil, true) == "waits")
    #expect(errno(nil, nil) == "waits")
    var off = fixture.engine.simulation
    off.materialize = false
    fixture.engine.apply(off, restartsClock: false)
    #expect(errno(nil, nil) == "EDEADLK")
    #expect(errno(nil, true, joins: true) == "waits")
    // Joining is materializing, too.
    #expect(errno(nil, nil) == "EDEADLK")
    #expect(fixture.engine.totals.refusals == 4)
    let refusals = fixture.events.all.compactMap { event -> Event.Refusal? in
      if case .materializationRefused(let refusal) = event { refusal } else { nil }
    }
    #expect(refusals.map(\.policy) == ["thread", "process", "volume", "volume"])
    #expect(refusals.allSatisfy { $0.trigger.requestedDelay == 1_000_000_000 && $0.trigger.size == 10 })
  }

  @Test func rulesRefuseByProcessAndAncestor() throws {
    let indexer = try rule("indexer", nil) {
      $0.match.process = ProcessMatch()
      $0.match.process?.executables = [PathPattern(Array("/usr/bin/indexer".utf8))!]
      $0.effects.materialize = false
    }
    let nightly = try rule("nightly", nil) {
      $0.match.ancestor = ProcessMatch()
      $0.match.ancestor?.commandNames = [PathPattern(Array("cron".utf8))!]
      $0.effects.materialize = false
    }
    let fixture = fixture(["a": 10], [indexer, nightly])
    func facts(_ exe: String, _ comm: String) -> ProcessFacts {
      ProcessFacts(executable: Array(exe.utf8), commandName: Array(comm.utf8), cgroup: nil, uid: 0)
    }
    let node = fixture.node("a")
    fixture.processes.known.withLock {
      $0[ProcessID(rawValue: 1)] = [facts("/usr/bin/cat", "cat")]
      $0[ProcessID(rawValue: 2)] = [facts("/usr/bin/indexer", "indexer")]
      $0[ProcessID(rawValue: 3)] = [
        facts("/usr/bin/cat", "cat"), facts("/bin/sh", "sh"), facts("/usr/sbin/cron", "cron"),
      ]
      $0[ProcessID(rawValue: 4)] = [facts("/usr/sbin/cron", "cron")]
    }
    func errno(_ process: UInt32) -> String? {
      var caller = EngineFixture.caller()
      caller.process = ProcessID(rawValue: process)
      let answer = fixture.trigger(node, TriggerRequest(trigger: .read, caller: caller))
      fixture.lane.runAll()
      return answer.errno
    }
    #expect(errno(2) == "EDEADLK")
    #expect(errno(3) == "EDEADLK")
    #expect(errno(4) == nil)
  }

  /// A change while callers wait: slots grow, and what waited goes on.
  @Test func moreSlotsLetTheQueueGoOn() {
    let fixture = fixture(["a": 1, "b": 1, "c": 1], []) {
      $0.concurrency = 1
      $0.latency = LatencyModel(.fixed(1_000_000_000))
    }
    let answers = ["a", "b", "c"].map { fixture.trigger(fixture.node($0)) }
    #expect(fixture.engine.attemptsInFlight().map(\.stage) == ["delayed", "queued", "queued"])
    var wider = fixture.engine.simulation
    wider.concurrency = nil
    fixture.engine.apply(wider, restartsClock: false)
    #expect(fixture.engine.attemptsInFlight().map(\.stage) == ["delayed", "delayed", "delayed"])
    fixture.timer.advance(milliseconds: 1000)
    fixture.lane.runAll()
    #expect(answers.allSatisfy { $0.isReady })
  }

  /// Each fails as soon as it has its slot, and hands it on: one after the other, and not one within another.
  @Test func aLongQueueOfAttemptsThatFailAtOnceEnds() throws {
    let slow = try rule("slow", "slow") { $0.effects.latency = LatencyModel(.fixed(1_000_000_000)) }
    let broken = try rule("broken", "f*") { $0.effects.fault = Fault(.errno(.ioError)) }
    let names = ["slow"] + (0..<20_000).map { "f\($0)" }
    let files = Dictionary(uniqueKeysWithValues: names.map { ($0, 1) })
    let fixture = fixture(files, [slow, broken]) { $0.concurrency = 1 }
    let answers = names.map { fixture.trigger(fixture.node($0)) }
    fixture.timer.advance(milliseconds: 1000)
    fixture.lane.runAll()
    #expect(answers[0].isReady)
    #expect(answers.dropFirst().allSatisfy { $0.errno == "EIO" })
  }
}
