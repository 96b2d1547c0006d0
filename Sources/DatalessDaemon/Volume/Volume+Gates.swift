import DatalessControl
import DatalessCore

/// The gates of a volume as the control API shows them.
extension Volume {
  func gateList() -> GateList {
    var rules: [String: [String]] = [:]
    for rule in engine.simulation.rules.rules {
      if let gate = rule.effects.gate { rules[gate, default: []].append(rule.name) }
    }
    let limit = KernelLocks.hungTaskTimeoutSeconds()
    return GateList(
      gates: engine.gates().map { gate in
        GateStatus(
          name: gate.name, isOpen: gate.isOpen, callers: Int64(gate.callers), attemptCount: Int64(gate.attemptCount),
          rules: rules[gate.name] ?? [], held: gate.held.map { held($0, hungTaskTimeoutSeconds: limit) })
      })
  }

  private func held(_ attempt: AttemptSnapshot, hungTaskTimeoutSeconds limit: Int64?) -> HeldAttempt {
    HeldAttempt(
      attempt: attempt.attempt, path: attempt.path, kind: attempt.kind.rawValue,
      heldNanoseconds: attempt.stageNanoseconds, waiterCount: Int64(attempt.waiterCount),
      waiters: attempt.waiters.map(wire), blocks: KernelLocks.sentences(attempt),
      warning: KernelLocks.warning(attempt, hungTaskTimeoutSeconds: limit))
  }
}
