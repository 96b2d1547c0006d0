import DatalessControl

/// One look at a volume, and what has changed since the one before.
struct TopSample: Sendable {
  let answer: TopAnswer

  /// Intents that are not granted; those that the daemon does not list, too.
  let waitingIntents: Int64

  /// Whether stacks were asked for, and told.
  let hasStacks: Bool

  var callers: [BlockedCaller] { answer.callers }
  var intents: [WaitingIntent] { answer.intents ?? [] }

  /// - Parameters:
  ///   - stacks: Of those who wait, when they were asked for.
  ///   - before: nil for the first look.
  init(_ status: VolumeStatus, stacks: [BlockedCaller]?, before: VolumeStatus?) {
    hasStacks = stacks != nil
    var callers = status.inFlight.flatMap { attempt in
      // What an intent waits for stands with the intent: no thread is blocked.
      attempt.waiters.filter { !$0.isIntent }.map {
        BlockedCaller(
          attempt: attempt.attempt, path: attempt.pathBytes, kind: attempt.kind, waiter: $0, outcome: "not_taken")
      }
    }
    callers += (status.access?.calls ?? []).map {
      BlockedCaller(attempt: nil, path: $0.pathBytes, kind: $0.kind, waiter: $0.waiter, outcome: "not_taken")
    }
    for taken in stacks ?? [] {
      let place = callers.firstIndex {
        $0.attempt == taken.attempt && $0.waiter.tid == taken.waiter.tid && $0.waiter.pid == taken.waiter.pid
      }
      guard let place else { continue }
      (callers[place].outcome, callers[place].stack) = (taken.outcome, taken.stack)
    }
    let interval = before.map { status.uptimeNanoseconds.minus($0.uptimeNanoseconds) } ?? 0
    func rate(_ now: Int64, _ then: Int64) -> Double { Double(now.minus(then)) * 1e9 / Double(interval) }
    var perSecond: TopRates?
    if let before, interval > 0, before.session == status.session {
      let (now, then) = (status.materialized, before.materialized)
      perSecond = TopRates(
        files: rate(now.files, then.files), directories: rate(now.directories, then.directories),
        bytes: rate(now.bytes, then.bytes), failures: rate(now.failures, then.failures),
        requests: rate(Self.requests(status), Self.requests(before)))
    }
    let intents = status.coordination?.waitingIntents()
    waitingIntents = Int64(intents?.count ?? 0).plus(status.coordination?.unlistedWaiting ?? 0)
    answer = TopAnswer(
      mountpoint: status.mountpointBytes, uptimeNanoseconds: status.uptimeNanoseconds,
      waiting: status.blockedCallers, attempts: Int64(status.inFlight.count), totals: status.materialized,
      perSecond: perSecond, callers: callers, intents: intents)
  }

  private static func requests(_ status: VolumeStatus) -> Int64 {
    status.requestsReachingTheVolume.values.reduce(0) { $0.plus($1) }
  }

  /// The lines above the table.
  var head: [String] {
    let up = HumanText.duration(nanoseconds: answer.uptimeNanoseconds)
    let waiting = HumanText.count(answer.waiting, "caller")
    let intents = waitingIntents > 0 ? ", \(HumanText.count(waitingIntents, "intent")) waiting" : ""
    let attempts = HumanText.count(answer.attempts, "attempt")
    let totals = answer.totals
    var lines = [
      "\(TerminalText.escaped(answer.mountpointBytes))  up \(up)  \(waiting) blocked, \(attempts) at a time\(intents)",
      "in all      \(HumanText.count(totals.files, "file")) (\(HumanText.size(totals.bytes))), "
        + "\(HumanText.count(totals.directories, "directory", plural: "directories")), "
        + "\(HumanText.count(totals.failures, "failure")), \(HumanText.count(totals.refusals, "refusal"))",
    ]
    guard let rates = answer.perSecond else { return lines + ["a second    -"] }
    lines.append(
      "a second    \(HumanText.decimal(rates.files, 1)) files (\(HumanText.size(Int64(rates.bytes.isFinite ? max(-1e18, min(1e18, rates.bytes)) : 0)))), "
        + "\(HumanText.decimal(rates.directories, 1)) directories, \(HumanText.decimal(rates.failures, 1)) failures, "
        + "\(HumanText.decimal(rates.requests, 1)) requests")
    return lines
  }
}
