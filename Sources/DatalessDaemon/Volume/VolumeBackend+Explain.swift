import DatalessControl
import DatalessCore
import DatalessScenario
import SystemPackage

/// `dataless explain`: asks the rules about a trigger that does not happen.
extension VolumeBackend {
  /// LIMIT: rules beyond these are counted only.
  private static let rulesMax = 1000

  func explain(_ query: ExplainQuery) async throws -> ExplainAnswer {
    let node = try known(query.path)
    guard let item = engine.describe(node), let facts = engine.facts(of: node, trigger: query.trigger) else {
      throw FSError(.staleNFSFileHandle, "the item has just gone")
    }
    guard item.state != "other" else {
      throw FSError(
        .invalidArgument,
        "'\(String(decoding: query.path, as: UTF8.self))' is neither a file nor a directory: it has no content to materialize"
      )
    }
    let document = await volume.scenario.document
    let (process, lineage) = try process(query.pid)
    let isResident = item.state == "resident"
    let parts = document.explain(facts, lineage: lineage, isResident: isResident).map { part in
      ExplainedPart(part: part.part, value: Self.text(part), rule: part.rule)
    }
    let profile = document.simulation.profile
    return ExplainAnswer(
      path: item.path, kind: facts.kind.rawValue, state: item.state, sizeBytes: facts.size,
      trigger: facts.trigger.rawValue, isTrigger: profile.triggers(facts.trigger, on: facts.kind),
      profile: profile.name,
      errnos: ProfileStatus.names(profile.errnos(of: facts.kind)), attempt: Int64(facts.attempt),
      isOffline: document.simulation.isOffline,
      process: process, parts: parts,
      rules: rules(document, facts: facts, lineage: lineage, parts: parts, hasProcess: query.pid != nil),
      ruleCount: Int64(document.simulation.rules.rules.count))
  }

  private func process(_ pid: Int32?) throws(FSError) -> (WireProcess?, [ProcessFacts]) {
    guard let pid else { return (nil, []) }
    guard let (record, lineage) = volume.processes.inspect(pid) else {
      throw FSError(.noSuchProcess, "there is no process \(pid)")
    }
    return (volume.wire(record, pid: record.pid ?? 0), lineage)
  }

  private func rules(
    _ document: ScenarioDocument, facts: TriggerFacts, lineage: [ProcessFacts], parts: [ExplainedPart],
    hasProcess: Bool
  ) -> [ExplainedRule] {
    let rules = document.simulation.rules
    var decided: [String: [String]] = [:]
    for part in parts {
      if let rule = part.rule { decided[rule, default: []].append(part.part) }
    }
    return zip(rules.rules, rules.mismatches(facts, lineage: lineage, limit: Self.rulesMax)).map { rule, mismatch in
      if let parts = decided[rule.name] {
        return ExplainedRule(name: rule.name, verdict: "decides", reason: parts.joined(separator: ", "))
      }
      guard let mismatch else {
        return ExplainedRule(
          name: rule.name, verdict: "overruled", reason: "rules before it decide all that it says")
      }
      return ExplainedRule(
        name: rule.name, verdict: "no_match", reason: Self.reason(mismatch, facts, hasProcess: hasProcess))
    }
  }

  private static func reason(_ condition: RuleCondition, _ facts: TriggerFacts, hasProcess: Bool) -> String {
    switch condition {
    case .path:
      facts.names.isEmpty ? "the path does not match" : "none of the file's \(facts.names.count) names matches"
    case .size: facts.kind == .directory ? "it asks for a size, and a directory has none" : "the size is \(facts.size)"
    case .kind: "the item is a \(facts.kind.rawValue)"
    case .trigger: "the trigger is \(facts.trigger.rawValue)"
    case .attempt: "it is attempt \(facts.attempt) of the item"
    case .nth: "it counts the attempts that meet its conditions, and this is not its turn"
    case .during: "the scenario was loaded \(DurationText.format(facts.sinceLoaded.duration)) ago"
    case .process: hasProcess ? "the process does not match" : "it asks for a process, and none is named (--pid)"
    case .ancestor: hasProcess ? "no ancestor matches" : "it asks for an ancestor, and no process is named (--pid)"
    case .probability: "chance says no for this attempt"
    }
  }

  /// As the scenario has it, a text without its quotes; the default where it says nothing.
  private static func text(_ part: ScenarioExplanation) -> String {
    guard let json = part.value else { return part.part == "materialize" ? "on" : "none" }
    guard json.hasPrefix("\""), json.hasSuffix("\""), json.utf8.count >= 2, !json.contains("\\") else { return json }
    return String(json.dropFirst().dropLast())
  }
}
