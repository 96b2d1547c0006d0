@testable import DatalessCore
import TestSupport
import Testing

/// `PlannedEvictions` beside plain times of each file: nothing is evicted before its time, under a handle or by old
/// rules, and nothing is forgotten.
@Suite struct PlannedEvictionsTests {
  private struct File {
    let eviction: SystemEviction
    let rule: String
    let generation: UInt64
    let materializedAt: MonotonicTime
    var lastClose: MonotonicTime

    /// The earliest moment at which it may be evicted.
    var due: MonotonicTime? {
      [eviction.afterMaterialization.map { materializedAt + $0 }, eviction.idle.map { lastClose + $0 }].compactMap {
        $0
      }
      .min()
    }
  }

  /// The engine around it, without files.
  private struct Driver {
    var planned = PlannedEvictions()
    var files: [NodeIndex: File] = [:]
    var open: Set<NodeIndex> = []
    var now = MonotonicTime(nanoseconds: 0)
    var calls: [MonotonicTime] = []
    var rules = 0
    let seed: UInt64

    mutating func callNext() {
      if let call = planned.nextCall() { calls.append(call) }
    }

    mutating func plan(_ node: NodeIndex, _ random: inout TestRandom) {
      var eviction = SystemEviction()
      if random.oneIn(2) { eviction.idle = Nanoseconds(Int64(random.below(100))) }
      if random.oneIn(2) { eviction.afterMaterialization = Nanoseconds(Int64(random.below(100))) }
      if eviction.idle == nil, eviction.afterMaterialization == nil { eviction.beforeFirstRead = true }
      files[node] = File(
        eviction: eviction, rule: "rule \(rules)", generation: planned.generation, materializedAt: now, lastClose: now)
      _ = planned.plan(node, eviction, rule: "rule \(rules)", isRenewed: false, now: now)
    }

    mutating func close(_ node: NodeIndex) {
      open.remove(node)
      planned.closed(node, now: now)
      files[node]?.lastClose = now
    }

    /// What the timer lane does when it is time.
    mutating func evictDue(_ random: inout TestRandom) {
      while let call = calls.min(), call <= now {
        calls.removeAll { $0 == call }
        planned.called(at: call)
        let isOpen = open
        for (node, rule) in planned.removeDue(now, limit: 1 + random.below(3), isOpen: { isOpen.contains($0) }) {
          let file = files[node]
          let isDue = file?.generation == planned.generation && file?.due.map { $0 <= now } ?? false
          guard isDue, !open.contains(node), file?.rule == rule else {
            Issue.record("seed \(seed): \(node) is evicted before its time, while it is open, or by old rules")
            files[node] = nil
            planned.drop(node)
            continue
          }
          if random.oneIn(4) {
            // Opened meanwhile, or mapped.
            if random.oneIn(2) { open.insert(node) }
            planned.refused(node, isOpen: open.contains(node), now: now)
          } else {
            planned.drop(node)
            files[node] = nil
          }
        }
        callNext()
      }
    }

    mutating func changeRules() {
      rules += 1
      var (old, new) = (Simulation(), Simulation())
      old.rules = RuleSet([Self.rule("rule \(rules - 1)")])
      new.rules = RuleSet([Self.rule("rule \(rules)")])
      let isNew = planned.changeRules(from: old, to: new, restartsClock: false)
      #expect(isNew)
    }

    static func rule(_ name: String) -> Rule {
      var rule = Rule(name: name, match: RuleMatch(), effects: RuleEffects())
      rule.effects.evict = SystemEviction(idle: 1)
      return rule
    }
  }

  @Test(arguments: TestSeed.seeds) func evictsInTimeAndNothingElse(_ seed: UInt64) {
    var random = TestRandom(seed: seed)
    for _ in 0..<40 {
      var driver = Driver(seed: seed)
      let nodes = (2..<12).map { NodeIndex(rawValue: $0) }
      for _ in 0..<400 {
        let node = random.element(of: nodes)
        switch random.below(10) {
        case 0...2: if driver.files[node] == nil { driver.plan(node, &random) }
        case 3: driver.open.insert(node)
        case 4, 5: if driver.open.contains(node) { driver.close(node) }
        case 6:
          driver.planned.drop(node)
          driver.files[node] = nil
        case 7:
          let rule = driver.planned.ruleBeforeRead(node)
          let file = driver.files[node]
          let isWanted = file?.eviction.beforeFirstRead == true && file?.generation == driver.planned.generation
          #expect(rule == (isWanted ? file?.rule : nil), "seed \(seed)")
        case 8: if random.oneIn(20) { driver.changeRules() }
        default: driver.now = driver.now + Nanoseconds(Int64(random.below(30)))
        }
        driver.callNext()
        driver.evictDue(&random)
        #expect(driver.planned.counts.plans == driver.files.count, "seed \(seed)")
      }
      // Nobody opens anything any more: all that has a time is evicted, mapped files some time later.
      for node in driver.open { driver.close(node) }
      driver.callNext()
      for _ in 0..<500 {
        driver.now = driver.now + 10_000_000_000
        driver.evictDue(&random)
        for node in driver.open { driver.close(node) }
        driver.callNext()
      }
      let left = driver.files.values.filter { $0.due != nil && $0.generation == driver.planned.generation }
      #expect(left.isEmpty, "seed \(seed): \(left.count) files are never evicted")
    }
  }

  /// `idle: 0` was due again at once, as long as the file was open: the timer lane did nothing else.
  @Test func anOpenFileIsNotLookedAtBeforeItsClose() {
    var planned = PlannedEvictions()
    let (node, start) = (NodeIndex(rawValue: 2), MonotonicTime(nanoseconds: 0))
    let eviction = SystemEviction(idle: 0, afterMaterialization: 100)
    _ = planned.plan(node, eviction, rule: "r", isRenewed: false, now: start)
    let first = planned.nextCall()
    #expect(first == start)
    planned.called(at: start)
    let open = planned.removeDue(start, limit: 8) { _ in true }
    let next = planned.nextCall()
    #expect(open.isEmpty && next == nil)
    planned.closed(node, now: start + 10)
    let afterClose = planned.nextCall()
    #expect(afterClose == start + 10)
    let due = planned.removeDue(start + 10, limit: 8) { _ in false }
    #expect(due.map(\.node) == [node])
  }

  @Test func whatPresentersAreAskedAboutIsNotDueAgain() {
    var planned = PlannedEvictions()
    let (node, start) = (NodeIndex(rawValue: 2), MonotonicTime(nanoseconds: 0))
    _ = planned.plan(node, SystemEviction(idle: 100), rule: "r", isRenewed: false, now: start)
    let first = planned.removeDue(start + 100, limit: 8) { _ in false }
    planned.beginAsking(node)
    planned.closed(node, now: start + 150)
    let meanwhile = planned.removeDue(start + 300, limit: 8) { _ in false }
    #expect(first.map(\.node) == [node] && meanwhile.isEmpty)
    let rule = planned.endAsking(node, now: start + 300)
    let again = planned.endAsking(node, now: start + 300)
    #expect(rule == "r" && again == nil)
    planned.refused(node, isOpen: false, now: start + 300)
    let counts = planned.counts
    #expect(counts == (1, 1))
    // Used since it was asked about: it is filed for later.
    let late = MonotonicTime(nanoseconds: 10_000_000_000)
    let due = planned.removeDue(late, limit: 8) { _ in false }
    planned.beginAsking(node)
    planned.closed(node, now: late)
    let early = planned.endAsking(node, now: late + 50)
    let then = planned.removeDue(late + 100, limit: 8) { _ in false }
    #expect(due.count == 1 && early == nil && then.map(\.node) == [node])
    planned.beginAsking(node)
    planned.drop(node)
    let dropped = planned.endAsking(node, now: late + 200)
    #expect(dropped == nil)
  }

  @Test func rulesThatSayTheSameChangeNothing() {
    var planned = PlannedEvictions()
    var (none, some) = (Simulation(), Simulation())
    some.rules = RuleSet([Driver.rule("r")])
    var other = some
    other.seed += 1
    none.materialize = false
    let changes = [
      planned.changeRules(from: none, to: none, restartsClock: true),
      planned.changeRules(from: none, to: some, restartsClock: false),
      planned.changeRules(from: some, to: some, restartsClock: false),
      planned.changeRules(from: some, to: some, restartsClock: true),
      planned.changeRules(from: some, to: other, restartsClock: false),
    ]
    #expect(changes == [false, true, false, true, true] && planned.generation == 3)
    _ = planned.plan(
      NodeIndex(rawValue: 2), SystemEviction(idle: 1), rule: "r", isRenewed: false, now: MonotonicTime(nanoseconds: 0))
    #expect(planned.counts == (1, 1))
    // Nothing is evicted any more: nothing of it is left.
    let isNew = planned.changeRules(from: other, to: none, restartsClock: false)
    #expect(!isNew && planned.counts == (0, 0) && planned.generation == 4)
  }
}
