import DatalessControl
import DatalessCore
import SystemPackage

/// The gates of a volume as the control API shows them.
extension Volume {
  func gateList() -> GateList {
    var rules: [String: [String]] = [:]
    for rule in engine.simulation.rules.rules {
      let gates = Set([rule.effects.gate].compactMap(\.self) + rule.effects.access.gates)
      for gate in gates { rules[gate, default: []].append(rule.name) }
    }
    let limit = KernelLocks.hungTaskTimeoutSeconds()
    return GateList(
      gates: engine.gates().map { gate in
        GateStatus(
          name: gate.name, isOpen: gate.isOpen, callers: Int64(gate.callers), attemptCount: Int64(gate.attemptCount),
          rules: rules[gate.name] ?? [], held: gate.held.map { held($0, hungTaskTimeoutSeconds: limit) },
          accessCount: Int64(gate.accessCount), accesses: gate.accesses.map(wire))
      })
  }

  private func held(_ attempt: AttemptSnapshot, hungTaskTimeoutSeconds limit: Int64?) -> HeldAttempt {
    HeldAttempt(
      attempt: attempt.attempt, path: attempt.path, kind: attempt.kind.rawValue,
      heldNanoseconds: attempt.stageAge.rawValue, waiterCount: Int64(attempt.waiterCount),
      waiters: attempt.waiters.map(wire), blocks: KernelLocks.sentences(attempt),
      warning: KernelLocks.warning(attempt, hungTaskTimeoutSeconds: limit))
  }
}

/// What rules have done, for the log and for `run`.
extension Volume {
  func ruleCounts() -> RuleCounts {
    RuleCounts(
      engine.ruleCounts.map { RuleCount(name: $0.name, attempts: $0.attempts, decided: $0.decided) })
  }
}

extension LogValue {
  init(_ counts: RuleCounts) {
    self = .object([
      LogField(key: "count", value: .integer(counts.count)),
      LogField(key: "never_fired", value: .integer(counts.neverFired)),
      LogField(
        key: "rules",
        value: .array(
          counts.rules.map { rule in
            .object([
              LogField(key: "name", value: .string(rule.name)),
              LogField(key: "attempts", value: .integer(rule.attempts)),
              LogField(key: "decided", value: .integer(rule.decided)),
            ])
          })),
    ])
  }
}

/// Profile and presentation as the control API shows them.
extension ProfileStatus {
  init(_ profile: Profile) {
    self.init(
      name: profile.name, files: profile.triggerNames(of: .file), directories: profile.triggerNames(of: .directory),
      errnos: Self.names(profile.fileErrnos), directoryErrnos: Self.names(profile.directoryErrnos),
      residentChanges: profile.residentChanges.rawValue)
  }

  static func names(_ errnos: Profile.Errnos) -> [String: String] {
    var names = [
      "refused": errnos.refused.name, "offline": errnos.offline.name, "timeout": errnos.timeout.name,
      "superseded": errnos.superseded.name, "gone": errnos.gone.name,
    ]
    names["failed"] = errnos.failed?.name
    return names
  }
}

extension PresentationStatus {
  init(_ presentation: Presentation, subtype: String) {
    self.init(
      blocks: presentation.blocks.rawValue, ctime: presentation.changeTime.rawValue, seek: presentation.seek.rawValue,
      state: presentation.state.map { String(decoding: $0.name, as: UTF8.self) },
      stateListed: presentation.state?.isListed ?? false, subtype: subtype)
  }
}
