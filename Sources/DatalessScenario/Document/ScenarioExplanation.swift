public import DatalessCore

/// What a scenario says about one part of an attempt, and where: `dataless explain`.
public struct ScenarioExplanation: Sendable, Equatable, CustomStringConvertible {
  /// `latency`, `bandwidth`, `fault`, `gate`, `materialize`, `stack` or `evict`; `access.read` and so on, of operations
  /// that the scenario delays.
  public var part: String
  /// As it was written, as JSON; nil when nothing is said, so that the default holds.
  public var value: String?
  /// The rule that decides; nil for the volume's own setting.
  public var rule: String?
  public var place: ScenarioDocument.Place?

  public var description: String {
    guard let value else { return "\(part): nothing is said" }
    guard let rule, let place else { return "\(part): \(value), the volume's setting" }
    return "\(part): \(value), by rule '\(rule)' (\(place.file):\(place.line))"
  }
}

extension ScenarioDocument {
  /// Which rule, or setting, decides each part of an attempt. By chance (`probability`) as for that very attempt.
  ///
  /// - Parameters:
  ///   - lineage: The calling process and its ancestors, nearest first; empty if none is meant: then rules that ask for
  ///     one do not hold.
  ///   - isResident: Whether the attempt before this one made the file resident: that is the one about whose eviction
  ///     was decided.
  public func explain(
    _ facts: TriggerFacts, lineage: [ProcessFacts] = [], isResident: Bool = false
  ) -> [ScenarioExplanation] {
    var decision = simulation.rules.decide(facts, lineage: { lineage })
    simulation.rules.decideCounting(&decision)
    let isFile = facts.kind == .file
    var parts = [
      explanation("latency", decision.latency?.place, setting: isFile ? "latency" : "directory_latency")
    ]
    // Directories have no transfer.
    if isFile {
      parts.append(explanation("bandwidth", decision.transferBandwidth?.place, setting: "transfer_bandwidth"))
      parts.append(explanation("hydration", decision.hydration?.place, setting: "hydration"))
    }
    parts.append(explanation("fault", decision.fault?.place, setting: nil))
    parts.append(explanation("gate", decision.gate?.place, setting: nil))
    parts.append(explanation("materialize", decision.materialize?.place, setting: "materialize"))
    if simulation.rules.decidesStacks || simulation.stacks != .off {
      parts.append(explanation("stack", decision.stack?.place, setting: "stacks"))
    }
    // Of what the attempt makes resident; directories are evicted by nobody but a command.
    if isFile {
      var evicted = facts
      if isResident { evicted.attempt = max(1, facts.attempt - 1) }
      parts.append(explanation("evict", simulation.rules.decideEviction(evicted)?.place, setting: nil))
    }
    // A call is no attempt; by chance as for the first one.
    var called = facts
    called.attempt = 1
    for operation in AccessOperation.allCases where simulation.delayedAccess.contains(operation) {
      let decided = simulation.rules.decideAccess(operation, called, lineage: { lineage })
      let part = "access." + operation.rawValue
      parts.append(explanation(part, decided?.place, setting: part))
    }
    return parts
  }

  private func explanation(_ part: String, _ index: Int?, setting: String?) -> ScenarioExplanation {
    func text(_ node: ScenarioNode?) -> String? { node.map { String(decoding: $0.json(pretty: false), as: UTF8.self) } }
    guard let index, case .sequence(let nodes) = root["rules"]?.value else {
      return ScenarioExplanation(part: part, value: setting.flatMap { text(root.value(at: $0)) })
    }
    let rule = simulation.rules.rules[index]
    return ScenarioExplanation(
      part: part, value: text(nodes[index].value(at: part)), rule: rule.name, place: places[index])
  }
}
