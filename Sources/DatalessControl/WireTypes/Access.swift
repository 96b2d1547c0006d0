/// Delays of calls that need no materialization: a part of `GET /v1/status`.
public struct AccessStatus: Codable, Sendable, Equatable {
  /// Callers that are delayed now.
  public var waiting: Int64
  /// Some of them, at most 64, the oldest of these first.
  public var calls: [DelayedCall]
  /// What has ended since the volume was mounted, by operation.
  public var operations: [AccessCount]

  public init(waiting: Int64, calls: [DelayedCall], operations: [AccessCount]) {
    self.waiting = waiting
    self.calls = calls
    self.operations = operations
  }
}

/// One call that is delayed, or held at a gate.
public struct DelayedCall: Codable, Sendable, Equatable {
  /// Its number in the event log.
  public var number: UInt64
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `directory`, or `file` for anything else.
  public var kind: String
  /// The gate that holds it; absent for one that is delayed.
  public var gate: String?
  /// Who waits; `trigger` is the operation: `lookup`, `getattr`, `open` or `read`.
  public var waiter: InFlightWaiter

  enum CodingKeys: String, CodingKey {
    case number, path, kind, gate, waiter
    case pathBase64 = "path_b64"
  }

  public init(number: UInt64, path: [UInt8], kind: String, gate: String? = nil, waiter: InFlightWaiter) {
    self.number = number
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.gate = gate
    self.waiter = waiter
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}

/// Delayed calls of one operation that have ended.
public struct AccessCount: Codable, Sendable, Equatable {
  /// `lookup`, `getattr`, `open` or `read`.
  public var operation: String
  public var calls: Int64
  /// Of `calls`, those that ended with an errno: the caller was killed, or the volume ended.
  public var failures: Int64
  /// Over all of them.
  public var blockedNanoseconds: Int64

  enum CodingKeys: String, CodingKey {
    case operation, calls, failures
    case blockedNanoseconds = "blocked_ns"
  }

  public init(operation: String, calls: Int64, failures: Int64, blockedNanoseconds: Int64) {
    self.operation = operation
    self.calls = calls
    self.failures = failures
    self.blockedNanoseconds = blockedNanoseconds
  }
}
