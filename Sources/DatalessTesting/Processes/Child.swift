import Glibc
import Synchronization

/// A process that this one has started, in a session and process group of its own. It stays a zombie until it is
/// killed, so that its number, which is that of its group, is given to nobody else.
final class Child: Sendable {
  /// What a child is started with.
  struct Plan: Sendable {
    var words: [String]
    var environment: [String: String]
    /// Descriptors that it gets, by their number in the child.
    var descriptors: [Int32: Int32] = [:]
    /// What it reads from.
    var input = "/dev/null"
  }

  private struct State {
    /// The exit status; the signal's number, negative.
    var status: Int32?
    var isReaped = false
    var last = 0
    var waiters: [Int: CheckedContinuation<Int32?, Never>] = [:]
    var givenUp: Set<Int> = []
  }

  let pid: Int32
  private let state = Mutex(State())

  private init(pid: Int32) { self.pid = pid }

  /// Starts a child. `posix_spawn` waits until the program has been executed, which a volume may hold up: that, and the
  /// waiting for its end, is done by a thread of its own.
  static func start(_ plan: Plan) async throws -> Child {
    try await withCheckedThrowingContinuation { continuation in
      let failure = Threads.start {
        do {
          let child = Child(pid: try spawn(plan))
          continuation.resume(returning: child)
          child.awaitEnd()
        } catch {
          continuation.resume(throwing: error)
        }
      }
      if failure != 0 {
        continuation.resume(throwing: DatalessError("no thread can be started: \(String(cString: strerror(failure)))."))
      }
    }
  }

  private static func spawn(_ plan: Plan) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, plan.input, O_RDONLY, 0)
    place(plan.descriptors, &actions)
    if plan.descriptors[1] == nil { posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) }
    if plan.descriptors[2] == nil { posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    // POSIX_SPAWN_SETSID, which stands behind _GNU_SOURCE, is 0x80.
    posix_spawnattr_setflags(&attributes, Int16(0x80 | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var arguments = plan.words.map { strdup($0) }
    var environment = plan.environment.map { strdup("\($0.key)=\($0.value)") }
    defer { for pointer in arguments + environment { free(pointer) } }
    arguments.append(nil)
    environment.append(nil)
    var pid: Int32 = 0
    let name = plan.words.first ?? ""
    let failure = posix_spawnp(&pid, name, &actions, &attributes, arguments, environment)
    if failure != 0 {
      throw DatalessError(
        "'\(name)' cannot be executed: \(String(cString: strerror(failure))).", code: "not_executable")
    }
    return pid
  }

  /// By way of numbers that nothing has: what is placed first may take the number of what comes later.
  private static func place(_ descriptors: [Int32: Int32], _ actions: inout posix_spawn_file_actions_t) {
    let free = max(2, descriptors.keys.max() ?? 0, descriptors.values.max() ?? 0) + 1
    let held = zip(free..., descriptors)
    for (number, one) in held { posix_spawn_file_actions_adddup2(&actions, one.value, number) }
    for (number, one) in held {
      posix_spawn_file_actions_adddup2(&actions, number, one.key)
      posix_spawn_file_actions_addclose(&actions, number)
    }
  }

  /// Blocks until it has ended.
  private func awaitEnd() {
    var end = siginfo_t()
    while waitid(P_PID, UInt32(bitPattern: pid), &end, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
    let number = end._sifields._sigchld.si_status
    let status = end.si_code == Int32(CLD_EXITED) ? number : -number
    let waiters = state.withLock { state in
      state.status = status
      let waiters = state.waiters.values
      state.waiters = [:]
      return Array(waiters)
    }
    for waiter in waiters { waiter.resume(returning: status) }
  }

  /// Its exit status, or the number of the signal that ended it, negative. Nil when it has not ended within `limit`, or
  /// the task was cancelled.
  func status(within limit: Duration) async -> Int32? {
    let id = state.withLock { state in
      state.last += 1
      return state.last
    }
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      self.giveUp(id)
    }
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDecided = state.withLock { state in
          if state.status != nil || state.givenUp.contains(id) { return true }
          state.waiters[id] = continuation
          return false
        }
        if isDecided { continuation.resume(returning: state.withLock(\.status)) }
      }
    } onCancel: {
      giveUp(id)
    }
  }

  private func giveUp(_ id: Int) {
    let waiter = state.withLock { state in
      state.givenUp.insert(id)
      return state.waiters.removeValue(forKey: id)
    }
    waiter?.resume(returning: nil)
  }

  /// Whether it has not ended yet.
  var isRunning: Bool { state.withLock { $0.status == nil } }

  /// Ends it and its group, with SIGKILL, and waits until it is gone. Does nothing the second time.
  func kill() async {
    state.withLock { state in
      if !state.isReaped { _ = Glibc.kill(-pid, SIGKILL) }
    }
    // A task of its own: that of a test may have been cancelled.
    await Task { _ = await self.status(within: .seconds(3600)) }.value
    reap()
  }

  /// Gives its number back, if it has ended. What it has started stays.
  func reap() {
    state.withLock { state in
      guard !state.isReaped, state.status != nil else { return }
      state.isReaped = true
      var end = siginfo_t()
      _ = waitid(P_PID, UInt32(bitPattern: pid), &end, WEXITED)
    }
  }
}
