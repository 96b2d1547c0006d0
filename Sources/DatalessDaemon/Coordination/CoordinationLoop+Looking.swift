import CDatalessLinux
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
    for client in Self.listed(intents) {
      guard let request = client.request else { continue }
      let id = client.id
      let isWaiting = client.stage == .waiting
      let blockers = isWaiting ? order.blockers(of: id) : (path: [], intents: questions.saves(before: id))
      let asks = client.stage == .asking ? client.asked.keys.filter { questions.isOpen($0, about: id) }.sorted() : []
      snapshot.intents.append(
        .init(
          id: id, caller: client.caller,
          stage: "\(client.stage)",
          reads: request.reads, writes: request.writes, options: request.options.names, within: request.within,
          path: request.claims.first?.path ?? [], age: now - client.since, waitsFor: blockers.intents,
          waitsAt: isWaiting && !blockers.intents.isEmpty ? blockers.path : nil,
          asks: asks, presenters: asks.prefix(Self.presentersNamed).compactMap { presenter($0) }))
    }
    return snapshot
  }

  /// A process, and none of its threads: nobody knows which of them will use it.
  func caller(of peer: clinux_peer) -> Caller {
    var caller = surroundings.processes.caller(threadID: peer.process, uid: peer.user, gid: peer.group)
    (caller.threadID, caller.isMainThread) = (0, false)
    return caller
  }

  /// Records why something was refused before it was an intent. Of a flood the first one is told, and the others are
  /// counted.
  ///
  /// - Parameter caller: Called when it is to be told at once. nil: nobody knows.
  func record(
    _ refusal: CoordinationRefusal, of id: UInt64, process: Int32, caller: () -> Caller?
  ) {
    let now = now
    let event = refusals.add(refusal, of: id, process: process, at: now) {
      Event.Coordination(
        intent: id, step: .finished(outcome: refusal.outcome, held: nil, message: refusal.message), path: [], reads: 0,
        writes: 0,
        caller: caller()
          ?? Caller(process: .unknown, threadID: 0, pid: process, isMainThread: false, uid: 0, gid: 0), time: now)
    }
    if let event { surroundings.log.record(.coordination(event)) }
  }

  /// Of too many those that wait first, as they are what is asked for.
  private static func listed(_ intents: [CoordinationClient]) -> [CoordinationClient] {
    guard intents.count > listedMax else { return intents }
    let waiting = intents.filter { $0.stage != .granted }
    let granted = intents.filter { $0.stage == .granted }
    let some = granted.prefix(max(listedMax / 4, listedMax - waiting.count))
    return (waiting.prefix(listedMax - some.count) + some).sorted { $0.id < $1.id }
  }

  /// LIMIT: presenters of one intent that are told by name: as many as those that an intent waits for.
  private static let presentersNamed = 8

  private func presenter(_ id: UInt64) -> CoordinationSnapshot.Presenter? {
    guard let client = clients[id], let path = presenters.path(of: id) else { return nil }
    return CoordinationSnapshot.Presenter(id: id, caller: client.caller, path: path)
  }
}
