/// One attempt that is running, and who waits for it.
public struct InFlightAttempt: Codable, Sendable, Equatable {
  public var attempt: UInt64
  /// Relative to the volume's root.
  public var path: String
  public var pathBase64: String?
  /// `file` or `directory`.
  public var kind: String
  /// `held` at a gate, `queued` for a slot, `delayed` by the latency model, `fetching`, or `stuck` by a fault that never ends.
  public var stage: String
  /// Since the trigger.
  public var ageNanoseconds: Int64
  /// Who triggered it; absent for a command of ours.
  public var process: WireProcess?
  public var waiterCount: Int64
  /// The first 64, oldest first.
  public var waiters: [InFlightWaiter]

  enum CodingKeys: String, CodingKey, CaseIterable {
    case attempt, path, kind, stage, process, waiters
    case pathBase64 = "path_b64"
    case ageNanoseconds = "age_ns"
    case waiterCount = "waiter_count"
  }

  public init(
    attempt: UInt64, path: [UInt8], kind: String, stage: String, ageNanoseconds: Int64, process: WireProcess? = nil,
    waiterCount: Int64, waiters: [InFlightWaiter]
  ) {
    self.attempt = attempt
    (self.path, pathBase64) = WirePath.split(path)
    self.kind = kind
    self.stage = stage
    self.ageNanoseconds = ageNanoseconds
    self.process = process
    self.waiterCount = waiterCount
    self.waiters = waiters
  }

  public var pathBytes: [UInt8] { WirePath.bytes(path, pathBase64) }
}
