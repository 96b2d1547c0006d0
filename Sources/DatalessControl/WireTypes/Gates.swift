/// One gate, and what it holds. A gate is there because a rule names it.
public struct GateStatus: Codable, Sendable, Equatable {
  public var name: String
  /// Whether everything passes.
  public var isOpen: Bool
  /// Callers that are blocked here now.
  public var callers: Int64
  /// Attempts that are held here now.
  public var attemptCount: Int64
  /// The rules that name the gate, in their order.
  public var rules: [String]
  /// The first 1,000 of the held attempts, oldest first.
  public var held: [HeldAttempt]
  /// Calls that need no materialization and are held here now (`access` of a rule); and the first 1,000, oldest first.
  public var accessCount: Int64
  public var accesses: [DelayedCall]

  enum CodingKeys: String, CodingKey {
    case name, callers, rules, held, accesses
    case isOpen = "open"
    case attemptCount = "attempt_count"
    case accessCount = "access_count"
  }

  public init(
    name: String, isOpen: Bool, callers: Int64, attemptCount: Int64, rules: [String], held: [HeldAttempt],
    accessCount: Int64 = 0, accesses: [DelayedCall] = []
  ) {
    self.accessCount = accessCount
    self.accesses = accesses
    self.name = name
    self.isOpen = isOpen
    self.callers = callers
    self.attemptCount = attemptCount
    self.rules = rules
    self.held = held
  }
}

/// One gate as `GET /v1/status` names it; `GET /v1/gates` says more.
public struct GateSummary: Codable, Sendable, Equatable {
  public var name: String
  /// Whether everything passes.
  public var isOpen: Bool
  /// Callers that are blocked here now.
  public var callers: Int64
  /// Attempts that are held here now.
  public var attemptCount: Int64
  /// Calls that need no materialization and are held here now.
  public var accessCount: Int64

  enum CodingKeys: String, CodingKey {
    case name, callers
    case isOpen = "open"
    case attemptCount = "attempt_count"
    case accessCount = "access_count"
  }

  public init(name: String, isOpen: Bool, callers: Int64, attemptCount: Int64, accessCount: Int64 = 0) {
    self.accessCount = accessCount
    self.name = name
    self.isOpen = isOpen
    self.callers = callers
    self.attemptCount = attemptCount
  }
}

/// One attempt that a gate holds, who waits for it, and what the kernel keeps locked meanwhile.
public struct HeldAttempt: Codable, Sendable, Equatable {
  public var attempt: UInt64
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `file` or `directory`.
  public var kind: String
  public var heldNanoseconds: Int64
  public var waiterCount: Int64
  /// The first 64, oldest first.
  public var waiters: [InFlightWaiter]
  /// What else waits behind it in the kernel, by no choice of the gate; one sentence each.
  public var blocks: [String]
  /// Present when it has been held for longer than the kernel's limit for hung tasks, and tasks may hang behind it.
  public var warning: String?

  enum CodingKeys: String, CodingKey {
    case attempt, path, kind, waiters, blocks, warning
    case pathBase64 = "path_b64"
    case heldNanoseconds = "held_ns"
    case waiterCount = "waiter_count"
  }

  public init(
    attempt: UInt64, path: [UInt8], kind: String, heldNanoseconds: Int64, waiterCount: Int64,
    waiters: [InFlightWaiter], blocks: [String], warning: String? = nil
  ) {
    self.attempt = attempt
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.heldNanoseconds = heldNanoseconds
    self.waiterCount = waiterCount
    self.waiters = waiters
    self.blocks = blocks
    self.warning = warning
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// Answer of `GET /v1/gates`.
public struct GateList: Codable, Sendable, Equatable {
  /// By name.
  public var gates: [GateStatus]

  public init(gates: [GateStatus]) {
    self.gates = gates
  }
}

/// Body of `POST /v1/gates/open` and `POST /v1/gates/close`.
public struct GateRequest: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String

  public init(gate: String) {
    self.gate = gate
  }
}

extension GateRequest: WireRequest {
  public static var keys: [String] { ["gate"] }
}

/// Body of `POST /v1/gates/release`: all that the gate holds, or what one of `count`, `attempt` and `path` says.
public struct GateReleaseRequest: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// So many attempts, the oldest first, and then accesses; 1 or more.
  public var count: Int64?
  /// One attempt, by its number.
  public var attempt: UInt64?
  /// The attempts and accesses whose path matches this glob.
  public var path: String?
  public var pathBase64: String?
  /// Name of the errno to fail with; absent to go on.
  public var errno: String?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, count, attempt, path, errno
    case pathBase64 = "path_b64"
  }

  public init(
    gate: String, count: Int64? = nil, attempt: UInt64? = nil, path: [UInt8]? = nil, errno: String? = nil
  ) {
    self.gate = gate
    self.count = count
    self.attempt = attempt
    if let path { (self.path, pathBase64) = WirePath.split(path) }
    self.errno = errno
  }

  public var pathBytes: [UInt8]? { path.map { WirePath.bytes($0, pathBase64) } }
}

/// Answer of requests that release, open or close a gate.
public struct GateAnswer: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// Attempts and accesses that were released by the request.
  public var released: Int64

  public init(gate: String, released: Int64) {
    self.gate = gate
    self.released = released
  }
}

/// Body of `POST /v1/gates/wait`: answered when so many callers are blocked, or when the time is over.
public struct GateWaitRequest: Codable, Sendable, Equatable {
  /// LIMIT: a day, so that what a client that has gone left behind is gone as well some day.
  public static let timeoutMillisecondsMax: Int64 = 86_400_000
  public static let defaultTimeoutMilliseconds: Int64 = 30_000

  /// The gate's name.
  public var gate: String
  /// How many callers have to be blocked; 0 or more. Default 1.
  public var callers: Int64?
  /// How long to wait, in milliseconds; 0 to a day. Default 30,000.
  public var timeoutMilliseconds: Int64?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case gate, callers
    case timeoutMilliseconds = "timeout_ms"
  }

  public init(gate: String, callers: Int64? = nil, timeoutMilliseconds: Int64? = nil) {
    self.gate = gate
    self.callers = callers
    self.timeoutMilliseconds = timeoutMilliseconds
  }
}

/// Answer of `POST /v1/gates/wait`.
public struct GateWaitAnswer: Codable, Sendable, Equatable {
  /// The gate's name.
  public var gate: String
  /// Whether so many callers were blocked before the time was over.
  public var isReached: Bool
  /// Callers that were blocked when the wait ended.
  public var callers: Int64

  enum CodingKeys: String, CodingKey {
    case gate, callers
    case isReached = "reached"
  }

  public init(gate: String, isReached: Bool, callers: Int64) {
    self.gate = gate
    self.isReached = isReached
    self.callers = callers
  }
}
