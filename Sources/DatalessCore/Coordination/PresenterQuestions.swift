internal import DequeModule

/// What presenters were asked, and have not answered: an intent goes on when all have, or its time is up. The same
/// holds for what is announced to them without an intent, which has a number as intents have.
public struct PresenterQuestions: Sendable {
  private struct Question {
    var open: Set<UInt64>
    let until: MonotonicTime
  }

  private var questions: [UInt64: Question] = [:]
  /// Of each presenter, the intents about which it was asked.
  private var asked: [UInt64: Set<UInt64>] = [:]
  /// The first one is up first. Nearly all have the same time, so that new ones come to the end.
  private var times = Deque<(intent: UInt64, until: MonotonicTime)>()

  public init() {}

  /// When the time of the first is up; nil: nobody is asked anything.
  public var next: MonotonicTime? { times.first?.until }

  /// Whether a presenter has still to answer about an intent.
  public func isOpen(_ presenter: UInt64, about intent: UInt64) -> Bool {
    questions[intent]?.open.contains(presenter) ?? false
  }

  /// - Parameter presenters: Not empty.
  public mutating func ask(_ presenters: Set<UInt64>, about intent: UInt64, until: MonotonicTime) {
    questions[intent] = Question(open: presenters, until: until)
    for presenter in presenters { asked[presenter, default: []].insert(intent) }
    var place = times.endIndex
    while place > times.startIndex, times[place - 1].until > until { place -= 1 }
    times.insert((intent, until), at: place)
  }

  /// A presenter has answered. What nobody asked it is nothing.
  ///
  /// - Returns: Whether it was asked, and was the last one, so that the intent goes on.
  public mutating func answer(_ presenter: UInt64, about intent: UInt64) -> (wasAsked: Bool, isLast: Bool) {
    guard questions[intent]?.open.remove(presenter) != nil else { return (false, false) }
    forget(intent, of: presenter)
    guard questions[intent]?.open.isEmpty ?? false else { return (true, false) }
    questions[intent] = nil
    trim()
    return (true, true)
  }

  /// A presenter is no more. - Returns: The intents that go on.
  public mutating func gone(_ presenter: UInt64) -> [UInt64] {
    (asked[presenter] ?? []).sorted().filter { answer(presenter, about: $0).isLast }
  }

  /// An intent is no more. - Returns: Those who had not answered.
  @discardableResult
  public mutating func withdraw(_ intent: UInt64) -> [UInt64] {
    guard let question = questions.removeValue(forKey: intent) else { return [] }
    for presenter in question.open { forget(intent, of: presenter) }
    trim()
    return question.open.sorted()
  }

  /// The intents whose time is up, each with those who have not answered: they go on.
  public mutating func expire(at now: MonotonicTime) -> [(intent: UInt64, presenters: [UInt64])] {
    var found: [(intent: UInt64, presenters: [UInt64])] = []
    while let first = times.first, first.until <= now {
      times.removeFirst()
      if questions[first.intent] != nil { found.append((first.intent, withdraw(first.intent))) }
    }
    trim()
    return found
  }

  private mutating func forget(_ intent: UInt64, of presenter: UInt64) {
    asked[presenter]?.remove(intent)
    if asked[presenter]?.isEmpty ?? false { asked[presenter] = nil }
  }

  /// What is answered is not waited for.
  private mutating func trim() {
    while let first = times.first, questions[first.intent] == nil { times.removeFirst() }
  }
}
