import DatalessCore
import DatalessStacks
import Glibc
import Synchronization

/// Tells the log, while they wait, of main threads that wait for longer than they may, and ends their processes where
/// it was told to and may. Takes the engine's events on their way to the stacks and the log.
///
/// Where no watchdog was ever on, an event costs one load. Everything but that is decided on the timer lane, a look
/// planned for the first wait that may expire. Lock order: the engine's lock, then this one's; the timer's is taken
/// beside it.
final class Watchdog: EventSink {
  private let state: Mutex<WatchedWaits>
  private let isOn: Atomic<Bool>
  private let stacks: StackLane
  private let log: EventLog
  private let timer: any TimerLane
  private let processes: ProcessTable
  private let authority: AbortAuthority

  init(
    policy: WatchdogPolicy?, stacks: StackLane, log: EventLog, timer: any TimerLane, processes: ProcessTable,
    authority: AbortAuthority
  ) {
    state = Mutex(WatchedWaits(policy: policy))
    isOn = Atomic(policy != nil)
    self.stacks = stacks
    self.log = log
    self.timer = timer
    self.processes = processes
    self.authority = authority
  }

  /// Holds for waits that begin from now on.
  func setPolicy(_ policy: WatchdogPolicy?) {
    state.withLock { $0.setPolicy(policy) }
    if policy != nil { isOn.store(true, ordering: .releasing) }
  }

  func record(_ event: Event) {
    guard isOn.load(ordering: .acquiring) else { return stacks.record(event) }
    // Before the stacks have it: while a wait is known here, its end will be noticed there.
    var step: WatchedWaits.Step?
    switch event {
    case .waitFinished(let wait):
      step = state.withLock {
        $0.end(
          .attempt(wait.attempt, wait.trigger), threadID: wait.caller.threadID, outcome: wait.outcome, at: wait.time)
      }
    case .accessFinished(let call):
      step = state.withLock {
        $0.end(
          .access(call.access, call.operation), threadID: call.caller.threadID, outcome: call.outcome, at: call.time)
      }
    default: break
    }
    if let step { take(step) }
    stacks.record(event)
    switch event {
    case .materializationStarted(let event):
      state.withLock { $0.beginAttempt(event.attempt, path: event.path) }
    case .waitStarted(let wait):
      plan { $0.begin(.attempt(wait.attempt, wait.trigger), caller: wait.caller, at: wait.time) }
    case .accessStarted(let call):
      plan { $0.begin(.access(call.access, call.operation), caller: call.caller, path: call.path, at: call.time) }
    case .materializationFinished(let event): state.withLock { $0.endAttempt(event.attempt) }
    default: break
    }
  }

  private func plan(_ change: (inout WatchedWaits) -> MonotonicTime?) {
    if let time = state.withLock({ change(&$0) }) { schedule(time) }
  }

  private func schedule(_ time: MonotonicTime) {
    timer.schedule(at: time) { [weak self] in self?.look(planned: time) }
  }

  private func look(planned time: MonotonicTime) {
    let (steps, next) = state.withLock { $0.look(planned: time, at: timer.now) }
    if let next { schedule(next) }
    for step in steps { take(step) }
  }

  private func take(_ step: WatchedWaits.Step) {
    switch step {
    case .expired(let wait): expired(wait)
    case .signal(let wait): signal(wait)
    case .spared(let wait):
      var record = record(.signalled, wait)
      record.spared = .ended
      log.recordWatchdog(record)
    case .survived(let wait): log.recordWatchdog(record(.survived, wait))
    }
  }

  private func expired(_ wait: WatchedWaits.Wait) {
    guard wait.policy.counts(processes.lineage(of: wait.caller.process).first),
      !BlockedCall.isElsewhere(threadID: wait.caller.threadID)
    else { return }
    var record = record(.expired, wait)
    if wait.policy.action == .abort { record.spared = refusal(wait).refusal }
    log.recordWatchdog(record)
    guard wait.policy.action != .log else { return }
    if wait.policy.action == .abort, record.spared == nil { plan { $0.awaitStack(wait.key, at: timer.now) } }
    var wanted = StackRequests.Wait(cause: wait.cause, caller: wait.caller)
    if case .access = wait.cause { wanted.path = wait.path ?? [] }
    stacks.take(wanted, while: { state.withLock { $0.isBlocked(wait.key) } }) { [weak self] in
      guard let self else { return }
      plan { $0.stackTaken(wait.key, at: self.timer.now) }
    }
  }

  /// A descriptor of the process, and why it may not be used.
  private func refusal(_ wait: WatchedWaits.Wait) -> (handle: ProcessHandle?, refusal: AbortAuthority.Refusal?) {
    guard let handle = ProcessHandle(pid: wait.caller.pid) else { return (nil, .unknownProcess) }
    let refusal = authority.refusal(
      pid: handle.pid, startTicks: processes.info(wait.caller.process)?.startTicks,
      isNamed: !wait.policy.apps.isEmpty, userIDs: { handle.userIDs })
    // Still blocked after the descriptor was taken, as nobody but us lets it go: the descriptor is the caller's.
    guard state.withLock({ $0.isBlocked(wait.key) }), !BlockedCall.isElsewhere(threadID: wait.caller.threadID) else {
      return (nil, .ended)
    }
    return (handle, refusal)
  }

  private func signal(_ wait: WatchedWaits.Wait) {
    let (handle, refusal) = refusal(wait)
    var record = record(.signalled, wait)
    record.spared = refusal
    if let handle, refusal == nil { record.failure = handle.signal(SIGABRT) }
    log.recordWatchdog(record)
    if refusal == nil, record.failure == 0 { plan { $0.signalled(wait.key, at: timer.now) } }
  }

  private func record(_ kind: WatchdogRecord.Kind, _ wait: WatchedWaits.Wait) -> WatchdogRecord {
    WatchdogRecord(kind: kind, wait: wait, blocked: timer.now - wait.since)
  }
}
