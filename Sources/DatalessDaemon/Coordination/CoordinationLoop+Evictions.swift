import DatalessCore

/// Content that is about to be evicted by a command: those who present it are asked first. An eviction is no intent: it
/// has no place in the order, and holds nothing.
extension CoordinationLoop {
  /// A command that evicts, from when presenters are asked until it is over.
  struct Eviction {
    /// With what of it concerns them.
    var asked: [UInt64: [UInt8]]
    let askedAt: MonotonicTime
    /// nil: it has gone on.
    var goOn: (@Sendable (UInt64?) -> Void)?
  }

  /// Asks those who present what is to be evicted.
  ///
  /// - Parameter goOn: Called once: with the number under which they were asked when all have answered, or their time
  ///   is up; with nil when there is nobody to be asked.
  func askBeforeEviction(of paths: [[UInt8]], goOn: @escaping @Sendable (UInt64?) -> Void) {
    let concerned = presenters.concerned(by: paths.map { AccessClaim($0, isWrite: true) })
    guard !concerned.isEmpty, !isEnding else { return goOn(nil) }
    let id = makeID()
    let now = now
    questions.ask(Set(concerned.keys), about: id, until: now + Self.answerMax)
    evictions[id] = Eviction(asked: concerned.mapValues { paths[$0] }, askedAt: now, goOn: goOn)
    for (presenter, index) in concerned.sorted(by: { $0.key < $1.key }) {
      tell(presenter, CoordinationAnswer(.evict, about: id, path: paths[index], others: paths.count - 1))
    }
  }

  /// A presenter has answered, or had its time.
  func record(evictionAnsweredBy presenter: UInt64, about id: UInt64, outcome: String) {
    guard let eviction = evictions[id], let client = clients[presenter], let path = presenters.path(of: presenter)
    else { return }
    record(
      .answered(
        intent: id, what: CoordinationAnswer.News.evict.word, took: now - eviction.askedAt, outcome: outcome),
      of: client, path: path)
  }

  /// All have answered, or have had their time: what waited for them goes on.
  func goOn(_ id: UInt64) {
    if let asker = clients[id] { return bring(asker) }
    guard let goOn = evictions[id]?.goOn else { return }
    evictions[id]?.goOn = nil
    goOn(id)
  }

  /// It is done, or was refused: those who were asked are told.
  func evictionIsOver(_ id: UInt64) {
    guard let eviction = evictions.removeValue(forKey: id) else { return }
    for (presenter, path) in eviction.asked.sorted(by: { $0.key < $1.key }) {
      tell(presenter, CoordinationAnswer(.ended, about: id, path: path))
    }
  }

  /// The volume ends: nothing waits for an answer any more.
  func endEvictions() {
    for id in evictions.keys.sorted() {
      questions.withdraw(id)
      goOn(id)
    }
    evictions = [:]
  }
}
