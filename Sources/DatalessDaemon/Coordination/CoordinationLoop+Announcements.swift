import DatalessCore

/// What is about to be done to items without an intent: content is evicted, or what SOURCE has changed is taken over.
/// It has no place in the order, and holds nothing; those who present the items are asked first.
extension CoordinationLoop {
  /// What was announced, from when presenters are asked until it is over.
  struct Announcement {
    let news: CoordinationAnswer.News
    /// With what of it concerns them.
    let asked: [UInt64: [UInt8]]
    let askedAt: MonotonicTime
    /// nil: it has gone on.
    var goOn: (@Sendable (UInt64?) -> Void)?
  }

  /// Asks those who present what something is about to be done to.
  ///
  /// - Parameter goOn: As `ItemPresenters.ask` has it.
  func announce(_ question: ItemQuestion, goOn: @escaping @Sendable ([Int], UInt64?) -> Void) {
    let all = Array(question.paths.indices)
    guard !presenters.isEmpty, !isEnding else { return goOn(all, nil) }
    let places = question.splits ? all.filter { presenters.isConcerned(by: question.paths[$0]) } : all
    let concerned = presenters.concerned(by: places.map { AccessClaim(question.paths[$0], isWrite: true) })
    guard !concerned.isEmpty else { return goOn(all, nil) }
    if places.count < all.count {
      let held = Set(places)
      goOn(all.filter { !held.contains($0) }, nil)
    }
    let id = makeID()
    let now = now
    let limit = now + Self.answerMax
    questions.ask(Set(concerned.keys), about: id, until: min(question.until ?? limit, limit))
    let news: CoordinationAnswer.News = question.what == .evict ? .evict : .change
    announced[id] = Announcement(
      news: news, asked: concerned.mapValues { question.paths[places[$0]] }, askedAt: now,
      goOn: { goOn(places, $0) })
    for (presenter, index) in concerned.sorted(by: { $0.key < $1.key }) {
      let path = question.paths[places[index]]
      tell(presenter, CoordinationAnswer(news, about: id, path: path, others: places.count - 1))
    }
  }

  /// A presenter has answered, or had its time.
  func record(announcementAnsweredBy presenter: UInt64, about id: UInt64, outcome: String) {
    guard let announcement = announced[id], let client = clients[presenter],
      let path = presenters.path(of: presenter)
    else { return }
    record(
      .answered(
        intent: id, what: announcement.news.word, took: now - announcement.askedAt, outcome: outcome),
      of: client, path: path)
  }

  /// All have answered, or have had their time: what waited for them goes on.
  func goOn(_ id: UInt64) {
    if let asker = clients[id] { return asker.stage == .asking && !isEnding ? bring(asker) : () }
    guard let goOn = announced[id]?.goOn else { return }
    announced[id]?.goOn = nil
    goOn(id)
  }

  /// It is done, or was refused: those who were asked are told.
  func announcementIsOver(_ id: UInt64) {
    guard let announcement = announced.removeValue(forKey: id) else { return }
    for (presenter, path) in announcement.asked.sorted(by: { $0.key < $1.key }) {
      tell(presenter, CoordinationAnswer(.ended, about: id, path: path))
    }
  }

  /// The volume ends: nothing waits for an answer any more.
  func endAnnouncements() {
    for id in announced.keys.sorted() {
      questions.withdraw(id)
      goOn(id)
    }
    announced = [:]
  }
}
