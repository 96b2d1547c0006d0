internal import DequeModule

/// Refreshes, of which one runs at a time, and when the poll begins the next.
struct RefreshQueue {
  /// The first runs, the others wait.
  private var refreshes: Deque<Refresh> = []
  private var pollInterval: Nanoseconds?
  /// How often the interval has changed: a poll of another one is given up.
  private var pollGeneration: UInt64 = 0

  /// A poll that is to come, as it was scheduled.
  struct Poll {
    /// Nanoseconds from the end of one refresh to the begin of the next.
    let interval: Nanoseconds
    fileprivate let generation: UInt64
  }

  var all: [Refresh] { Array(refreshes) }

  /// Whether one is under way.
  var isRunning: Bool { !refreshes.isEmpty }

  /// Whether the one under way has begun to put in what came and to take away what went: what has no name may get
  /// another one yet, and nobody else frees it.
  private(set) var isSettling = false

  mutating func beginSettling() { isSettling = true }
  mutating func endSettling() { isSettling = false }

  /// - Returns: Whether it runs now; else it waits for the others.
  mutating func add(_ refresh: Refresh) -> Bool {
    refreshes.append(refresh)
    return refreshes.count == 1
  }

  /// Whether it waits for others, so that nothing of it has been done.
  func isWaiting(_ refresh: Refresh) -> Bool { refreshes.dropFirst().contains { $0 === refresh } }

  /// The refresh that runs has ended. - Returns: The one that runs now; nil if there is none, or another one runs.
  mutating func remove(_ refresh: Refresh) -> Refresh? {
    guard refreshes.first === refresh else { return nil }
    refreshes.removeFirst()
    return refreshes.first
  }

  // MARK: - Poll

  /// Changes how often the store is polled. - Parameter interval: nil: not at all.
  ///
  /// - Returns: The poll that is to be scheduled; nil when there is none, or it goes on as it was.
  mutating func setPoll(_ interval: Nanoseconds?) -> Poll? {
    guard interval != pollInterval else { return nil }
    pollInterval = interval
    pollGeneration += 1
    return interval.map { Poll(interval: $0, generation: pollGeneration) }
  }

  /// Whether a poll that was scheduled is still wanted.
  func isWanted(_ poll: Poll) -> Bool { poll.generation == pollGeneration }
}
