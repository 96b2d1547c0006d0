import DatalessControl
import DatalessCore
import DatalessStacks
import Glibc
import Synchronization

/// Has the stacks of blocked callers taken, by the capture process, and tells the log and whoever asks.
///
/// Recording an event takes a short lock and at most one write of a byte. Everything else is done on a thread of its
/// own, which waits for nothing but its sockets. Lock order: the engine's lock, then this one's; the log's is taken
/// beside it.
final class StackLane: EventSink {
  private struct State {
    var requests: StackRequests
    var answers: [UInt64: @Sendable (CaptureAnswer) -> Void] = [:]
    var nextQuestion: UInt64 = 1
    var known = KnownStacks()
    /// Who wants to know when the stack of a wait is in the log, or will not be.
    var followers: [(wait: StackRequests.Wait, then: @Sendable () -> Void)] = []
    var isStarted = false
    /// Whether the thread waits for its sockets, or is about to, and until when at most.
    var isSleeping = false
    var sleepsUntil: MonotonicTime?
    var isEnding = false
    var hasEnded = false
  }

  private let state: Monitor<State>
  private let log: EventLog
  /// Whether any wait was ever wanted, by the setting or by a rule: where none is, an event costs nothing here.
  private let isOn: Atomic<Bool>
  /// One byte at most is under way in it.
  private let wake: (own: StackSocket, other: StackSocket)?

  /// - Parameter byRules: Whether rules want stacks, too.
  init(policy: StackPolicy, byRules: Bool, log: EventLog) {
    state = Monitor(State(requests: StackRequests(policy: policy)))
    self.log = log
    let isOn = policy != .off || byRules
    self.isOn = Atomic(isOn)
    wake = StackSocket.pair()
    if isOn { startThread() }
  }

  // MARK: - From the volume

  func record(_ event: Event) {
    log.record(event)
    guard isOn.load(ordering: .acquiring) else { return }
    switch event {
    case .waitStarted(let wait):
      let begun = StackRequests.Wait(cause: .attempt(wait.attempt, wait.trigger), caller: wait.caller)
      update { $0.begin(begun, wanted: wait.takesStack, at: wait.time) }
    case .waitFinished(let wait):
      update { $0.end(.attempt(wait.attempt, wait.trigger), threadID: wait.caller.threadID) }
    case .accessStarted(let call):
      let cause = StackRequests.Wait.Cause.access(call.access, call.operation)
      update {
        $0.begin(.init(cause: cause, caller: call.caller, path: call.path), wanted: call.takesStack, at: call.time)
      }
    case .accessFinished(let call):
      update { $0.end(.access(call.access, call.operation), threadID: call.caller.threadID) }
    case .materializationFinished(let event):
      update {
        $0.endAttempt(event.attempt)
        return nil
      }
    default: break
    }
  }

  /// Holds for waits that begin from now on.
  ///
  /// - Parameter byRules: Whether rules want stacks, too.
  func setPolicy(_ policy: StackPolicy, byRules: Bool) {
    let isWanted = policy != .off || byRules
    if isWanted { startThread() }
    state.withLock { $0.requests.setPolicy(policy) }
    if isWanted { isOn.store(true, ordering: .releasing) }
  }

  /// Puts the stack of one wait into the log, whatever the policy is.
  ///
  /// - Parameters:
  ///   - isBlocked: Asked when the wait's end will be noticed: false when it has ended before.
  ///   - then: Called once, on any thread, when it is there, or will not be.
  func take(
    _ wait: StackRequests.Wait, while isBlocked: () -> Bool, then: @escaping @Sendable () -> Void
  ) {
    startThread()
    isOn.store(true, ordering: .releasing)
    let canStart = state.withLock { state in
      guard state.isStarted, !state.isEnding else { return false }
      state.followers.append((wait, then))
      return true
    }
    guard canStart else {
      tell(StackRequests.Done(subject: .wait(wait), answer: .failure(.noHelper)))
      return then()
    }
    update { $0.want(wait) }
    if !isBlocked() { update { $0.end(wait.cause, threadID: wait.caller.threadID) } }
  }

  /// The stack of one thread, as it is now.
  func stack(processID: Int32, threadID: Int32) async -> CaptureAnswer {
    startThread()
    return await withCheckedContinuation { continuation in
      let refusal = state.withLock { state -> CaptureAnswer? in
        guard !state.isEnding, state.isStarted else { return .failure(.noHelper) }
        let question = state.nextQuestion
        if let done = state.requests.ask(question, processID: processID, threadID: threadID) {
          state.requests.delivered(1)
          return done.answer
        }
        state.nextQuestion += 1
        state.answers[question] = { continuation.resume(returning: $0) }
        return nil
      }
      if let refusal { continuation.resume(returning: refusal) } else { update { _ in nil } }
    }
  }

  /// Ends the thread and its processes: waits for what is being named, and until it is in the log, but not longer.
  func end(within time: Nanoseconds) {
    let deadline = MonotonicTime.current + time
    let done = state.withLock { $0.requests.dropWaiting() }
    deliver(done)
    state.wait { state -> Monitor<State>.Step<Void> in
      guard state.isStarted, !state.hasEnded, !state.requests.isIdle, MonotonicTime.current < deadline else {
        return .done(())
      }
      return .wait(until: deadline)
    }
    deliver(
      state.withLock { state in
        state.isEnding = true
        return state.requests.dropWaiting() + state.requests.lose()
      })
    wakeThread()
  }

  /// Changes what is wanted, and has the thread look at it.
  private func update(_ change: (inout StackRequests) -> StackRequests.Done?) {
    let (done, wakes) = state.withLock { state -> (StackRequests.Done?, Bool) in
      let done = change(&state.requests)
      // Waits whose stacks are not wanted yet, or never will be, wake nobody.
      guard state.isSleeping, state.requests.isLookWanted(before: state.sleepsUntil) else { return (done, false) }
      state.isSleeping = false
      return (done, true)
    }
    if wakes { wakeThread() }
    if let done { deliver([done]) }
  }

  private func wakeThread() {
    guard let wake else { return }
    var byte: UInt8 = 1
    write(wake.own.descriptor, &byte, 1)
  }

  /// Tells what the requests have said is over: the end waits until that was told.
  private func deliver(_ done: [StackRequests.Done]) {
    guard !done.isEmpty else { return }
    for done in done { tell(done) }
    state.update { $0.requests.delivered(done.count) }
  }

  private func tell(_ done: StackRequests.Done) {
    switch done.subject {
    case .question(let number):
      let answer = state.withLock { $0.answers.removeValue(forKey: number) }
      answer?(done.answer)
    case .wait(let wait):
      var told = stack(of: wait, done.answer)
      told.times = done.times
      log.recordStack(told)
      let followers = state.withLock { state in
        let place = state.followers.partition {
          $0.wait.cause == wait.cause && $0.wait.caller.threadID == wait.caller.threadID
        }
        defer { state.followers.removeSubrange(place...) }
        return Array(state.followers[place...])
      }
      for follower in followers { follower.then() }
    }
  }

  private func stack(of wait: StackRequests.Wait, _ answer: CaptureAnswer) -> WaitStack {
    switch answer {
    case .failure(let failure): return WaitStack(wait: wait, failure: failure)
    case .stack(let stack):
      // Most stacks are in the log already, and their text is some hundred times dearer than this.
      let print = KnownStacks.Print(answer.bytes)
      if let number = state.withLock({ $0.known.number(of: print) }) { return WaitStack(wait: wait, number: number) }
      guard let bytes = try? WireCoding.encode(CallerStack(stack)) else {
        return WaitStack(wait: wait, failure: .unreadable)
      }
      return WaitStack(wait: wait, number: state.withLock { $0.known.add(print) }, stack: bytes)
    }
  }

  // MARK: - The thread

  private func startThread() {
    guard wake != nil, !state.withLock({ $0.isStarted || $0.isEnding }) else { return }
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    guard isFirst else { return }
    let failure = LaneThread.start(name: "dl-stacks") { [self] in run() }
    if failure != 0 { state.withLock { $0.isStarted = false } }
  }

  private enum Step {
    case capture(StackRequests.Order)
    case wait(milliseconds: Int32?)
    case expired
    case end
  }

  private func run() {
    var capture = CaptureConnection()
    while true {
      switch nextStep() {
      case .end:
        capture.end()
        return state.update { $0.hasEnded = true }
      case .expired:
        capture.abandon()
        lose()
      case .capture(let order): send(order, &capture)
      case .wait(let milliseconds): wait(milliseconds, &capture)
      }
    }
  }

  private func nextStep() -> Step {
    state.withLock { state in
      let now = MonotonicTime.current
      if state.isEnding { return .end }
      if state.requests.isExpired(at: now) { return .expired }
      if let order = state.requests.next(at: now) { return .capture(order) }
      state.isSleeping = true
      state.sleepsUntil = state.requests.deadline
      // Rounded up: not to wake just before the time.
      let left = state.sleepsUntil.map { max(.zero, $0 - now) }
      return .wait(milliseconds: left.map { Int32(clamping: $0.rawValue / 1_000_000 + 1) })
    }
  }

  private func send(_ order: StackRequests.Order, _ capture: inout CaptureConnection) {
    guard let socket = capture.socket(), let volumes = capture.fuseDevices() else {
      return deliver(state.withLock { [$0.requests.refuse(order.number)].compactMap(\.self) })
    }
    let content = CaptureOrder(processID: order.processID, threadID: order.threadID, volumes: volumes).bytes
    guard (try? socket.send(StackMessage(.capture, number: order.number, content: content))) != nil else {
      capture.abandon()
      return lose()
    }
  }

  private func lose() {
    deliver(state.withLock { $0.requests.lose() })
  }

  private func wait(_ milliseconds: Int32?, _ capture: inout CaptureConnection) {
    guard let wake else { return }
    let socket = capture.current
    let ready = StackSocket.wait(
      [wake.other.descriptor] + (socket.map { [$0.descriptor] } ?? []), milliseconds: milliseconds)
    if ready[0] {
      var byte: UInt8 = 0
      read(wake.other.descriptor, &byte, 1)
    }
    state.withLock { $0.isSleeping = false }
    guard ready.count > 1, ready[1], let socket else { return }
    guard let (message, descriptors) = try? socket.receive() else {
      capture.abandon()
      return lose()
    }
    for descriptor in descriptors { close(descriptor) }
    let answer = message.kind == .answer ? CaptureAnswer(message.content) : nil
    guard let done = state.withLock({ $0.requests.receive(message, answer: answer, at: .current) }) else {
      capture.abandon()
      return lose()
    }
    deliver(done)
  }
}
