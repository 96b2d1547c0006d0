/// The rules of a scenario in their order, with an index: thousands of rules that each name a path, a folder or the end
/// of a name cost a few looks into a table.
///
/// Immutable, so that it is asked without a lock.
public struct RuleSet: Sendable {
  public let rules: [Rule]
  /// What each rule has done, by its place.
  var counters: [RuleCounter]
  /// Whether a rule asks for the calling process.
  public let needsProcess: Bool
  /// Whether a rule decides who may materialize.
  public let decidesPolicy: Bool
  /// Whether a rule wants stacks of callers.
  public let wantsStacks: Bool
  /// Whether a rule says something about stacks.
  public let decidesStacks: Bool
  /// Whether a rule evicts.
  public let decidesEviction: Bool
  /// The operations that rules say something about, and those that they may delay.
  let saidAccess: AccessOperations
  public let delayedAccess: AccessOperations
  /// Places of the rules by a whole path, by the end of a name, and all others.
  private let byPath: [[UInt8]: [Int]]
  private let bySuffix: [[UInt8]: [Int]]
  /// By the folder that a glob begins with.
  private let byFolder: [[UInt8]: [Int]]
  private let suffixLengths: [Int]
  private let others: [Int]

  public init(_ rules: [Rule]) {
    var byPath: [[UInt8]: [Int]] = [:]
    var bySuffix: [[UInt8]: [Int]] = [:]
    var byFolder: [[UInt8]: [Int]] = [:]
    var others: [Int] = []
    for (index, rule) in rules.enumerated() {
      var (paths, suffixes, folders): ([[UInt8]], [[UInt8]], [[UInt8]]) = ([], [], [])
      let patterns = rule.match.paths.flatMap(\.alternatives)
      for pattern in patterns {
        if let path = pattern.exactPath {
          paths.append(path)
        } else if let suffix = pattern.baseNameSuffix {
          suffixes.append(suffix)
        } else if let folder = pattern.literalPrefix {
          folders.append(folder)
        }
      }
      // One pattern of another kind, and the whole rule has to be looked at each time.
      guard !patterns.isEmpty, paths.count + suffixes.count + folders.count == patterns.count else {
        others.append(index)
        continue
      }
      for path in Set(paths) { byPath[path, default: []].append(index) }
      for suffix in Set(suffixes) { bySuffix[suffix, default: []].append(index) }
      for folder in Set(folders) { byFolder[folder, default: []].append(index) }
    }
    self.rules = rules
    counters = rules.map { _ in RuleCounter() }
    self.byPath = byPath
    self.bySuffix = bySuffix
    self.byFolder = byFolder
    self.others = others
    suffixLengths = Set(bySuffix.keys.map(\.count)).sorted()
    needsProcess = rules.contains { $0.match.process != nil || $0.match.ancestor != nil }
    decidesPolicy = rules.contains { $0.effects.materialize != nil }
    wantsStacks = rules.contains { $0.effects.stack == true }
    decidesStacks = rules.contains { $0.effects.stack != nil }
    decidesEviction = rules.contains { $0.effects.evict != nil }
    saidAccess = rules.reduce(into: []) { $0.formUnion($1.effects.access.said) }
    delayedAccess = rules.reduce(into: []) { $0.formUnion($1.effects.access.delayed) }
  }

  public var isEmpty: Bool { rules.isEmpty }

  /// The places of the rules that may match a path, rising.
  private func candidates(_ facts: TriggerFacts) -> [Int] {
    if facts.names.isEmpty { return candidates(facts.path) }
    return Set(facts.names.flatMap(candidates)).sorted()
  }

  private func candidates(_ path: [UInt8]) -> [Int] {
    if byPath.isEmpty, bySuffix.isEmpty, byFolder.isEmpty { return others }
    var found = byPath[path] ?? []
    if !byFolder.isEmpty {
      var folder = path[...]
      while !folder.isEmpty {
        if let rules = byFolder[Array(folder)] { found += rules }
        folder = folder.lastIndex(of: UInt8(ascii: "/")).map { folder[..<$0] } ?? []
      }
    }
    let nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
    for length in suffixLengths where path.count - nameStart >= length {
      if let rules = bySuffix[Array(path[(path.count - length)...])] { found += rules }
    }
    if found.isEmpty { return others }
    // A rule with several globs may have been found by more than one of them.
    let sorted = (found + others).sorted()
    return sorted.enumerated().filter { $0.offset == 0 || sorted[$0.offset - 1] != $0.element }.map(\.element)
  }

  /// What is decided about one trigger, but for rules that count attempts (`decideCounting`).
  ///
  /// - Parameter lineage: Asked at most once, and only if a rule needs it.
  public func decide(_ facts: TriggerFacts, lineage: () -> [ProcessFacts]) -> Decision {
    var decision = Decision()
    var known: [ProcessFacts]?
    for index in candidates(facts) {
      let rule = rules[index]
      guard rule.effects.decidesAttempts,
        Self.holds(rule.match, of: rule.name, facts: facts, known: &known, lineage: lineage)
      else {
        continue
      }
      if rule.match.countsAttempts {
        decision.counting.append(index)
      } else {
        decision.matched.append(index)
        decision.adopt(rule, at: index)
      }
    }
    return decision
  }

  /// What is decided if the attempt starts now: what rules that count attempts say is added. Nothing is counted yet.
  public func decideCounting(_ decision: inout Decision) {
    for place in decision.counting where rules[place].match.holds(nth: counters[place].next) {
      decision.matched.append(place)
      decision.adopt(rules[place], at: place)
    }
  }

  /// When the system evicts a resident file: the first rule that matches and says something about it. There is no
  /// caller.
  public func decideEviction(_ facts: TriggerFacts) -> Decision.Part<SystemEviction>? {
    guard decidesEviction else { return nil }
    var known: [ProcessFacts]? = []
    for index in candidates(facts) {
      let rule = rules[index]
      guard let eviction = rule.effects.evict,
        Self.holds(rule.match, of: rule.name, facts: facts, known: &known, lineage: { [] })
      else {
        continue
      }
      return Decision.Part(value: eviction, rule: rule.name, place: index)
    }
    return nil
  }

  /// How long a call on what is local is delayed: the first rule that matches and says something about the operation.
  /// nil: as the volume's settings have it.
  ///
  /// - Parameters:
  ///   - facts: The attempt is the call's number among those that were asked about: chance decides anew about each.
  ///   - lineage: As of `decide`.
  public func decideAccess(
    _ operation: AccessOperation, _ facts: TriggerFacts, lineage: () -> [ProcessFacts]
  ) -> Decision.Part<AccessEffect>? {
    guard saidAccess.contains(operation) else { return nil }
    var known: [ProcessFacts]?
    for index in candidates(facts) {
      let rule = rules[index]
      guard let effect = rule.effects.access.effect(on: operation),
        Self.holds(rule.match, of: rule.name, facts: facts, known: &known, lineage: lineage)
      else { continue }
      return Decision.Part(value: effect, rule: rule.name, place: index)
    }
    return nil
  }

  /// Whether the caller of a call on what is local is looked at: the first rule that matches and says something about
  /// it. nil: as the volume's setting has it. Rules that count attempts say nothing about calls.
  public func decideAccessStack(_ facts: TriggerFacts, lineage: () -> [ProcessFacts]) -> Bool? {
    guard decidesStacks else { return nil }
    var known: [ProcessFacts]?
    for index in candidates(facts) {
      let rule = rules[index]
      guard let wanted = rule.effects.stack, !rule.match.countsAttempts,
        Self.holds(rule.match, of: rule.name, facts: facts, known: &known, lineage: lineage)
      else { continue }
      return wanted
    }
    return nil
  }

  /// The conditions of each rule that stand in the way of a trigger, in order: nil for a rule that matches.
  ///
  /// - Parameter limit: How many rules are looked at.
  public func mismatches(_ facts: TriggerFacts, lineage: [ProcessFacts], limit: Int) -> [RuleCondition?] {
    var known: [ProcessFacts]? = lineage
    return rules.prefix(limit).enumerated().map { index, rule in
      Self.mismatch(rule.match, of: rule.name, facts: facts, known: &known, lineage: { lineage })
        ?? (rule.match.holds(nth: counters[index].next) ? nil : .nth)
    }
  }

  private static func holds(
    _ match: RuleMatch, of name: String, facts: TriggerFacts, known: inout [ProcessFacts]?,
    lineage: () -> [ProcessFacts]
  ) -> Bool { mismatch(match, of: name, facts: facts, known: &known, lineage: lineage) == nil }

  /// The first condition that does not hold.
  private static func mismatch(
    _ match: RuleMatch, of name: String, facts: TriggerFacts, known: inout [ProcessFacts]?,
    lineage: () -> [ProcessFacts]
  ) -> RuleCondition? {
    if !match.paths.isEmpty {
      let names = facts.names.isEmpty ? [facts.path] : facts.names
      if !match.paths.contains(where: { names.contains(where: $0.matches) }) { return .path }
    }
    if let size = match.size, facts.kind == .directory || !size.contains(facts.size) { return .size }
    if let kind = match.kind, kind != facts.kind { return .kind }
    if !match.triggers.isEmpty, !match.triggers.contains(facts.trigger) { return .trigger }
    if let attempts = match.attempts, !attempts.contains(facts.attempt) { return .attempt }
    if let every = match.everyAttempt, facts.attempt % every != 0 { return .attempt }
    if let window = match.window, !window.contains(facts.sinceLoaded) { return .during }
    if match.process != nil || match.ancestor != nil {
      let processes = known ?? lineage()
      known = processes
      if let process = match.process, processes.first.map(process.matches) != true { return .process }
      if let ancestor = match.ancestor, !processes.dropFirst().contains(where: ancestor.matches) { return .ancestor }
    }
    if let probability = match.probability {
      var random = SeededRandom(seed: facts.seed, .fault, rule: name, path: facts.path, attempt: facts.attempt)
      if random.unit() >= probability { return .probability }
    }
    return nil
  }
}

/// What rules are asked about.
public struct TriggerFacts: Sendable {
  public var path: [UInt8]
  /// All known names of a file that has several (hard links), that of `path` among them; else empty. One that matches
  /// will do.
  public var names: [[UInt8]]
  public var kind: MaterializationKind
  public var size: Int64
  public var trigger: Trigger
  /// The attempt that would start, from 1.
  public var attempt: Int
  /// Nanoseconds since the scenario was loaded.
  public var sinceLoaded: Nanoseconds
  public var seed: UInt64

  public init(
    path: [UInt8], names: [[UInt8]] = [], kind: MaterializationKind, size: Int64, trigger: Trigger, attempt: Int,
    sinceLoaded: Nanoseconds, seed: UInt64
  ) {
    self.path = path
    self.names = names
    self.kind = kind
    self.size = size
    self.trigger = trigger
    self.attempt = attempt
    self.sinceLoaded = sinceLoaded
    self.seed = seed
  }
}
