internal import DatalessCore

/// An entry of `expect` as it was read: bounds under the same conditions.
struct ExpectationDraft: Sendable {
  struct Bound: Sendable {
    var measure: Expectation.Measure
    var bound: Int64 = 0
    var paths: [PathPattern] = []
  }

  var name: String?
  var match = RuleMatch()
  var bounds: [Bound] = []
  var node: ScenarioNode
}

/// The fields of an entry of `expect` and of its `match`.
enum ExpectFields {
  static let list = ScenarioValue<[ExpectationDraft]>(
    schema: .object([
      "type": .text("array"), "maxItems": .plain("\(ScenarioLimits.expectations)"),
      "items": entry.schema,
    ])
  ) { node, decoder in
    guard case .sequence(let nodes) = node.value else {
      decoder.fail(
        node, "\(node.kindName) instead of a list. Start each expectation with '- ', as in '- max_files: 10'.")
      return nil
    }
    guard nodes.count <= ScenarioLimits.expectations else {
      decoder.fail(
        node, "\(nodes.count) expectations; at most \(ScenarioLimits.expectations) are possible. Use globs instead.")
      return nil
    }
    if nodes.isEmpty {
      decoder.warn(node, "nothing is expected, so nothing can fail. Add '- max_files: 10' or the like.")
    }
    return nodes.compactMap { entry.read($0, &decoder) }
  }

  static let entry = ScenarioValue<ExpectationDraft>(schema: table.schema) { node, decoder in
    var draft = ExpectationDraft(node: node)
    guard table.read(node, into: &draft, &decoder) else { return nil }
    if draft.bounds.isEmpty {
      decoder.fail(
        node, "an expectation that expects nothing. Give it at least one of \(boundNames.joined(separator: ", ")).")
      return nil
    }
    for bound in draft.bounds {
      if let reason = never(bound, draft.match) ?? HarmlessBound.emptyFiles(draft.match) {
        decoder.fail(node, "nothing can violate '\(bound.measure.rawValue)' here: \(reason)")
        return nil
      }
      if let words = HarmlessBound.words(bound, draft.match) { decoder.warn(node, words) }
    }
    return draft
  }.named("expectation")

  /// Why nothing that meets the conditions can violate the bound; nil if something can.
  private static func never(_ bound: ExpectationDraft.Bound, _ match: RuleMatch) -> String? {
    switch bound.measure {
    case .maxTogether: neverTogether(match)
    case .maxFiles, .maxBytes, .maxNeedless, .maxRepeated:
      match.kind == .directory
        ? "it is about files. Remove 'kind', or use max_dirs."
        : only(match, RuleFields.directoryTriggers).map {
          "it is about files, and only directories are materialized by \($0). Remove 'trigger', or use max_dirs."
        }
    case .maxDirectories:
      match.kind == .file
        ? "it is about directories. Remove 'kind', or use max_files."
        : match.size != nil
          ? "directories have no size. Remove 'size', or use max_files."
          : only(match, RuleFields.fileTriggers).map {
            "it is about directories, and only files are materialized by \($0). Remove 'trigger', or use max_files."
          }
    case .forbidUnneededBlocking:
      !match.triggers.isEmpty && !match.triggers.contains(.lookup)
        ? "it is about lookups. Remove 'trigger'."
        : match.size != nil ? "the log has no size of what is looked up. Remove 'size'." : nil
    case .maxWait:
      only(match, [.eager]).map { "nobody waits for what comes by \($0). Remove 'trigger'." }
    case .forbid, .allow, .baseline: nil
    case .maxMainThread, .maxSerialWaits, .maxRefusals, .maxParallel, .minParallel: neverOfCaller(bound.measure, match)
    }
  }

  /// The same of bounds for what callers wait for, are refused, or have under way.
  private static func neverOfCaller(_ measure: Expectation.Measure, _ match: RuleMatch) -> String? {
    let notOfThreads: Set<Trigger> = [.command, .eager, .coordinate]
    switch measure {
    case .maxMainThread:
      return only(match, notOfThreads).map {
        "no thread of a program is blocked by \($0). Remove 'trigger'"
          + (match.triggers.contains(.coordinate) ? ", or use max_wait." : ".")
      }
    case .maxSerialWaits:
      if match.kind == .directory { return "it is about files. Remove 'kind', or use max_dirs." }
      return only(match, notOfThreads.union(RuleFields.directoryTriggers)).map {
        "it is about files, and no thread of a program waits for one by \($0). Remove 'trigger'."
      }
    case .maxRefusals:
      return only(match, [.command, .eager]).map {
        "policy refuses nothing that is asked for by \($0). Remove 'trigger'."
      }
    case .maxParallel, .minParallel:
      return match.kind != nil
        ? nil
        : only(match, RuleFields.directoryTriggers).map {
          "it is about files, and only directories are materialized by \($0). Add 'kind: directory' for these."
        }
    default: return nil
    }
  }

  /// The triggers of the conditions, if there are any and all of them are among these; else nil.
  private static func only(_ match: RuleMatch, _ triggers: Set<Trigger>) -> String? {
    guard !match.triggers.isEmpty, match.triggers.isSubset(of: triggers) else { return nil }
    return Trigger.allCases.filter { match.triggers.contains($0) }.map(\.rawValue).joined(separator: ", ")
  }

  private static func neverTogether(_ match: RuleMatch) -> String? {
    match.kind == .directory
      ? "it is about files. Remove 'kind'."
      : !match.triggers.isEmpty && !match.triggers.contains(.write)
        ? "it is about writes. Remove 'trigger'."
        : match.size != nil ? "the log has no size of what is written to. Remove 'size'." : nil
  }

  static let boundNames = Expectation.Measure.allCases.filter { $0 != .baseline }.map(\.rawValue)

  static let table = ScenarioFields<ExpectationDraft>(
    what: "an expectation",
    fields: [
      ScenarioField(
        "name",
        summary:
          "What verdicts call it; unique. 1 to 64 letters, digits, '.', '-', '_'. Default: expect-<n>, counted from 1.",
        value: BasicValues.name("an expectation")
      ) { $0.name = $1 },
      ScenarioField(
        "match", summary: "To what the bounds apply: every given condition must hold. Default: to all.",
        value: match
      ) { $0.match = $1 },
      count(.maxFiles, "Files of which content becomes local, at most."),
      ScenarioField(
        "max_bytes", summary: "Bytes that become local, at most.", value: BasicValues.size
      ) { $0.add(.maxBytes, $1) },
      count(.maxDirectories, "Directories that are listed, at most."),
      duration(.maxWait, "How long one caller may be blocked."),
      duration(.maxMainThread, "How long the main thread of a program may be blocked at once."),
      count(.maxNeedless, "Files that are fetched and of which at most 5 % is read, at most."),
      count(.maxRefusals, "Times that policy refuses a caller, at most."),
      ScenarioField(
        "max_parallel", summary: "Files that one process has under way at the same moment, at most.",
        value: BasicValues.integer(0...1_000_000, "a whole number from 0 to 1000000")
      ) { $0.add(.maxParallel, Int64($1) * 100) },
      ScenarioField(
        "min_parallel",
        summary:
          "Files that a process which materializes several has under way on average, at least: a number from 1 to 1000000 with at most "
          + "two decimals.",
        value: hundredths
      ) { $0.add(.minParallel, $1) },
      count(.maxRepeated, "How often one file is materialized again after its eviction, at most."),
      ScenarioField(
        "max_serial_waits", summary: "Files that one process waits for one after the other, at most.",
        value: BasicValues.integer(1...1_000_000_000_000, "a whole number, 1 or more")
      ) { $0.add(.maxSerialWaits, Int64($1)) },
      ScenarioField(
        "forbid_unneeded_blocking",
        summary: "Whether no lookup may block of which nothing is opened, listed or changed afterwards.", value: isOn
      ) { draft, _ in draft.add(.forbidUnneededBlocking, 0) },
      count(
        .maxTogether,
        "Files that are written to while another process has them open, without a lock or an intent, at most."),
      ScenarioField(
        "forbid", summary: "Globs of paths of which nobody may materialize anything, or try to.",
        value: PathValues.globs
      ) { $0.bounds.append(.init(measure: .forbid, paths: $1)) },
      ScenarioField(
        "allow",
        summary:
          "Globs of paths that may be materialized, and the directories on the way there; all else is forbidden.",
        value: PathValues.globs
      ) { $0.bounds.append(.init(measure: .allow, paths: $1)) },
    ],
    constraints: [
      ScenarioNode.Entry(
        key: "anyOf", value: .list(boundNames.map { .object(["required": .list([.text($0)])]) }))
    ],
    elsewhere: [
      (matchNames, "It is a condition: put it under 'match'."),
      (["max_directories"], "It is called 'max_dirs'."),
      (["baseline"], "It is an option: --baseline FILE of 'dataless run' and 'dataless check-log'."),
    ])

  static let matchNames = ["path", "size", "kind", "trigger", "process", "ancestor"]

  /// As that of rules, without the conditions that count attempts or depend on chance and time.
  static let matchTable = ScenarioFields<RuleMatch>(
    what: "'match' of an expectation",
    fields: RuleFields.matchTable.fields.filter { matchNames.contains($0.name) },
    constraints: RuleFields.matchTable.constraints,
    elsewhere: [
      (["name"] + boundNames, "It is no condition: put it beside 'match'."),
      (["exe", "comm", "cgroup", "uid"], "Write 'process: {exe: ...}' or 'ancestor: {exe: ...}'."),
      (
        RuleFields.matchNames.filter { !matchNames.contains($0) },
        "It is a condition of rules only: an expectation counts all attempts."
      ),
    ])

  private static let match = ScenarioValue<RuleMatch>(schema: matchTable.schema) { node, decoder in
    var match = RuleMatch()
    guard matchTable.read(node, into: &match, &decoder) else { return nil }
    if let contradiction = RuleFields.contradiction(of: match, never: "so nothing can meet the conditions.") {
      decoder.fail(node, contradiction)
      return nil
    }
    return match
  }.named("expectation_match")

  // MARK: - Values

  private static func count(_ measure: Expectation.Measure, _ summary: String) -> ScenarioField<ExpectationDraft> {
    ScenarioField(
      measure.rawValue, summary: summary,
      value: BasicValues.integer(0...1_000_000_000_000, "a whole number, 0 or more")
    ) { $0.add(measure, Int64($1)) }
  }

  private static func duration(_ measure: Expectation.Measure, _ summary: String) -> ScenarioField<ExpectationDraft> {
    ScenarioField(measure.rawValue, summary: summary, value: BasicValues.duration) { $0.add(measure, $1.rawValue) }
  }

  /// A bound without a number: it is there, or left out.
  private static let isOn = ScenarioValue<Bool>(
    schema: .object(["enum": .list([.plain("true")] + ["on", "true", "yes"].map { .text($0) })])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "on") else { return nil }
    if ["on", "true", "yes"].contains(text) { return true }
    decoder.fail(node, "'\(Suggestion.quotable(text))' expects nothing. Write on, or leave it out.")
    return nil
  }

  private static let hundredths = ScenarioValue<Int64>(
    schema: .object([
      "type": .text("number"), "minimum": .plain("1"), "maximum": .plain("1000000"),
    ])
  ) { node, decoder in
    guard let text = decoder.text(node, expected: "a number such as 2 or 1.5") else { return nil }
    if let value = Expectation.hundredths(text) { return value }
    decoder.fail(
      node,
      "'\(Suggestion.quotable(text))' is not possible; expected a number from 1 to 1000000 with at most two decimals, such as "
        + "2 or 1.5.")
    return nil
  }
}

extension ExpectationDraft {
  fileprivate mutating func add(_ measure: Expectation.Measure, _ bound: Int64) {
    bounds.append(Bound(measure: measure, bound: bound))
  }
}
