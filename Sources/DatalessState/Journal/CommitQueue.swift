import DatalessCore

/// Changes on their way to the disk, and who waits for that: which are committed together, and when. It knows neither
/// disk nor clock nor thread.
struct CommitQueue {
  struct Entry: Sendable, Equatable {
    let number: ChangeNumber
    let change: StateChange
  }

  /// What is to be done now.
  enum Step: Sendable, Equatable {
    case none
    /// Call `timePassed` after a second.
    case schedule
    /// Commit on the lane.
    case run
  }

  typealias Completion = @Sendable (FSError?) -> Void

  /// Whoever is to be answered, and with what.
  struct Answer: Sendable {
    let completion: Completion
    let error: FSError?
  }

  private struct Waiter {
    let number: ChangeNumber
    let isUrgent: Bool
    let completion: Completion
  }

  private enum Run { case idle, requested, committing }

  /// Changes that are committed without waiting for the second to end.
  static let batchLimit = 8192

  private var pending: [Entry] = []
  /// What is being committed, or could not be.
  private var batch: [Entry] = []
  private var waiters: [Waiter] = []
  private var run = Run.idle
  private var isScheduled = false
  /// Why the last commit failed.
  private(set) var failure: FSError?
  private(set) var durable = ChangeNumber(rawValue: 0)

  /// Changes that are in memory only.
  var count: Int { pending.count + batch.count }

  mutating func append(_ change: StateChange, _ number: ChangeNumber) -> Step {
    pending.append(Entry(number: number, change: change))
    guard run == .idle else { return .none }
    return failure == nil && pending.count >= Self.batchLimit ? request() : schedule()
  }

  /// - Parameter isUrgent: Whether somebody's call waits for it.
  /// - Returns: Whether it is durable already; then the completion is not kept.
  mutating func wait(
    for number: ChangeNumber, isUrgent: Bool, _ completion: @escaping Completion
  ) -> (isDone: Bool, step: Step) {
    guard number > durable else { return (true, .none) }
    waiters.append(Waiter(number: number, isUrgent: isUrgent, completion: completion))
    guard run == .idle else { return (false, .none) }
    return (false, isUrgent ? request() : schedule())
  }

  mutating func timePassed() -> Step {
    isScheduled = false
    return run == .idle && count > 0 ? request() : .none
  }

  /// What is to be committed now, in order: all that there is. Followed by `end`.
  mutating func begin() -> [Entry] {
    run = .committing
    batch += pending
    pending = []
    return batch
  }

  /// A commit has ended.
  ///
  /// - Parameters:
  ///   - failure: nil: all that `begin` returned is durable.
  ///   - committed: How many of them are, if not all.
  mutating func end(_ failure: FSError?, committed: Int = 0) -> (answers: [Answer], step: Step) {
    run = .idle
    self.failure = failure
    let count = failure == nil ? batch.count : committed
    if count > 0 { durable = batch[count - 1].number }
    batch.removeFirst(count)
    let served = waiters.filter { $0.number <= durable }
    waiters.removeAll { $0.number <= durable }
    var answers = served.map { Answer(completion: $0.completion, error: nil) }
    guard failure == nil else {
      // Whoever waits is told, once; the changes stay first in line.
      let told = waiters.filter { $0.isUrgent }
      waiters.removeAll { $0.isUrgent }
      answers += told.map { Answer(completion: $0.completion, error: failure) }
      return (answers, schedule())
    }
    // What came meanwhile: those who wait share one commit.
    if waiters.contains(where: \.isUrgent) || pending.count >= Self.batchLimit { return (answers, request()) }
    return (answers, pending.isEmpty ? .none : schedule())
  }

  private mutating func request() -> Step {
    run = .requested
    return .run
  }

  private mutating func schedule() -> Step {
    if isScheduled { return .none }
    isScheduled = true
    return .schedule
  }
}
