import DatalessCore

/// What is told of intents, in the log and to who asks.
extension CoordinationLoop {
  func snapshot() -> CoordinationSnapshot {
    var snapshot = CoordinationSnapshot(waiting: waiting, totals: totals)
    let now = now
    snapshot.presenters = presenters.count
    // Presenters, and those that are still read, are none: thousands of them may be older.
    let intents = clients.values.filter { $0.request != nil }.sorted { $0.id < $1.id }
    snapshot.granted = intents.count { $0.stage == .granted }
    snapshot.preparing = intents.count { $0.stage == .asking || $0.stage == .preparing }
    for client in intents.prefix(Self.listedMax) {
      guard let request = client.request else { continue }
      let id = client.id
      let blockers = client.stage == .waiting ? order.blockers(of: id).intents : questions.saves(before: id)
      let asks = client.stage == .asking ? client.asked.keys.filter { questions.isOpen($0, about: id) }.sorted() : []
      snapshot.intents.append(
        .init(
          id: id, caller: client.caller,
          stage: "\(client.stage)",
          reads: request.reads, writes: request.writes, options: request.options.names, within: request.within,
          path: request.claims.first?.path ?? [], age: now - client.since, waitsFor: blockers,
          asks: asks, presenters: asks.prefix(Self.presentersNamed).compactMap { presenter($0) }))
    }
    return snapshot
  }

  /// LIMIT: presenters of one intent that are told by name: as many as those that an intent waits for.
  private static let presentersNamed = 8

  private func presenter(_ id: UInt64) -> CoordinationSnapshot.Presenter? {
    guard let client = clients[id], let path = presenters.path(of: id) else { return nil }
    return CoordinationSnapshot.Presenter(id: id, caller: client.caller, path: path)
  }
}
