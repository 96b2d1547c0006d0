import DatalessControl

extension RunDifference {
  /// A program with its intents, before and after.
  public struct Intents: Encodable, Sendable {
    /// Escaped for a terminal.
    public var name: String
    public var change: Row.Change
    public var intents: Amount
    /// Those that waited for others, and for how long: altogether and at most.
    public var waits: Amount
    public var waited: Amount
    public var longest: Amount

    enum CodingKeys: String, CodingKey {
      case name, change, intents, waits
      case waited = "waited_ns"
      case longest = "longest_wait_ns"
    }
  }

  /// A program that presents something, with how long it took to answer, before and after.
  public struct Presenter: Encodable, Sendable {
    /// Escaped for a terminal.
    public var name: String
    public var change: Row.Change
    public var asked: Amount
    public var timedOut: Amount
    /// Altogether and at most.
    public var took: Amount
    public var longest: Amount

    enum CodingKeys: String, CodingKey {
      case name, change, asked
      case timedOut = "timed_out"
      case took = "took_ns"
      case longest = "longest_ns"
    }
  }

  static func intents(_ first: CoordinationPrograms, _ second: CoordinationPrograms) -> [Intents] {
    differing(first.intents, second.intents) { name, change, old, new in
      let (was, now) = (old ?? .init(), new ?? .init())
      return Intents(
        name: name, change: change, intents: Amount(before: was.count, after: now.count),
        waits: Amount(before: was.waits, after: now.waits), waited: Amount(before: was.waited, after: now.waited),
        longest: Amount(before: was.longest, after: now.longest))
    }
    .sorted { ($1.waited.change.magnitude, $0.name) < ($0.waited.change.magnitude, $1.name) }
  }

  static func presenters(_ first: CoordinationPrograms, _ second: CoordinationPrograms) -> [Presenter] {
    differing(first.presenters, second.presenters) { name, change, old, new in
      let (was, now) = (old ?? .init(), new ?? .init())
      return Presenter(
        name: name, change: change, asked: Amount(before: was.asked, after: now.asked),
        timedOut: Amount(before: was.timedOut, after: now.timedOut), took: Amount(before: was.took, after: now.took),
        longest: Amount(before: was.longest, after: now.longest))
    }
    .sorted { ($1.longest.change.magnitude, $0.name) < ($0.longest.change.magnitude, $1.name) }
  }

  /// A row for each program that has other numbers in the second run.
  private static func differing<Numbers: Equatable, Compared>(
    _ first: [String: Numbers], _ second: [String: Numbers],
    row: (_ name: String, _ change: Row.Change, _ was: Numbers?, _ now: Numbers?) -> Compared
  ) -> [Compared] {
    Set(first.keys).union(second.keys).compactMap { name in
      let (was, now) = (first[name], second[name])
      guard was != now else { return nil }
      return row(name, was == nil ? .new : now == nil ? .gone : .changed, was, now)
    }
  }
}

extension SummaryReport.Coordination {
  /// Sums that are compared, by name.
  var totals: [String: Int64] {
    [
      "intents": intents, "intents_granted": granted, "intent_waits": waited.waits,
      "intents_waited_ns": waited.sumNanoseconds, "longest_intent_wait_ns": waited.longestNanoseconds,
      "intent_waits_unknown": unknownWaits, "presenters_asked": asked, "presenters_timed_out": timedOut,
      "presenters_longest_ns": slowest.first?.longestNanoseconds ?? 0,
    ]
  }
}
