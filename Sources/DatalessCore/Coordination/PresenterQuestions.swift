internal import DequeModule

/// What presenters were asked, and have not answered: an intent goes on when all have, and what they save first has
/// ended, or when its time is up. The same holds for what is announced to them without an intent, which has a number as
/// intents have.
public struct PresenterQuestions: Sendable {
  private struct Question {
    var open: Set<UInt64>
    let until: MonotonicTime
    /// Those who have answered before what they save had ended: the answer counts when it has.
    var early: Set<UInt64> = []
    /// Intents in which presenters save before the one that was asked about goes on, with whose they are.
    var saves: [UInt64: Set<UInt64>] = [:]

    var isDone: Bool { open.isEmpty && early.isEmpty && saves.isEmpty }

    func isSaving(_ presenter: UInt64) -> Bool { saves.values.contains { $0.contains(presenter) } }
  }

  /// What the end of an intent in which presenters saved has brought to one about which they were asked.
  public struct Progress: Sendable, Equatable {
    public let intent: UInt64
    /// Whose answers count from now on.
    public let answered: [UInt64]
    /// Whether nobody is waited for any more.
    public let goesOn: Bool
  }

  /// An intent whose time is up: it goes on.
  public struct Expired: Sendable, Equatable {
    public let intent: UInt64
    /// Those who have not answered, or not saved in time.
    public let presenters: [UInt64]
    /// The intents in which they save: to be ended before it goes on.
    public let saves: [UInt64]
  }

  private var questions: [UInt64: Question] = [:]
  /// Of each presenter, the intents about which it was asked.
  private var asked: [UInt64: Set<UInt64>] = [:]
  /// Of each intent in which somebody saves, those that wait for it.
  private var saving: [UInt64: Set<UInt64>] = [:]
  /// The first one is up first. Nearly all have the same time, so that new ones come to the end.
  private var times = Deque<(intent: UInt64, until: MonotonicTime)>()

  public init() {}

  /// When the time of the first is up; nil: nobody is asked anything.
  public var next: MonotonicTime? { times.first?.until }

  /// Whether a presenter has still to answer about an intent.
  public func isOpen(_ presenter: UInt64, about intent: UInt64) -> Bool {
    questions[intent]?.open.contains(presenter) ?? false
  }

  /// The intents in which presenters save before this one goes on.
  public func saves(before intent: UInt64) -> [UInt64] { questions[intent].map { $0.saves.keys.sorted() } ?? [] }

  /// - Parameter presenters: Not empty.
  public mutating func ask(_ presenters: Set<UInt64>, about intent: UInt64, until: MonotonicTime) {
    questions[intent] = Question(open: presenters, until: until)
    for presenter in presenters { asked[presenter, default: []].insert(intent) }
    var place = times.endIndex
    while place > times.startIndex, times[place - 1].until > until { place -= 1 }
    times.insert((intent, until), at: place)
  }

  /// An intent is asked for in which presenters save before another one goes on. Where nobody is asked about that one
  /// any more, it is nothing.
  public mutating func save(_ intent: UInt64, by presenters: Set<UInt64>, before other: UInt64) {
    guard questions[other] != nil else { return }
    questions[other]?.saves[intent] = presenters
    saving[intent, default: []].insert(other)
  }

  /// An intent has ended.
  ///
  /// - Returns: Of those that waited for what was saved in it, what has changed.
  public mutating func saved(_ intent: UInt64) -> [Progress] {
    (saving.removeValue(forKey: intent) ?? []).sorted().map { other in
      questions[other]?.saves[intent] = nil
      let question = questions[other]
      let answered = (question?.early ?? []).filter { question?.isSaving($0) == false }.sorted()
      for presenter in answered { close(other, to: presenter) }
      return Progress(intent: other, answered: answered, goesOn: endIfDone(other))
    }
  }

  /// A presenter has answered. What nobody asked it is nothing, and while it saves it has not answered.
  ///
  /// - Returns: Whether it was asked, and was the last one, so that the intent goes on.
  public mutating func answer(_ presenter: UInt64, about intent: UInt64) -> (wasAsked: Bool, isLast: Bool) {
    guard let question = questions[intent], question.open.contains(presenter) else { return (false, false) }
    if question.isSaving(presenter) {
      questions[intent]?.open.remove(presenter)
      questions[intent]?.early.insert(presenter)
      return (false, false)
    }
    close(intent, to: presenter)
    return (true, endIfDone(intent))
  }

  /// A presenter is no more. - Returns: The intents that go on.
  public mutating func gone(_ presenter: UInt64) -> [UInt64] {
    (asked[presenter] ?? []).sorted().filter { intent in
      close(intent, to: presenter)
      return endIfDone(intent)
    }
  }

  /// An intent is no more. - Returns: Those who had not answered.
  @discardableResult
  public mutating func withdraw(_ intent: UInt64) -> [UInt64] {
    guard let question = questions.removeValue(forKey: intent) else { return [] }
    let presenters = question.open.union(question.early).sorted()
    for presenter in presenters { forget(intent, of: presenter) }
    for save in question.saves.keys {
      saving[save]?.remove(intent)
      if saving[save]?.isEmpty ?? false { saving[save] = nil }
    }
    trim()
    return presenters
  }

  /// The intents whose time is up.
  public mutating func expire(at now: MonotonicTime) -> [Expired] {
    var found: [Expired] = []
    while let first = times.first, first.until <= now {
      times.removeFirst()
      guard questions[first.intent] != nil else { continue }
      let saves = saves(before: first.intent)
      found.append(Expired(intent: first.intent, presenters: withdraw(first.intent), saves: saves))
    }
    trim()
    return found
  }

  private mutating func close(_ intent: UInt64, to presenter: UInt64) {
    questions[intent]?.open.remove(presenter)
    questions[intent]?.early.remove(presenter)
    forget(intent, of: presenter)
  }

  private mutating func endIfDone(_ intent: UInt64) -> Bool {
    guard questions[intent]?.isDone ?? false else { return false }
    questions[intent] = nil
    trim()
    return true
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
