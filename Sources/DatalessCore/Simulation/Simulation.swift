/// What a volume simulates, checked and compiled: data, not code. A change replaces the whole value.
public struct Simulation: Sendable {
  /// For everything that is chosen by chance. Default 0.
  public var seed: UInt64 = 0
  /// Delay before the fetch of a file's content, and before the listing of a directory. Default none.
  public var latency: LatencyModel = .none
  public var directoryLatency: LatencyModel = .none
  /// Bytes per second that all fetches share; nil = as fast as the disk. Default nil.
  public var bandwidth: Int64?
  /// Bytes per second of one transfer. Default nil.
  public var transferBandwidth: Int64?
  /// How many file attempts may be in latency and transfer at once; nil = no limit. Default nil.
  public var concurrency: Int?
  /// How much local content there may be, in bytes, at least 1; nil = as much as the disk has. Default nil.
  public var quota: Int64?
  /// What the data in some directories is for. Default: nothing is said.
  public var areas = Areas.none
  /// What is never counted as room for what nobody asked for, in bytes. Default 0.
  public var reserve: Int64 = 0
  /// How much of a file an attempt brings in. Default full.
  public var hydration: Hydration = .full
  /// Whether handles of resident files tell what is read through them, too. Default off.
  public var observation: Observation = .off
  /// Of which waits the caller's stack is taken. Default off.
  public var stacks: StackPolicy = .off
  /// When a main thread that waits counts as hanging; nil = never. Default nil.
  public var watchdog: WatchdogPolicy?
  /// Which signals end a wait.
  public var interrupt: InterruptMode = .fatal
  /// An attempt older than this fails with the profile's errno (`timeout`), in nanoseconds; nil = never. Default nil.
  public var giveUpAfter: Nanoseconds?
  /// Whether the store is unreachable: attempts fail at once with the profile's errno (`offline`).
  public var isOffline = false
  /// Whether callers that have set nothing for themselves may materialize. Default true.
  public var materialize = true
  /// What materializes, and with which errnos it fails. Default macOS's.
  public var profile = Profile.macos
  /// How metadata looks.
  public var presentation = Presentation()
  /// How long after one refresh of all that is listed the next one begins, in nanoseconds; nil = never. Default nil.
  public var poll: Nanoseconds?
  public var rules = RuleSet([])
  /// How long calls on what is local are delayed; where nothing is said, not at all. Default nothing.
  public var access = AccessDelay()

  public init() {}

  /// The operations that a setting or a rule may delay.
  public var delayedAccess: AccessOperations { access.delayed.union(rules.delayedAccess) }

  /// Whether each read(2) of a resident file has to be a request: because all reads are recorded, or because they are
  /// delayed.
  public var servesReadsItself: Bool { observation == .reads || delayedAccess.contains(.read) }

  /// Whether each write(2) has to be a request, because writes are delayed.
  public var servesWritesItself: Bool { delayedAccess.contains(.write) }

  public enum InterruptMode: String, Sendable, CaseIterable {
    /// Only a pending SIGKILL (the kernel turns every fatal signal into it) ends the wait, with EINTR.
    case fatal
    /// Every signal ends the wait with EINTR.
    case any
  }
}

extension Simulation {
  /// The longest wait that any setting or rule is likely to ask for, in nanoseconds: a gate and a fault that never ends
  /// have no end of their own.
  public var longestWait: Nanoseconds {
    if rules.rules.contains(where: { $0.effects.gate != nil || $0.effects.fault?.kind == .never }) {
      return giveUpAfter ?? .max
    }
    let models = [latency, directoryLatency] + rules.rules.compactMap(\.effects.latency)
    let accesses = rules.rules.lazy.map(\.effects.access.longestDelay).max() ?? 0
    return max(models.map(\.longestDelay).max() ?? 0, access.longestDelay, accesses)
  }
}
