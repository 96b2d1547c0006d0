internal import DatalessCore

/// How rules stand to each other: those that can decide nothing any more, and gates that meet.
enum RuleOverlaps {
  static func warnings(_ rules: [Rule], _ places: [ScenarioDocument.Place]) -> [ScenarioWarning] {
    let shadowed = shadows(rules, places)
    return shadowed.warnings + gates(rules, places, besides: shadowed.rules)
  }

  private static func warning(_ place: ScenarioDocument.Place, _ message: String) -> ScenarioWarning {
    ScenarioWarning(file: place.file, line: place.line, column: place.column, message: message)
  }

  /// Where another rule stands, seen from one.
  private static func told(_ other: ScenarioDocument.Place, from place: ScenarioDocument.Place) -> String {
    other.file == place.file ? "line \(other.line)" : "\(other.file):\(other.line)"
  }

  // MARK: - Rules behind others

  /// Parts of a rule are bits; behind these eight come the operations of `access`.
  private static let partCount = 8 + AccessOperation.allCases.count

  private static func parts(_ effects: RuleEffects) -> UInt16 {
    let others: UInt16 =
      (effects.latency != nil ? 1 : 0) | (effects.transferBandwidth != nil ? 2 : 0) | (effects.fault != nil ? 4 : 0)
      | (effects.gate != nil ? 8 : 0) | (effects.materialize != nil ? 16 : 0) | (effects.hydration != nil ? 32 : 0)
      | (effects.evict != nil ? 64 : 0) | (effects.stack != nil ? 128 : 0)
    return others | UInt16(effects.access.said.rawValue) << 8
  }

  /// A part of a rule is never used if an earlier rule says it under the same conditions, or under some of them.
  private static func shadows(
    _ rules: [Rule], _ places: [ScenarioDocument.Place]
  ) -> (warnings: [ScenarioWarning], rules: Set<Int>) {
    // For each set of conditions seen, which rule was the first to say each part.
    var first: [MatchKey: [Int?]] = [:]
    // More kinds of conditions than these hardly occur; what follows grows with them.
    var masks: Set<UInt16> = []
    var (warnings, shadowed): ([ScenarioWarning], Set<Int>) = ([], [])
    for (index, rule) in rules.enumerated() {
      let key = MatchKey(rule.match)
      let said = parts(rule.effects)
      var hidden: UInt16 = 0
      var by = index
      for mask in masks where mask & ~key.mask == 0 {
        guard let earlier = first[mask == key.mask ? key : MatchKey(rule.match, keeping: mask)] else { continue }
        for part in 0..<partCount where said & (1 << part) != 0 {
          guard let place = earlier[part] else { continue }
          hidden |= 1 << part
          by = min(by, place)
        }
      }
      if hidden == said {
        shadowed.insert(index)
        if warnings.count < ScenarioLimits.problems {
          warnings.append(
            warning(
              places[index], shadowMessage(rule, earlier: rules[by], place: told(places[by], from: places[index]))))
        }
      }
      // A rule that holds by chance, or for some of its attempts, leaves something to those behind it.
      guard rule.match.probability == nil, !rule.match.countsAttempts, masks.contains(key.mask) || masks.count < 16
      else { continue }
      masks.insert(key.mask)
      var places = first[key] ?? Array(repeating: nil, count: partCount)
      for part in 0..<partCount where said & (1 << part) != 0 && places[part] == nil { places[part] = index }
      first[key] = places
    }
    return (warnings, shadowed)
  }

  private static func shadowMessage(_ rule: Rule, earlier: Rule, place: String) -> String {
    "rule '\(rule.name)' never decides anything: '\(earlier.name)' in \(place) comes first, under the same conditions or "
      + "fewer. Put it before that one, or remove it."
  }

  // MARK: - Gates

  private static func gates(
    _ rules: [Rule], _ places: [ScenarioDocument.Place], besides shadowed: Set<Int>
  ) -> [ScenarioWarning] {
    var warnings: [ScenarioWarning] = []
    let gated = Array(
      rules.indices.lazy.filter { rules[$0].effects.gate != nil && !shadowed.contains($0) }
        .prefix(ScenarioLimits.comparedGates))
    for (number, later) in gated.enumerated() {
      let earlier = gated[..<number].first {
        rules[$0].effects.gate != rules[later].effects.gate
          && !MatchDisjointness.areDisjoint(rules[$0].match, rules[later].match)
      }
      guard let earlier, warnings.count < ScenarioLimits.problems else { continue }
      let (gate, first) = (rules[later].effects.gate ?? "", rules[earlier].effects.gate ?? "")
      warnings.append(
        warning(
          places[later],
          "gates overlap: an attempt that matches here and '\(rules[earlier].name)' in "
            + "\(told(places[earlier], from: places[later])) is held at '\(first)' only, never at '\(gate)'. Narrow one of "
            + "the two, or use one gate."))
    }
    return warnings
  }
}

/// The conditions of a rule in a form that can be looked up, and cut down to some of them.
struct MatchKey: Hashable {
  private struct Process: Hashable {
    var executables: Set<PathPattern>
    var commandNames: Set<PathPattern>
    var cgroups: Set<PathPattern>
    var uids: Set<UInt32>

    init(_ match: ProcessMatch) {
      executables = Set(match.executables)
      commandNames = Set(match.commandNames)
      cgroups = Set(match.cgroups)
      uids = Set(match.uids)
    }
  }

  /// Which conditions there are, as bits.
  private(set) var mask: UInt16 = 0
  private var paths: Set<PathPattern> = []
  private var size: ClosedRange<Int64>?
  private var kind: MaterializationKind?
  private var triggers: Set<Trigger> = []
  private var process: Process?
  private var ancestor: Process?
  private var attempts: ClosedRange<Int>?
  private var every: Int?
  private var window: Range<Nanoseconds>?

  /// - Parameter kept: Which of the conditions count; the others are left out.
  init(_ match: RuleMatch, keeping kept: UInt16 = .max) {
    func has(_ bit: UInt16, _ isGiven: Bool) -> Bool {
      guard isGiven, kept & (1 << bit) != 0 else { return false }
      mask |= 1 << bit
      return true
    }
    if has(0, !match.paths.isEmpty) { paths = Set(match.paths) }
    if has(1, match.size != nil) { size = match.size }
    if has(2, match.kind != nil) { kind = match.kind }
    if has(3, !match.triggers.isEmpty) { triggers = match.triggers }
    if has(4, match.process != nil) { process = match.process.map(Process.init) }
    if has(5, match.ancestor != nil) { ancestor = match.ancestor.map(Process.init) }
    if has(6, match.attempts != nil) { attempts = match.attempts }
    if has(7, match.everyAttempt != nil) { every = match.everyAttempt }
    if has(8, match.window != nil) { window = match.window }
  }
}

/// Whether no attempt can match two rules. Only what can be proved counts: false means "perhaps some can".
enum MatchDisjointness {
  static func areDisjoint(_ left: RuleMatch, _ right: RuleMatch) -> Bool {
    if let first = left.kind, let second = right.kind, first != second { return true }
    if let first = left.size, let second = right.size, !first.overlaps(second) { return true }
    if left.size != nil, right.kind == .directory { return true }
    if right.size != nil, left.kind == .directory { return true }
    if !left.triggers.isEmpty, !right.triggers.isEmpty, left.triggers.isDisjoint(with: right.triggers) { return true }
    if let first = left.attempts, let second = right.attempts, !first.overlaps(second) { return true }
    if let first = left.window, let second = right.window, !first.overlaps(second) { return true }
    if arePathsDisjoint(left.paths, right.paths) { return true }
    // Not the ancestors: a process has many of them, and two rules may each mean another.
    if let first = left.process, let second = right.process { return areDisjoint(first, second) }
    return false
  }

  private static func areDisjoint(_ left: ProcessMatch, _ right: ProcessMatch) -> Bool {
    if !left.uids.isEmpty, !right.uids.isEmpty, Set(left.uids).isDisjoint(with: right.uids) { return true }
    return arePathsDisjoint(left.executables, right.executables)
      || arePathsDisjoint(left.commandNames, right.commandNames) || arePathsDisjoint(left.cgroups, right.cgroups)
  }

  /// Every pattern of one list against every one of the other; long lists are not compared.
  static func arePathsDisjoint(_ left: [PathPattern], _ right: [PathPattern]) -> Bool {
    guard !left.isEmpty, !right.isEmpty else { return false }
    let (left, right) = (left.flatMap(\.alternatives), right.flatMap(\.alternatives))
    guard left.count * right.count <= 100 else { return false }
    return left.allSatisfy { first in right.allSatisfy { second in areDisjoint(first, second) } }
  }

  static func areDisjoint(_ left: PathPattern.Alternative, _ right: PathPattern.Alternative) -> Bool {
    let (first, second) = (Ends(left), Ends(right))
    if let path = first.wholePath { return !right.matches(path) }
    if let path = second.wholePath { return !left.matches(path) }
    // What a path starts and ends with must suit both.
    let length = min(first.suffix.count, second.suffix.count)
    if first.suffix.suffix(length) != second.suffix.suffix(length) { return true }
    let start = min(first.prefix.count, second.prefix.count)
    return first.prefix.prefix(start) != second.prefix.prefix(start)
  }

  /// What all paths that match a pattern have in common.
  private struct Ends {
    var prefix: ArraySlice<UInt8> = []
    var suffix: ArraySlice<UInt8> = []
    /// The only path, for a pattern with a slash and without wildcards.
    var wholePath: [UInt8]?

    init(_ pattern: PathPattern.Alternative) {
      let slash = UInt8(ascii: "/")
      let text = pattern.text.first == slash ? pattern.text[1...] : pattern.text[...]
      let isWhole = pattern.text.contains(slash)
      guard let first = text.firstIndex(where: PathValues.isMeta) else {
        suffix = text
        if isWhole {
          prefix = text
          wholePath = Array(text)
        }
        return
      }
      // With brackets and backslashes it is not plain to see where the last wildcard ends.
      let isPlain = !text.contains(UInt8(ascii: "[")) && !text.contains(UInt8(ascii: "\\"))
      if isPlain, let last = text.lastIndex(where: PathValues.isMeta) {
        suffix = text[(last + 1)...]
        // `**/name` also means `name` at the root, without the slash.
        if suffix.first == slash { suffix = suffix.dropFirst() }
      }
      guard isWhole else { return }
      // Up to the last slash before the wildcard, and without it: `photos/**` also means `photos`.
      let fixed = text[..<first]
      prefix = fixed.lastIndex(of: slash).map { fixed[..<$0] } ?? []
    }
  }
}
