internal import CFuse3

/// Counts of what a session saw: one relaxed atomic add per request, read at any time.
final class SessionCounters: Sendable {
  /// What is counted beside the requests themselves.
  enum Counter: Int {
    case droppedReplies = 64
    case refusedReplies
    case failedWrites
  }

  private static let requestKinds = 64
  private static let size = 67

  // SAFETY: Only ever accessed by the atomic operations of the shim, and freed by the deinitializer alone.
  private nonisolated(unsafe) let values: UnsafeMutablePointer<UInt64>

  init() {
    values = .allocate(capacity: Self.size)
    values.initialize(repeating: 0, count: Self.size)
  }

  deinit { values.deallocate() }

  @inline(__always)
  func add(_ counter: Counter) { cfuse_counter_add(values + counter.rawValue) }

  /// Counts a request by its opcode; opcodes beyond the table are not counted.
  @inline(__always)
  func addRequest(opcode: UInt32) {
    guard opcode < UInt32(Self.requestKinds) else { return }
    cfuse_counter_add(values + Int(opcode))
  }

  func value(_ counter: Counter) -> UInt64 { cfuse_counter_load(values + counter.rawValue) }

  func requests(_ kind: FuseRequestKind) -> UInt64 { cfuse_counter_load(values + Int(kind.rawValue)) }
}

extension FuseSession {
  /// How many requests of each kind the kernel sent; those served by its caches are not among them.
  public var requestCounts: [FuseRequestKind: UInt64] {
    var counts: [FuseRequestKind: UInt64] = [:]
    for kind in FuseRequestKind.allCases {
      let count = dispatcher.counters.requests(kind)
      if count > 0 { counts[kind] = count }
    }
    return counts
  }

  /// Replies that were let go without an answer, and so answered EIO. Anything but 0 is a fault of the file system.
  public var droppedReplies: UInt64 { dispatcher.counters.value(.droppedReplies) }

  /// Answers the kernel no longer wanted: killed callers, or the volume's end. Normal.
  public var refusedReplies: UInt64 { dispatcher.counters.value(.refusedReplies) }
}
