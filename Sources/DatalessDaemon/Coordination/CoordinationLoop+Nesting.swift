import DatalessCore

/// Intents within others: of the same process, of presenters that save first, and of what a command starts.
extension CoordinationLoop {
  /// How an intent is within others.
  struct Nesting {
    /// nil: within none.
    var outer: UInt64?
    /// Whether it is a presenter's, which saves before `outer` goes on.
    var isSaving = false
    /// Intents of `dataless coordinate` for a command that asks here, or that has started who does: they last until
    /// that has ended. The last one is the nearest.
    var commands: [UInt64] = []
  }

  /// - Returns: nil when the intent may not be within the one that it names: what that one holds is neither held by the
  ///   process, nor to be saved by a presenter of the process that was asked about it.
  func nesting(of client: CoordinationClient, within outer: UInt64?) -> Nesting? {
    var nesting = Nesting(outer: outer, commands: commands(around: client))
    guard let outer else { return nesting }
    guard let holder = clients[outer] else { return nil }
    switch holder.stage {
    case .granted where holder.pid == client.pid: return nesting
    case .asking where isAsked(client, about: holder):
      nesting.isSaving = true
      return nesting
    default: return nil
    }
  }

  /// Whether a presenter of a client's process has still to answer about an intent.
  private func isAsked(_ client: CoordinationClient, about holder: CoordinationClient) -> Bool {
    holder.asked.keys.contains { clients[$0]?.pid == client.pid && questions.isOpen($0, about: holder.id) }
  }

  /// Keeps what an intent has to do with those that it is within.
  func nest(_ client: CoordinationClient, _ nesting: Nesting) {
    guard let outer = nesting.outer, let holder = clients[outer] else { return }
    client.savesBefore = holder.savesBefore
    client.informed = holder.informed
    guard nesting.isSaving || !client.savesBefore.isEmpty else { return }
    if nesting.isSaving {
      client.savesBefore.append(outer)
      client.informed.formUnion(holder.asked.keys)
    }
    save(client)
  }

  /// Gives an intent its place in the order.
  func order(_ client: CoordinationClient, _ request: CoordinationRequest, nesting: Nesting) -> AccessStart {
    let start = order.begin(
      client.id, request.claims, within: nesting.outer, isApart: nesting.isSaving, yielders: nesting.commands)
    // Who waits for the command would be waited for: it comes with the command then, before those.
    guard start == .deadlock, nesting.outer == nil, let command = nesting.commands.last else { return start }
    let nested = order.begin(
      client.id, request.claims, within: command, isApart: true, yielders: nesting.commands)
    guard nested == .held || nested == .waits else { return .deadlock }
    client.request?.within = command
    return nested
  }

  // MARK: - Commands

  /// The intents of `dataless coordinate` that last until the process of a client has ended, as it is the command or
  /// descends from it, the nearest one last. What a client says of that is of no interest.
  private func commands(around client: CoordinationClient) -> [UInt64] {
    guard commandCount > 0, client.pid > 0 else { return [] }
    var found: [UInt64] = []
    for pid in [client.pid] + ProcessLineage.ancestors(of: client.pid) {
      // Newer ones are within older ones of the same process: it has become one command after the other.
      let own = byProcess.living(pid).filter { clients[$0]?.isCommand ?? false }
      found += own.sorted(by: >)
    }
    return found.reversed()
  }

  // MARK: - Renames

  /// What has a held name, or a presented one, has another one: who would wait for ever now is refused.
  func rename(_ from: [UInt8], to: [UInt8], with renames: inout JoinedRenames) {
    for id in order.rename(from, to: to, with: &renames) {
      guard let client = clients[id] else { continue }
      totals.deadlocks += 1
      refuse(id, deadlock(of: client, order.circle(of: id)))
    }
    for id in presenters.rename(from, to: to, with: &renames) {
      tell(id, CoordinationAnswer(.renamed, about: 0, path: presenters.path(of: id) ?? to))
    }
  }

  /// Renames that have happened together, and alone.
  func renamed(_ pairs: [(from: [UInt8], to: [UInt8])]) {
    var renames = JoinedRenames()
    for (from, to) in pairs { rename(from, to: to, with: &renames) }
  }

  // MARK: - Deadlocks

  /// - Parameter circle: nil when it is not known any more.
  func deadlock(of client: CoordinationClient, _ circle: AccessCircle?) -> CoordinationRefusal {
    let advice = "Give that back, or ask for all names at once"
    guard let circle else {
      return CoordinationRefusal(
        .deadlock, "those it would have to wait for wait for what is held here already. \(advice)")
    }
    var text = "it would wait at \(ErrorText.quoted(circle.path)) for \(name(circle.keeper, for: client))"
    if circle.last != circle.keeper { text += ", and that, in the end, for \(name(circle.last, for: client))" }
    return CoordinationRefusal(
      .deadlock, text + ", which does not end before this one does, or waits for what is held here already. \(advice)")
  }

  /// An intent, as far as who asks may know of it: other users' processes are root's to know.
  private func name(_ id: UInt64, for asker: CoordinationClient) -> String {
    guard let client = clients[id], let first = client.request?.claims.first else { return "intent \(id)" }
    guard client.caller.uid == asker.caller.uid || asker.caller.uid == 0 else { return "intent \(id) of another user" }
    let (process, processes) = (client.caller.process, surroundings.processes)
    // A command that has an intent was `dataless` when that was asked for.
    let name = processes.successor(of: process)?.comm ?? processes.info(process)?.comm
    let comm = name.map { ErrorText.quoted($0) } ?? "process"
    return "intent \(id) (\(ErrorText.quoted(first.path))) of \(comm) [\(client.pid)]"
  }
}
