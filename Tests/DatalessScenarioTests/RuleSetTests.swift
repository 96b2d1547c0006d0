import DatalessCore
import DatalessScenario
import Testing

/// The index of a rule set against looking at every rule in turn.
@Suite struct RuleSetTests {
  private static let names = ["a", "b", "c.jpg", "d.png", "e.jpg", "photos", "x"]

  private static func path(_ random: inout SeededRandom) -> String {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in names.randomElement(using: &random) ?? "a" }
      .joined(separator: "/")
  }

  private static func pattern(_ random: inout SeededRandom) -> PathPattern? {
    let text =
      switch Int.random(in: 0..<8, using: &random) {
      case 0: "/" + path(&random)
      case 1: "*.jpg"
      case 2: "*" + (names.randomElement(using: &random) ?? "a")
      case 3: path(&random) + "/**"
      case 4: "**/" + path(&random)
      case 5: "*.{jpg,\(names.randomElement(using: &random) ?? "a")}"
      case 6: "{\(path(&random)),photos/**,*.png}"
      default: "photos/*.png"
      }
    return PathPattern(Array(text.utf8))
  }

  private static func rule(_ index: Int, _ random: inout SeededRandom) -> Rule {
    func maybe(_ share: Double) -> Bool { random.unit() < share }
    var (match, effects) = (RuleMatch(), RuleEffects())
    if maybe(0.8) { match.paths = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in pattern(&random) } }
    if maybe(0.2) { match.size = Int64.random(in: 0...50, using: &random)...Int64.random(in: 50...100, using: &random) }
    if maybe(0.2) { match.kind = maybe(0.5) ? .file : .directory }
    if maybe(0.2) { match.triggers = [.read, .lookup] }
    if maybe(0.2) { match.attempts = 1...Int.random(in: 1...3, using: &random) }
    if maybe(0.1) { match.everyAttempt = 2 }
    if maybe(0.1) { match.window = 0..<50 }
    if maybe(0.2) { match.probability = random.unit() }
    if maybe(0.2) {
      var process = ProcessMatch()
      process.uids = [maybe(0.5) ? 0 : 1000]
      if maybe(0.5) { match.process = process } else { match.ancestor = process }
    }
    if maybe(0.4) { effects.latency = LatencyModel(.fixed(Nanoseconds(Int64(index)))) }
    if maybe(0.3) { effects.transferBandwidth = Int64(index + 1) }
    if maybe(0.3) { effects.fault = Fault(.never) }
    if maybe(0.3) { effects.gate = "g\(index)" }
    if maybe(0.2) { effects.materialize = maybe(0.5) }
    return Rule(name: "r\(index)", match: match, effects: effects)
  }

  private static func facts(_ random: inout SeededRandom) -> TriggerFacts {
    TriggerFacts(
      path: Array(path(&random).utf8), kind: random.unit() < 0.7 ? .file : .directory,
      size: Int64.random(in: 0...100, using: &random), trigger: Trigger.allCases.randomElement(using: &random) ?? .read,
      attempt: Int.random(in: 1...5, using: &random), sinceLoaded: Nanoseconds(.random(in: 0...100, using: &random)),
      seed: 3)
  }

  /// Written from the words of docs/SCENARIOS.md, without an index.
  private static func holds(_ match: RuleMatch, _ index: Int, _ facts: TriggerFacts, _ lineage: [ProcessFacts]) -> Bool
  {
    guard match.paths.isEmpty || match.paths.contains(where: { $0.matches(facts.path) }) else { return false }
    guard match.kind == nil || match.kind == facts.kind else { return false }
    guard match.size == nil || facts.kind == .file && match.size?.contains(facts.size) == true else { return false }
    guard match.triggers.isEmpty || match.triggers.contains(facts.trigger) else { return false }
    guard match.attempts?.contains(facts.attempt) != false else { return false }
    guard match.everyAttempt == nil || facts.attempt.isMultiple(of: match.everyAttempt ?? 1) else { return false }
    guard match.window?.contains(facts.sinceLoaded) != false else { return false }
    if let process = match.process, !(lineage.prefix(1).contains { process.matches($0) }) { return false }
    if let ancestor = match.ancestor, !(lineage.dropFirst().contains { ancestor.matches($0) }) { return false }
    guard let probability = match.probability else { return true }
    var random = SeededRandom(seed: facts.seed, .fault, rule: "r\(index)", path: facts.path, attempt: facts.attempt)
    return random.unit() < probability
  }

  @Test func theIndexDecidesAsLookingAtEveryRuleDoes() {
    var random = SeededRandom(key: 21)
    let lineages = [[0, 1000], [1000, 0], [5], []].map { (uids: [UInt32]) in
      uids.map { ProcessFacts(executable: nil, commandName: nil, cgroup: nil, uid: $0) }
    }
    var decided = 0
    for _ in 0..<200 {
      let rules = (0..<Int.random(in: 0...40, using: &random)).map { Self.rule($0, &random) }
      let set = RuleSet(rules)
      for _ in 0..<200 {
        let facts = Self.facts(&random)
        let lineage = lineages.randomElement(using: &random) ?? []
        let found = set.decide(facts, lineage: { lineage })
        let matching = rules.indices.filter { Self.holds(rules[$0].match, $0, facts, lineage) }
        #expect(found.latency?.place == matching.first { rules[$0].effects.latency != nil })
        #expect(found.transferBandwidth?.place == matching.first { rules[$0].effects.transferBandwidth != nil })
        #expect(found.fault?.place == matching.first { rules[$0].effects.fault != nil })
        #expect(found.gate?.place == matching.first { rules[$0].effects.gate != nil })
        #expect(found.materialize?.place == matching.first { rules[$0].effects.materialize != nil })
        #expect(found.materialize?.value == matching.lazy.compactMap { rules[$0].effects.materialize }.first)
        decided += found.fault == nil ? 0 : 1
      }
    }
    #expect(decided > 1000)
  }

  @Test func theProcessIsAskedForOnceAndOnlyIfARuleNeedsIt() throws {
    let text =
      "rules:\n  - {match: {process: {uid: 0}, path: \"*.jpg\"}, gate: a}\n  - {match: {ancestor: {uid: 1}}, fault: EIO}\n"
    let set = try ScenarioText.parse(text).simulation.rules
    var asked = 0
    func decide(_ set: RuleSet) {
      asked = 0
      _ = set.decide(
        TriggerFacts(
          path: Array("a.jpg".utf8), kind: .file, size: 1, trigger: .read, attempt: 1, sinceLoaded: 0, seed: 0),
        lineage: {
          asked += 1
          return []
        })
    }
    decide(set)
    #expect(asked == 1)
    #expect(set.needsProcess)
    decide(try ScenarioText.parse("rules: [{fault: EIO}]").simulation.rules)
    #expect(asked == 0)
  }
}
