@testable import DatalessCore
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Delays of calls that need no materialization.
@Suite struct AccessDelayTests {
  @Test func aCallWaitsForItsDelayAndIsNoAttempt() throws {
    let fixture = EngineFixture(ScriptedStore(["d/a": 100]), AccessCalls.configuration([.read: 5]))
    let node = AccessCalls.resident(fixture, "d/a")
    let totals = fixture.engine.totals
    let answer = try #require(AccessCalls.call(fixture, .read, of: node, offset: 10, length: 4096))
    #expect(fixture.events.kinds == ["access read"])
    #expect(fixture.engine.accessesUnderWay().count == 1)
    #expect(fixture.engine.attemptsInFlight().isEmpty)
    fixture.timer.advance(milliseconds: 4)
    #expect(answer.count == 0)
    fixture.timer.advance(milliseconds: 1)
    #expect(answer.isReady)
    #expect(fixture.events.kinds == ["access read", "accessed read ok"])
    let record = try #require(AccessCalls.records(fixture).first)
    #expect(record.path == Array("d/a".utf8))
    #expect(record.range == 10..<100)
    #expect(record.requestedDelay == 5 * AccessCalls.ms)
    #expect(record.blocked == 5 * AccessCalls.ms)
    #expect(record.rule == nil)
    #expect(fixture.engine.accessesUnderWay().count == 0)
    #expect(fixture.engine.accessTotals.sums[.read]?.blocked == 5 * AccessCalls.ms)
    #expect(fixture.engine.totals.files == totals.files)
    #expect(fixture.timer.pending == 0)
  }

  @Test func nothingIsAskedOfAScenarioWithoutDelays() {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([.read: 0]))
    let node = AccessCalls.resident(fixture, "a")
    for operation in AccessOperation.allCases {
      #expect(!fixture.engine.delaysAccess(operation))
      #expect(AccessCalls.call(fixture, operation, of: node, length: 10) == nil)
    }
    #expect(fixture.events.kinds == [])
  }

  @Test func whatHasToComeFirstIsNotDelayedYet() throws {
    let fixture = EngineFixture(
      ScriptedStore(["d/a": 100]), AccessCalls.configuration([.lookup: 1, .getattr: 1, .open: 1, .read: 1]))
    let lookup = Access(.lookup, of: .name(Array("d".utf8), in: .root), caller: EngineFixture.caller())
    #expect(AccessCalls.call(fixture, lookup) == nil, "the root is not listed")
    fixture.list("")
    #expect(AccessCalls.call(fixture, lookup) != nil)
    let directory = fixture.node("d")
    #expect(AccessCalls.call(fixture, .read, of: directory) == nil, "the directory is not listed")
    #expect(AccessCalls.call(fixture, .open, of: directory) != nil, "opendir(3) lists nothing")
    fixture.list("d")
    let file = fixture.node("d/a")
    #expect(AccessCalls.call(fixture, .read, of: file, length: 10) == nil, "the content is not there")
    #expect(AccessCalls.call(fixture, .getattr, of: file) != nil, "stat(2) needs no content")
    #expect(AccessCalls.call(fixture, .open, of: file) != nil, "nor does open(2)")
    fixture.trigger(file)
    fixture.lane.runAll()
    #expect(AccessCalls.call(fixture, .read, of: file, length: 10) != nil)
  }

  @Test func whatBringsNothingIsNotDelayed() {
    let fixture = EngineFixture(
      ScriptedStore(["a": 100, "empty": 0]), AccessCalls.configuration([.lookup: 1, .open: 1, .read: 1]))
    let node = AccessCalls.resident(fixture, "a")
    #expect(AccessCalls.call(fixture, .read, of: node, offset: 100, length: 10) == nil, "the end")
    #expect(AccessCalls.call(fixture, .read, of: fixture.node("empty"), length: 10) == nil)
    let absent = Access(.lookup, of: .name(Array("x".utf8), in: .root), caller: EngineFixture.caller())
    #expect(AccessCalls.call(fixture, absent) == nil)
    #expect(AccessCalls.call(fixture, .read, of: .root) != nil)
    let entries = fixture.names("").count
    #expect(AccessCalls.call(fixture, .read, of: .root, offset: Int64(entries)) == nil, "the end of a directory")
    #expect(AccessCalls.call(fixture, .open, of: NodeID(rawValue: 999)) == nil)
  }

  /// "Nothing to wait for" would let the caller answer it, and by then the content may have come.
  @Test func whatIsNotThereIsToBeMaterializedFirst() {
    let fixture = EngineFixture(
      ScriptedStore(["a": 100, "d/x": 1]), AccessCalls.configuration([.lookup: 1, .open: 1, .read: 1]))
    let (file, directory) = (fixture.node("a"), fixture.node("d"))
    func verdict(_ operation: AccessOperation, _ target: Access.Target, offset: Int64 = 0) -> AccessAnswer {
      let waiter = fixture.makeWaiter()
      fixture.engine.expect(waiter)
      let access = Access(operation, of: target, caller: EngineFixture.caller(), offset: offset, length: 10)
      return fixture.engine.delay(access, waiter: waiter) { _ in }
    }
    let name = Access.Target.name(Array("x".utf8), in: directory)
    #expect(verdict(.read, .node(file)) == .missing)
    #expect(verdict(.read, .node(directory)) == .missing)
    #expect(verdict(.lookup, name) == .missing)
    #expect(verdict(.read, .node(file), offset: 100) == .passes, "the end brings nothing")
    #expect(verdict(.open, .node(file)) == .delayed, "an open needs no content")
    fixture.trigger(file)
    fixture.list("d")
    fixture.lane.runAll()
    #expect(verdict(.read, .node(file)) == .delayed)
    #expect(verdict(.read, .node(directory)) == .delayed)
    #expect(verdict(.lookup, name) == .delayed)
  }

  @Test func aProfileThatMaterializesAtOpenDoesSoFirst() {
    var configuration = AccessCalls.configuration([.open: 1])
    configuration.simulation.profile = .open
    let fixture = EngineFixture(ScriptedStore(["a": 100]), configuration)
    let node = fixture.node("a")
    #expect(AccessCalls.call(fixture, .open, of: node) == nil)
    fixture.trigger(node)
    fixture.lane.runAll()
    #expect(AccessCalls.call(fixture, .open, of: node) != nil)
  }

  @Test func theFirstRuleThatSaysSomethingAboutTheOperationDecides() throws {
    let rules = [
      AccessCalls.rule("jpg", [.read: 7]) { $0.match.paths = [PathPattern(Array("*.jpg".utf8))!] },
      AccessCalls.rule("fast", [.read: 0, .getattr: 3]) { $0.match.kind = .file },
      AccessCalls.rule("never", [.read: 9]) { $0.match.size = 1_000...2_000 },
    ]
    let fixture = EngineFixture(
      ScriptedStore(["a.jpg": 100, "b.txt": 100, "d/x": 1]),
      AccessCalls.configuration([.read: 1, .open: 2], rules: rules))
    let (photo, text) = (AccessCalls.resident(fixture, "a.jpg"), AccessCalls.resident(fixture, "b.txt"))
    fixture.list("d")
    fixture.events.clear()
    #expect(AccessCalls.call(fixture, .read, of: photo, length: 10) != nil)
    #expect(AccessCalls.call(fixture, .read, of: text, length: 10) == nil, "0 takes the delay away")
    #expect(AccessCalls.call(fixture, .getattr, of: photo) != nil, "of what a rule does not say, the next one does")
    #expect(AccessCalls.call(fixture, .open, of: text) != nil)
    #expect(AccessCalls.call(fixture, .read, of: fixture.node("d")) != nil)
    fixture.timer.advance(milliseconds: 100)
    let told = AccessCalls.records(fixture).map {
      "\($0.operation.rawValue) \($0.rule ?? "-") \($0.requestedDelay.rawValue / AccessCalls.ms.rawValue)"
    }
    #expect(Set(told) == ["read jpg 7", "getattr fast 3", "open - 2", "read - 1"])
    #expect(fixture.engine.ruleCounts.map(\.decided) == [1, 2, 0])
  }

  @Test func rulesSayWhoseStacksAreWanted() throws {
    let rules = [
      AccessCalls.rule("not-lookups", [:]) {
        $0.effects.stack = false
        $0.match.kind = .directory
      },
      AccessCalls.rule("stacks", [:]) { $0.effects.stack = true },
    ]
    for (rules, wanted) in [(rules, true), (Array(rules.prefix(1)), nil)] as [([Rule], Bool?)] {
      let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([.read: 1], rules: rules))
      let node = fixture.node("a")
      fixture.trigger(node)
      fixture.lane.runAll()
      let waits = fixture.events.all.compactMap { if case .waitStarted(let wait) = $0 { wait.takesStack } else { nil } }
      // Of the directory, which is listed first, and of the file.
      #expect(waits == [false] + (wanted.map { [$0] } ?? []))
      #expect(fixture.events.started.last?.rules == (wanted == true ? ["stacks"] : []))
      _ = AccessCalls.call(fixture, .read, of: node, length: 10)
      let calls = fixture.events.all.compactMap { event -> Event.AccessRecord? in
        if case .accessStarted(let record) = event { record } else { nil }
      }
      #expect(calls.map(\.takesStack) == [wanted])
    }
  }

  @Test func rulesKnowWhoCalls() throws {
    let slow = AccessCalls.rule("tar", [.read: 5]) { rule in
      var process = ProcessMatch()
      process.commandNames = [PathPattern(Array("tar".utf8))!]
      rule.match.process = process
    }
    let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([:], rules: [slow]))
    let node = AccessCalls.resident(fixture, "a")
    #expect(AccessCalls.call(fixture, .read, of: node, length: 10) == nil)
    fixture.processes.known.withLock {
      $0[ProcessID(rawValue: 1)] = [ProcessFacts(executable: nil, commandName: Array("tar".utf8), cgroup: nil, uid: 0)]
    }
    #expect(AccessCalls.call(fixture, .read, of: node, length: 10) != nil)
  }

  @Test func aReadCostsByWhatItBrings() throws {
    var configuration = EngineConfiguration()
    var model = LatencyModel(.fixed(AccessCalls.ms))
    model.perMebibyte = 8 * AccessCalls.ms
    configuration.simulation.access[.read] = model
    let fixture = EngineFixture(ScriptedStore(["a": 1 << 20]), configuration)
    let node = AccessCalls.resident(fixture, "a")
    for (offset, length) in [(Int64(0), Int64(1 << 20)), (1 << 19, 1 << 20), (0, 1 << 18)] {
      _ = AccessCalls.call(fixture, .read, of: node, offset: offset, length: length)
    }
    fixture.timer.advance(milliseconds: 100)
    let delays = AccessCalls.records(fixture).sorted { $0.access < $1.access }.map {
      $0.requestedDelay.rawValue / AccessCalls.ms.rawValue
    }
    #expect(delays == [9, 5, 3])
  }

  @Test func aKilledCallerLeavesWithEINTR() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([.read: 1000]))
    let node = AccessCalls.resident(fixture, "a")
    let waiter = fixture.makeWaiter()
    let killed = try #require(AccessCalls.call(fixture, .read, of: node, length: 10, waiter: waiter))
    let other = try #require(AccessCalls.call(fixture, .read, of: node, length: 10, thread: 11))
    fixture.engine.interrupt(waiter)
    #expect(killed.count == 0, "the signal is not fatal")
    fixture.signals.pending.withLock { $0[10] = .some(true) }
    fixture.timer.advance(milliseconds: 100)
    #expect(killed.errno == "EINTR")
    #expect(other.count == 0)
    fixture.timer.advance(milliseconds: 1000)
    #expect(other.isReady)
    #expect((killed.count, other.count) == (1, 1))
    #expect(AccessCalls.records(fixture).map(\.outcome) == [.failed(.interrupted), .ok])
    #expect(fixture.engine.accessTotals.sums[.read]?.failures == 1)
    #expect(fixture.timer.pending == 0)
  }

  @Test func anInterruptThatWasFasterThanItsCallEndsIt() throws {
    var configuration = AccessCalls.configuration([.read: 1000])
    configuration.simulation.interrupt = .any
    let fixture = EngineFixture(ScriptedStore(["a": 100]), configuration)
    let node = AccessCalls.resident(fixture, "a")
    let waiter = fixture.makeWaiter()
    let answer = Answer()
    fixture.engine.expect(waiter)
    fixture.engine.interrupt(waiter)
    let access = Access(.read, of: .node(node), caller: EngineFixture.caller(), length: 10)
    let verdict = fixture.engine.delay(access, waiter: waiter) { answer.set($0.map { .failed($0) } ?? .ready) }
    #expect(verdict == .delayed)
    #expect(answer.errno == "EINTR")
    #expect(fixture.timer.pending == 0, "its timer is taken back")
    fixture.timer.advance(milliseconds: 2000)
    #expect(answer.count == 1)
  }

  @Test func theEndOfTheVolumeAnswersAndDelaysNobodyAnyMore() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([.getattr: 1000]))
    let node = AccessCalls.resident(fixture, "a")
    let answers = (0..<100).map { _ in AccessCalls.call(fixture, .getattr, of: node) }
    fixture.engine.end(FSError(.timedOut, "the volume is being unmounted"))
    #expect(answers.allSatisfy { $0?.errno == "ETIMEDOUT" })
    #expect(fixture.timer.pending == 0, "their timers are taken back")
    #expect(AccessCalls.call(fixture, .getattr, of: node) == nil)
    fixture.timer.advance(milliseconds: 2000)
    #expect(answers.allSatisfy { $0?.count == 1 })
  }

  @Test func aChangeHoldsForLaterCallsAndTheKernelIsMadeToAsk() throws {
    let fixture = EngineFixture(ScriptedStore(["d/a": 100]), AccessCalls.configuration([:]))
    let node = AccessCalls.resident(fixture, "d/a")
    #expect(AccessCalls.call(fixture, .getattr, of: node) == nil)
    var simulation = AccessCalls.configuration([.getattr: 5]).simulation
    fixture.engine.apply(simulation, restartsClock: false)
    let first = try #require(AccessCalls.call(fixture, .getattr, of: node))
    fixture.kernel.calls.withLock { $0 = [] }
    var cursor: NodeCursor?
    repeat { cursor = fixture.engine.refreshAttributes(from: cursor, ofEveryItem: true) } while cursor != nil
    let told = fixture.kernel.calls.withLock { $0 }
    #expect(
      told == ["attributes 1", "attributes \(fixture.node("d").rawValue)", "attributes \(node.rawValue)", "names"])
    simulation.access[.getattr] = LatencyModel(.fixed(0))
    fixture.engine.apply(simulation, restartsClock: false)
    #expect(AccessCalls.call(fixture, .getattr, of: node) == nil)
    #expect(first.count == 0, "who waits goes on waiting")
    fixture.timer.advance(milliseconds: 5)
    #expect(first.isReady)
  }

  @Test func delayedReadsReachTheVolume() throws {
    let fixture = EngineFixture(ScriptedStore(["a": 100]), AccessCalls.configuration([:]))
    let node = AccessCalls.resident(fixture, "a")
    guard case .resident = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("the kernel reads it alone")
      return
    }
    fixture.engine.apply(AccessCalls.configuration([.read: 5]).simulation, restartsClock: false)
    guard case .dataless = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("each read should be a request")
      return
    }
  }

  @Test func chanceIsTheSeedsAndEachCallIsANewOne() throws {
    func delays(seed: UInt64) -> [Int64] {
      var configuration = EngineConfiguration()
      configuration.simulation.seed = seed
      configuration.simulation.access[.getattr] = LatencyModel(.uniform(1, 1_000_000_000))
      let fixture = EngineFixture(ScriptedStore(["a": 100]), configuration)
      let node = fixture.node("a")
      for _ in 0..<20 { _ = AccessCalls.call(fixture, .getattr, of: node) }
      fixture.timer.advance(milliseconds: 2000)
      return AccessCalls.records(fixture).sorted { $0.access < $1.access }.map(\.requestedDelay.rawValue)
    }
    let seed = TestSeed.one
    let first = delays(seed: seed)
    #expect(first == delays(seed: seed), "seed \(seed)")
    #expect(Set(first).count > 10, "seed \(seed)")
    #expect(first != delays(seed: seed &+ 1), "seed \(seed)")
  }

  @Test func aRecordedLogIsReplayedCallByCall() {
    var configuration = EngineConfiguration()
    configuration.simulation.access[.getattr] = LatencyModel(
      .replay([AccessCalls.ms, 2 * AccessCalls.ms, 3 * AccessCalls.ms]))
    let fixture = EngineFixture(ScriptedStore(["a": 100]), configuration)
    let node = fixture.node("a")
    for _ in 0..<4 { _ = AccessCalls.call(fixture, .getattr, of: node) }
    fixture.timer.advance(milliseconds: 10)
    let delays = AccessCalls.records(fixture).sorted { $0.access < $1.access }.map {
      $0.requestedDelay.rawValue / AccessCalls.ms.rawValue
    }
    #expect(delays == [1, 2, 3, 1])
  }

  /// Calls, interrupts, time and changes in any order, against a model: each caller is answered once, and no timer is
  /// left.
  @Test(arguments: TestSeed.seeds) func randomCallsAreEachAnsweredOnce(seed: UInt64) {
    var random = TestRandom(seed: seed)
    let fixture = EngineFixture(
      ScriptedStore(["a": 100, "d/b": 50]), AccessCalls.configuration([.getattr: 5, .open: 3]))
    let nodes = [NodeID.root, fixture.node("a"), fixture.node("d"), fixture.node("d/b")]
    var waiting: [(waiter: WaiterID, answer: Answer, thread: Int32, isKilled: Bool)] = []
    var delayed = 0
    for step in 0..<500 {
      switch random.below(10) {
      case 0..<6:
        let waiter = fixture.makeWaiter()
        let operation: AccessOperation = random.oneIn(2) ? .getattr : .open
        let thread = Int32(100 + step)
        if let answer = AccessCalls.call(
          fixture, operation, of: random.element(of: nodes), waiter: waiter, thread: thread)
        {
          waiting.append((waiter, answer, thread, false))
          delayed += 1
        }
      case 6 where !waiting.isEmpty:
        let index = random.below(waiting.count)
        let wasAnswered = waiting[index].answer.count == 1
        fixture.signals.pending.withLock { $0[waiting[index].thread] = .some(true) }
        fixture.engine.interrupt(waiting[index].waiter)
        if !wasAnswered { waiting[index].isKilled = true }
      case 7:
        let delay = Int64(random.below(4))
        fixture.engine.apply(AccessCalls.configuration([.getattr: delay, .open: 2]).simulation, restartsClock: false)
      default: fixture.timer.advance(milliseconds: Int64(random.below(4)))
      }
    }
    fixture.timer.advance(milliseconds: 10)
    for (index, call) in waiting.enumerated() {
      #expect(call.answer.count == 1, "seed \(seed), call \(index)")
      #expect(call.answer.errno == (call.isKilled ? "EINTR" : nil), "seed \(seed), call \(index)")
    }
    let totals = fixture.engine.accessTotals.sums.values
    #expect(totals.reduce(0) { $0 + $1.calls } == Int64(delayed), "seed \(seed)")
    #expect(totals.reduce(0) { $0 + $1.failures } == Int64(waiting.count { $0.isKilled }), "seed \(seed)")
    #expect(fixture.engine.accessesUnderWay().count == 0, "seed \(seed)")
    #expect(fixture.engine.state.withLock { $0.calls.parkedCount == 0 }, "seed \(seed)")
    #expect(fixture.timer.pending == 0, "seed \(seed)")
  }
}
