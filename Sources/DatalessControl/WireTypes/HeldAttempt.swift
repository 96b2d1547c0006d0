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

  enum CodingKeys: String, CodingKey, CaseIterable {
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
