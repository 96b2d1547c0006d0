/// One blocked caller of an attempt.
struct Waiter {
  let id: WaiterID
  let request: TriggerRequest
  let since: MonotonicTime
  let completion: @Sendable (WaitResult) -> Void

  /// His wait as the log shows it. - Parameter outcome: nil: it begins.
  func record(in attempt: AttemptID, _ outcome: Outcome?, _ now: MonotonicTime) -> Event.WaitRecord {
    Event.WaitRecord(
      attempt: attempt.rawValue, caller: request.caller, trigger: request.trigger, offset: request.offset,
      length: request.length, blockedNanoseconds: outcome == nil ? nil : now - since, outcome: outcome, time: now)
  }
}
