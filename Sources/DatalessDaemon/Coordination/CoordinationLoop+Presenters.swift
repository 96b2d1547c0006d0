import DatalessCore
import DequeModule
import Synchronization
import SystemPackage

/// Presenters: told before others use what they present, and asked to answer when they have saved it.
extension CoordinationLoop {
  /// How long a presenter may take to answer.
  static let answerMax = ItemQuestion.answerMax
  /// LIMIT: messages that a presenter, and all together, may leave unread, beside what their sockets take.
  private static let outboxMax = 4_096
  private static let unreadMax = 131_072

  /// Takes up a presenter. - Throws: Why not.
  func present(
    _ client: CoordinationClient, _ head: CoordinationHead, text: ArraySlice<UInt8>
  ) throws(CoordinationRefusal) {
    guard head.kind == .presenter else { throw CoordinationRefusal(.badRequest, "nobody has asked yet") }
    let request = try head.request(text)
    guard let path = request.claims.first?.path else { return }
    try checkPresented(path)
    client.stage = .presenting
    presenters.add(client.id, path: path)
    mailbox.hasPresenters.store(true, ordering: .releasing)
    record(.started, of: client, path: path)
    CoordinationSocket.send(
      CoordinationAnswer(granted: client.id, waited: 0, materialized: 0).encoded, to: client.descriptor)
  }

  /// No intent is for such a name, so a presenter of it would hear nothing.
  private func checkPresented(_ path: [UInt8]) throws(CoordinationRefusal) {
    switch surroundings.engine.coordinatedItem(path) {
    case .link:
      throw CoordinationRefusal(
        .throughLink,
        "\(ErrorText.quoted(path)) is, or is reached by, a symbolic link: present what it leads to, as others name that"
      )
    case .notADirectory:
      throw CoordinationRefusal(
        FSError(.notDirectory, "what is on the way to \(ErrorText.quoted(path)) is no directory"))
    case .found, .absent, .noDirectory, .insideDataless: break
    }
  }

  /// A presenter is no more: nobody waits for its answers.
  func stopPresenting(_ client: CoordinationClient, outcome: String, message: String?) {
    let path = presenters.path(of: client.id) ?? []
    presenters.remove(client.id)
    if presenters.isEmpty { mailbox.hasPresenters.store(false, ordering: .releasing) }
    let goOn = questions.gone(client.id)
    record(.finished(outcome: outcome, message: message), of: client, path: path)
    for id in goOn { self.goOn(id) }
  }

  // MARK: - Saving first

  /// An intent is asked for in which a presenter saves before another one goes on, or is within such a one.
  func save(_ client: CoordinationClient) {
    for outer in client.savesBefore {
      let own = clients[outer]?.asked.keys.filter { clients[$0]?.pid == client.pid } ?? []
      questions.save(client.id, by: Set(own), before: outer)
    }
  }

  /// An intent has ended: what waited for what was saved in it goes on.
  func saved(_ client: CoordinationClient) {
    for progress in questions.saved(client.id) {
      for presenter in progress.answered { record(answerOf: presenter, about: progress.intent, outcome: "ok") }
      if progress.goesOn { goOn(progress.intent) }
    }
  }

  /// The time to save is over: who still does so writes beside the one that goes on now, and loses what it holds.
  private func endSaves(_ saves: [UInt64]) {
    // Those that wait first: none of them is to be granted by the end of another one.
    for id in saves where clients[id]?.stage == .waiting {
      refuse(
        id,
        CoordinationRefusal(
          .outerNotHeld,
          "the time to save first is over, and the access about which the presenter was asked goes on: "
            + "look at the file anew, and ask without it"))
    }
    for id in saves where clients[id]?.isHeld ?? false {
      totals.takenAway += 1
      end(
        id,
        CoordinationRefusal(
          .takenAway,
          "it was not over \(Self.answerMax.rawValue / 1_000_000_000) s after the presenter was asked, and the access that "
            + "waited for it goes on: what is saved now is coordinated with nobody"))
    }
  }

  // MARK: - Questions

  /// Asks those who present what an intent is for. - Returns: False when there is nobody to be asked.
  func ask(_ client: CoordinationClient) -> Bool {
    guard !presenters.isEmpty, let request = client.request, !request.options.contains(.metadataOnly) else {
      return false
    }
    var concerned = presenters.concerned(by: request.claims)
    // Who uses it is not asked about it, and who knows of the access before which it is saved has handed it over, or
    // is about to.
    for id in client.informed { concerned[id] = nil }
    for id in Array(concerned.keys) where client.pid != 0 && clients[id]?.pid == client.pid { concerned[id] = nil }
    guard !concerned.isEmpty else { return false }
    client.stage = .asking
    questions.ask(Set(concerned.keys), about: client.id, until: now + Self.answerMax)
    for (id, index) in concerned.sorted(by: { $0.key < $1.key }) {
      let claim = request.claims[index]
      let news = Self.news(of: claim, request.options)
      client.asked[id] = news
      tell(id, CoordinationAnswer(news, about: client.id, path: claim.path, others: request.claims.count - 1))
    }
    return true
  }

  private static func news(of claim: AccessClaim, _ options: CoordinationOptions) -> CoordinationAnswer.News {
    guard claim.isWrite else { return .read }
    if options.contains(.deleting) { return .delete }
    if options.contains(.moving) { return .move }
    return options.contains(.replacing) ? .replace : .write
  }

  /// A presenter has answered. What it was not asked, or has answered, is nothing.
  func answered(_ presenter: CoordinationClient, about id: UInt64) {
    let (wasAsked, isLast) = questions.answer(presenter.id, about: id)
    guard wasAsked else { return }
    record(answerOf: presenter.id, about: id, outcome: "ok")
    if isLast { goOn(id) }
  }

  /// Intents go on when presenters have had their time; who has not answered is named.
  func expireQuestions(at now: MonotonicTime) {
    for expired in questions.expire(at: now) {
      for presenter in expired.presenters { record(answerOf: presenter, about: expired.intent, outcome: "timed_out") }
      endSaves(expired.saves)
      goOn(expired.intent)
    }
  }

  /// An intent is no more: those who were asked about it are told.
  func endQuestions(of client: CoordinationClient) {
    for presenter in questions.withdraw(client.id) { record(client, answeredBy: presenter, outcome: "withdrawn") }
    guard let path = client.request?.claims.first?.path else { return }
    for id in client.asked.keys.sorted() { tell(id, CoordinationAnswer(.ended, about: client.id, path: path)) }
  }

  private func record(answerOf presenter: UInt64, about id: UInt64, outcome: String) {
    guard let client = clients[id] else {
      return record(announcementAnsweredBy: presenter, about: id, outcome: outcome)
    }
    record(client, answeredBy: presenter, outcome: outcome)
  }

  private func record(_ client: CoordinationClient, answeredBy id: UInt64, outcome: String) {
    guard let presenter = clients[id], let path = presenters.path(of: id), let news = client.asked[id] else { return }
    record(
      .answered(intent: client.id, what: news.word, took: now - (client.heldAt ?? now), outcome: outcome),
      of: presenter, path: path)
  }

  func record(_ step: Event.Presenter.Step, of client: CoordinationClient, path: [UInt8]) {
    surroundings.log.record(
      .presenter(Event.Presenter(presenter: client.id, step: step, path: path, caller: client.caller, time: now)))
  }

  // MARK: - News

  func tellPresenters(_ news: CoordinationAnswer.News, of path: [UInt8]) {
    for id in presenters.concerned(by: path).sorted() { tell(id, CoordinationAnswer(news, about: 0, path: path)) }
  }

  func tell(_ id: UInt64, _ answer: CoordinationAnswer) {
    guard let client = clients[id], client.stage == .presenting else { return }
    if client.outbox.isEmpty, CoordinationSocket.send(answer.encoded, to: client.descriptor) { return }
    guard client.outbox.count < Self.outboxMax else { return cutOff(client) }
    client.outbox.append(answer.encoded)
    unread += 1
    if client.outbox.count == 1 { watch(client, isFull: true) }
    if unread > Self.unreadMax { cutOffFirst() }
  }

  /// Of all together too much is unread: not who is told just now, but who reads least.
  private func cutOffFirst() {
    var messages = UnreadMessages()
    for client in clients.values where client.stage == .presenting {
      messages.add(client.id, of: client.pid, count: client.outbox.count)
    }
    if let first = messages.first.flatMap({ clients[$0] }) { cutOff(first) }
  }

  /// A presenter is no more, and is told why in the place of what it has not read: as soon as its socket takes that.
  /// Until then it stays one of the connections that there may be.
  private func cutOff(_ client: CoordinationClient) {
    let refusal = CoordinationRefusal(
      .badRequest, "\(client.outbox.count) messages are unread: a presenter has to read its own")
    unread += 1 - client.outbox.count
    client.outbox = [CoordinationAnswer(refusal, of: client.id).encoded]
    client.stage = .leaving
    watch(client, isFull: true)
    stopPresenting(client, outcome: refusal.outcome, message: refusal.message)
  }

  /// A presenter reads on.
  func sendRest(to id: UInt64) {
    guard let client = clients[id] else { return }
    while let next = client.outbox.first, CoordinationSocket.send(next, to: client.descriptor) {
      client.outbox.removeFirst()
      unread -= 1
    }
    guard client.outbox.isEmpty else { return }
    if client.stage == .leaving { end(id, outcome: "ended") } else { watch(client, isFull: false) }
  }
}
