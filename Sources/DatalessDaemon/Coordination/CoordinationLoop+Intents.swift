import DatalessCore
import DequeModule
import Synchronization

/// The life of an intent: read, in the order, prepared, granted, ended.
extension CoordinationLoop {
  /// Takes up what a client asks for.
  func begin(_ id: UInt64, _ result: Result<CoordinationRequest, CoordinationRefusal>) {
    guard let client = clients[id] else { return }
    let request: CoordinationRequest
    switch result {
    case .success(let read): request = read
    case .failure(let refusal): return refuse(id, refusal)
    }
    guard places + request.places <= Self.placesMax else {
      return refuse(
        id,
        CoordinationRefusal(
          .busy,
          "the intents that are there have \(places) names, of \(Self.placesMax) at most. Ask again when some have ended"
        ))
    }
    let nesting = nesting(of: client, within: request.within)
    guard let nesting else { return refuse(id, Self.outerNotHeld) }
    client.request = request
    places += request.places
    mailbox.hasIntents.store(true, ordering: .releasing)
    nest(client, nesting)
    switch order(client, request, nesting: nesting) {
    case .held:
      record(client, .started(waitsFor: [], place: []))
      prepare([id])
    case .waits:
      client.stage = .waiting
      waiting += 1
      let blockers = order.blockers(of: id)
      record(client, .started(waitsFor: blockers.intents, place: blockers.path))
    case .deadlock:
      totals.deadlocks += 1
      record(client, .started(waitsFor: [], place: []))
      refuse(id, deadlock(of: client, order.lastCircle))
    case .outerNotHeld: refuse(id, Self.outerNotHeld)
    case .tooManyWithin:
      refuse(id, CoordinationRefusal(.busy, "at most \(AccessOrder.withinMax) intents may be within one"))
    }
  }

  private static let outerNotHeld = CoordinationRefusal(
    .outerNotHeld, "the intent that this one was to be within is not granted to this process, or not any more")

  /// Goes on with intents that are held in the order now. One that fails ends at once, and others are held then: they
  /// come in turn, however many they are.
  private func prepare(_ held: [UInt64]) {
    ready.append(contentsOf: held)
    guard !isPreparing else { return }
    isPreparing = true
    while let next = ready.popFirst() { if let client = clients[next], !isEnding { prepare(client) } }
    isPreparing = false
  }

  private func prepare(_ client: CoordinationClient) {
    if client.stage == .waiting { waiting -= 1 }
    client.heldAt = now
    if !ask(client) { bring(client) }
  }

  /// Brings here what is not, on no thread that waits.
  func bring(_ client: CoordinationClient) {
    guard let request = client.request else { return }
    client.stage = .preparing
    client.answeredAt = now
    let (id, mailbox) = (client.id, mailbox)
    // What is ready at once is answered at once, without the mail.
    let box = PreparedBox()
    let fetch = CoordinatedFetch(
      engine: surroundings.engine, request: request, caller: client.caller, makeWaiter: surroundings.makeWaiter
    ) { result in
      if !box.put(result) { mailbox.post(.prepared(id, result)) }
    }
    client.fetch = fetch
    if request.claims.count > Self.ownClaimsMax {
      fetchLane.submit { fetch.run() }
    } else {
      fetch.run()
    }
    if let result = box.close() { prepared(id, result) }
  }

  /// All is here, or cannot be.
  func prepared(_ id: UInt64, _ result: Result<Int64, CoordinationRefusal>) {
    guard let client = clients[id], client.stage == .preparing else { return }
    client.fetch = nil
    switch result {
    case .failure(let refusal): refuse(id, refusal)
    case .success(let materialized):
      let now = now
      client.stage = .granted
      client.grantedAt = now
      totals.granted += 1
      if client.isCommand { commandCount += 1 }
      let waited = (client.heldAt ?? now) - client.since
      record(
        client,
        .granted(
          waited: waited, asking: (client.answeredAt ?? now) - (client.heldAt ?? now),
          materializing: now - (client.answeredAt ?? now), materialized: materialized))
      CoordinationSocket.send(
        CoordinationAnswer(granted: id, waited: waited, materialized: materialized).encoded, to: client.descriptor)
    }
  }

  // MARK: - The end

  /// Answers that an intent will not be granted.
  func refuse(_ id: UInt64, _ refusal: CoordinationRefusal) {
    totals.refused += 1
    // What has a request has a record of its end.
    if let client = clients[id], client.request == nil {
      record(refusal, of: id, process: client.pid) { client.caller }
    }
    end(id, refusal)
  }

  /// Tells a client why its intent has ended, and ends it.
  func end(_ id: UInt64, _ refusal: CoordinationRefusal) {
    guard let client = clients[id] else { return }
    let kind: CoordinationAnswer.Kind = client.stage == .granted ? .takenAway : .answer
    CoordinationSocket.send(CoordinationAnswer(refusal, of: id, kind: kind).encoded, to: client.descriptor)
    end(id, outcome: refusal.outcome, message: refusal.message)
  }

  /// Gives back what an intent held, and goes on with those that waited for it.
  func end(_ id: UInt64, outcome: String, message: String? = nil) {
    guard let client = clients[id] else { return }
    if client.request != nil {
      let held = client.grantedAt.map { now - $0 }
      record(client, .finished(outcome: outcome, held: held, message: message))
    }
    forget(client, outcome: outcome, message: message)
    endQuestions(of: client)
    prepare(order.end(id))
    saved(client)
  }

  func record(_ client: CoordinationClient, _ step: Event.Coordination.Step) {
    guard let request = client.request, let first = request.claims.first else { return }
    let names = request.claims.count > 1 ? request.claims.prefix(8).map(\.path) : []
    surroundings.log.record(
      .coordination(
        Event.Coordination(
          intent: client.id, step: step, path: first.path, names: names, reads: request.reads,
          writes: request.writes, options: request.options.names, within: request.within, caller: client.caller,
          time: now)))
  }
}

/// Takes a result that comes while its task is being begun; later ones go by mail.
private final class PreparedBox: Sendable {
  private enum State {
    case open
    case filled(Result<Int64, CoordinationRefusal>)
    case closed
  }

  private let state = Mutex(State.open)

  /// - Returns: False when nobody looks into it any more.
  func put(_ result: Result<Int64, CoordinationRefusal>) -> Bool {
    state.withLock { state in
      guard case .open = state else { return false }
      state = .filled(result)
      return true
    }
  }

  func close() -> Result<Int64, CoordinationRefusal>? {
    state.withLock { state in
      defer { state = .closed }
      if case .filled(let result) = state { return result }
      return nil
    }
  }
}
