@testable import DatalessCore
import Synchronization
import SystemPackage
import Testing

/// Rules that evict: files become dataless without anybody's asking.
@Suite struct EngineSystemEvictionTests {
  private static func rule(
    _ name: String, _ eviction: SystemEviction, path: String = "**", probability: Double? = nil
  ) -> Rule {
    var match = RuleMatch()
    match.paths = [PathPattern(Array(path.utf8))!]
    match.probability = probability
    var effects = RuleEffects()
    effects.evict = eviction
    return Rule(name: name, match: match, effects: effects)
  }

  private func make(_ files: [String: Int], _ rules: [Rule]) -> EngineFixture {
    var configuration = EngineConfiguration()
    configuration.simulation.rules = RuleSet(rules)
    let fixture = EngineFixture(ScriptedStore(files), configuration)
    for path in files.keys.sorted() { _ = fixture.node(path) }
    return fixture
  }

  private func materialize(_ fixture: EngineFixture, _ path: String) -> NodeID {
    let node = fixture.node(path)
    fixture.trigger(node)
    fixture.lane.runAll()
    return node
  }

  private func apply(_ fixture: EngineFixture, _ rules: [Rule]) {
    var simulation = Simulation()
    simulation.rules = RuleSet(rules)
    fixture.engine.apply(simulation, restartsClock: false)
    fixture.lane.runAll()
  }

  private func advance(_ fixture: EngineFixture, _ milliseconds: Int64) {
    fixture.timer.advance(milliseconds: milliseconds) { fixture.lane.runAll() }
  }

  private func evictions(_ fixture: EngineFixture) -> [String] {
    fixture.events.all.compactMap { event in
      guard case .evictionFinished(let record) = event else { return nil }
      return "\(String(decoding: record.path, as: UTF8.self)) \(record.by)"
    }
  }

  @Test func withoutSuchARuleNothingIsPlanned() {
    let fixture = make(["a": 10], [])
    let node = materialize(fixture, "a")
    #expect(fixture.timer.pending == 0)
    #expect(!fixture.engine.evictsBeforeRead(node))
    #expect(fixture.engine.state.withLock { $0.planned.counts } == (0, 0))
  }

  /// Until the new rules have decided about a file, what the old ones said does not hold any more.
  @Test func rulesThatAreGoneEvictNothing() {
    let fixture = make(["a": 10], [Self.rule("old", SystemEviction(afterMaterialization: 1_000_000_000))])
    _ = materialize(fixture, "a")
    var simulation = Simulation()
    simulation.rules = RuleSet([Self.rule("new", SystemEviction(afterMaterialization: 60_000_000_000))])
    fixture.engine.apply(simulation, restartsClock: false)
    fixture.timer.advance(milliseconds: 2_000)
    #expect(evictions(fixture).isEmpty)
    fixture.lane.runAll()
    advance(fixture, 57_000)
    #expect(evictions(fixture).isEmpty)
    advance(fixture, 2_000)
    #expect(evictions(fixture) == ["a rule:new"])
  }

  @Test func aFileThatIsEvictedOtherwiseIsPlannedNoMore() {
    let fixture = make(["a": 10], [Self.rule("late", SystemEviction(afterMaterialization: 1_000_000_000))])
    let node = materialize(fixture, "a")
    #expect(fixture.engine.state.withLock { $0.planned.counts.plans } == 1)
    fixture.engine.evict(node, by: "command") { _ in }
    #expect(fixture.engine.state.withLock { $0.planned.counts.plans } == 0)
    advance(fixture, 2_000)
    #expect(evictions(fixture) == ["a command"])
  }

  @Test func anIdleFileIsEvictedSoLongAfterItsLastClose() {
    let fixture = make(["a": 10, "b": 10], [Self.rule("tidy", SystemEviction(idle: 500_000_000), path: "a")])
    let (node, other) = (materialize(fixture, "a"), materialize(fixture, "b"))
    advance(fixture, 400)
    let handle = fixture.open(node)
    advance(fixture, 5000)
    #expect(evictions(fixture) == [], "it is open")
    #expect(fixture.timer.pending == 0, "only a close can matter")
    fixture.engine.release(node, handle: handle)
    advance(fixture, 499)
    #expect(evictions(fixture) == [])
    advance(fixture, 1)
    #expect(evictions(fixture) == ["a rule:tidy"])
    #expect(fixture.engine.isDataless(node) && !fixture.engine.isDataless(other))
    #expect(fixture.content.items == 1)
    #expect(fixture.timer.pending == 0)
  }

  @Test func afterMaterializationAnOpenFileIsEvictedWhenItIsClosed() {
    let fixture = make(["a": 10], [Self.rule("r", SystemEviction(afterMaterialization: 1_000_000_000))])
    let node = fixture.node("a")
    guard case .dataless(let handle) = fixture.engine.open(node, process: .unknown, openFlags: 0) else { return }
    #expect(fixture.read(node, handle) == .bytes(fixture.store.bytes("a")))
    advance(fixture, 3000)
    #expect(evictions(fixture) == [])
    fixture.engine.release(node, handle: handle)
    advance(fixture, 0)
    #expect(evictions(fixture) == ["a rule:r"])
  }

  @Test func bothTimesTogetherAreWhicheverComesFirst() {
    let both = SystemEviction(idle: 300_000_000, afterMaterialization: 1_000_000_000)
    let fixture = make(["a": 10, "b": 10], [Self.rule("r", both)])
    let (idle, busy) = (materialize(fixture, "a"), materialize(fixture, "b"))
    for _ in 0..<6 {
      advance(fixture, 200)
      fixture.engine.release(busy, handle: fixture.open(busy))
    }
    #expect(evictions(fixture) == ["a rule:r", "b rule:r"])
    #expect(fixture.engine.isDataless(idle) && fixture.engine.isDataless(busy))
  }

  @Test func beforeTheFirstReadTheNextOpenMeetsADatalessFile() {
    let fixture = make(["a": 10], [Self.rule("r", SystemEviction(beforeFirstRead: true))])
    let node = materialize(fixture, "a")
    #expect(fixture.engine.attributes(of: node)?.isDataless == false)
    #expect(fixture.engine.evictsBeforeRead(node))
    let done = Counter()
    fixture.engine.waitForEviction(node, threadID: 10, waiter: fixture.makeWaiter()) { if $0 == nil { done.add() } }
    fixture.lane.runAll()
    #expect(done.value == 1)
    guard case .dataless(let handle) = fixture.engine.open(node, process: .unknown, openFlags: 0) else {
      Issue.record("still resident")
      return
    }
    #expect(fixture.read(node, handle) == .bytes(fixture.store.bytes("a")))
    #expect(!fixture.engine.evictsBeforeRead(node), "another handle is open")
    fixture.engine.waitForEviction(node, threadID: 10, waiter: fixture.makeWaiter()) { if $0 == nil { done.add() } }
    #expect(done.value == 2)
    #expect(evictions(fixture) == ["a rule:r"])
    #expect(fixture.timer.pending == 0)
    fixture.engine.release(node, handle: handle)
    #expect(fixture.engine.evictsBeforeRead(node))
    #expect(fixture.events.started.filter { $0.kind == .file }.map(\.itemAttempt) == [1, 2])
  }

  /// The kernel may take long to drop the pages: who waits for it in open(2) can be killed, and the end of the volume
  /// answers him.
  @Test(arguments: ["signal", "end", "kernel"]) func anOpenThatWaitsForItsEvictionIsAnsweredOnce(by end: String) {
    let fixture = make(["a": 10], [Self.rule("r", SystemEviction(beforeFirstRead: true))])
    let node = materialize(fixture, "a")
    fixture.kernel.isHeld.store(true, ordering: .relaxed)
    let answers = Mutex<[String]>([])
    let waiter = fixture.makeWaiter()
    fixture.engine.waitForEviction(node, threadID: 10, waiter: waiter) { error in
      answers.withLock { $0.append(error?.errno.name ?? "goes on") }
    }
    fixture.lane.runAll()
    fixture.engine.interrupt(waiter)
    #expect(answers.withLock { $0 } == [], "a signal that is not fatal, while it waits for the kernel")
    switch end {
    case "signal":
      fixture.signals.pending.withLock { $0[10] = true }
      fixture.timer.advance(milliseconds: 101)
    case "end": fixture.engine.end(FSError(.timedOut, "the volume ends"))
    default:
      fixture.kernel.release()
      #expect(answers.withLock { $0 } == [], "not on the thread that tells the kernel")
      fixture.lane.runAll()
    }
    let expected = ["signal": "EINTR", "end": "ETIMEDOUT"][end] ?? "goes on"
    #expect(answers.withLock { $0 } == [expected])
    fixture.kernel.release()
    fixture.lane.runAll()
    fixture.engine.end(FSError(.timedOut, "the volume ends"))
    #expect(answers.withLock { $0 } == [expected])
  }

  @Test func theFirstRuleThatMatchesDecidesAndChanceIsTheRules() {
    let files = Dictionary(uniqueKeysWithValues: (0..<200).map { ("f\($0)", 1) } + [("keep", 1)])
    let rules = [
      Self.rule("never", SystemEviction(idle: 1_000_000_000_000), path: "keep"),
      Self.rule("half", SystemEviction(idle: 1_000_000), probability: 0.5),
    ]
    let runs = (0..<2).map { _ in
      let fixture = make(files, rules)
      for path in files.keys { _ = materialize(fixture, path) }
      advance(fixture, 10)
      return Set(evictions(fixture))
    }
    #expect(runs[0] == runs[1], "the same seed, the same files")
    #expect((60...140).contains(runs[0].count), "\(runs[0].count) of 200")
    #expect(!runs[0].contains { $0.hasPrefix("keep") })
  }

  @Test func thousandsOfFilesHaveOneEntryEachHoweverOftenTheyAreUsed() {
    let files = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("d/f\($0)", 1) })
    let fixture = make(
      files, [Self.rule("r", SystemEviction(idle: 1_000_000_000, afterMaterialization: 60_000_000_000))])
    let nodes = files.keys.sorted().map { materialize(fixture, $0) }
    for _ in 0..<5 {
      for node in nodes {
        fixture.engine.release(node, handle: fixture.open(node))
      }
      advance(fixture, 100)
      let counts = fixture.engine.state.withLock { $0.planned.counts }
      #expect(counts.plans == 3000 && counts.entries <= 3000, "\(counts)")
      #expect(fixture.timer.pending <= 2)
    }
    for node in nodes.prefix(1000) { fixture.engine.evict(node, by: "command") { _ in } }
    fixture.lane.runAll()
    for path in files.keys.sorted().prefix(1000) { _ = materialize(fixture, path) }
    #expect(fixture.engine.state.withLock { $0.planned.counts.entries } <= 3000)
    for _ in 0..<200 { advance(fixture, 20) }
    #expect(fixture.engine.counts.filesResident == 0)
    #expect(fixture.engine.state.withLock { $0.planned.counts } == (0, 0))
    #expect(fixture.timer.pending == 0)
  }

  @Test func rulesOfALiveVolumeHoldForWhatIsResidentAlready() {
    let fixture = make(["a": 10, "b": 10, "c": 10], [])
    for path in ["a", "b", "c"] { _ = materialize(fixture, path) }
    apply(fixture, [Self.rule("r", SystemEviction(idle: 1_000_000_000), path: "a")])
    advance(fixture, 600)
    // Another rule: the times that are known stay.
    apply(
      fixture,
      [
        Self.rule("r", SystemEviction(idle: 1_000_000_000), path: "a"),
        Self.rule("s", SystemEviction(idle: 0), path: "b"),
      ])
    advance(fixture, 0)
    #expect(evictions(fixture) == ["b rule:s"])
    advance(fixture, 400)
    #expect(evictions(fixture) == ["b rule:s", "a rule:r"])
    apply(fixture, [Self.rule("t", SystemEviction(idle: 1_000_000_000), path: "c")])
    advance(fixture, 500)
    apply(fixture, [])
    advance(fixture, 10_000)
    #expect(evictions(fixture).count == 2, "no rule wants it any more")
    #expect(fixture.engine.state.withLock { $0.planned.counts } == (0, 0))
    #expect(fixture.timer.pending == 0)
  }

  @Test func aMappedFileIsTriedAgainAndOneWithSeveralNamesIsNot() {
    let fixture = EngineFixture(ScriptedStore(["a": 10, "x": 10], links: [("y", to: "x")]))
    fixture.content.ownFiles.store(true, ordering: .relaxed)
    apply(fixture, [Self.rule("r", SystemEviction(idle: 100_000_000))])
    _ = fixture.node("x")
    let (mapped, linked) = (materialize(fixture, "a"), materialize(fixture, "x"))
    let index = fixture.index(mapped)
    fixture.engine.state.withLock { $0.updateContent(of: index) { $0.notePassthrough(1) } }
    fixture.content.mapped.store(true, ordering: .relaxed)
    advance(fixture, 2500)
    #expect(evictions(fixture) == [])
    fixture.content.mapped.store(false, ordering: .relaxed)
    advance(fixture, 1100)
    #expect(evictions(fixture) == ["a rule:r"])
    #expect(!fixture.engine.isDataless(linked))
    #expect(fixture.timer.pending == 0)
  }

  @Test func aFileThatTheSystemEvictsAndAToolReadsAgainIsCountedInTheLog() {
    let fixture = make(["a": 10], [Self.rule("r", SystemEviction(afterMaterialization: 10_000_000))])
    for _ in 0..<5 {
      #expect(fixture.content("a") == fixture.store.bytes("a"))
      advance(fixture, 20)
    }
    #expect(evictions(fixture) == Array(repeating: "a rule:r", count: 5))
    #expect(fixture.events.started.filter { $0.kind == .file }.map(\.itemAttempt) == [1, 2, 3, 4, 5])
  }
}
