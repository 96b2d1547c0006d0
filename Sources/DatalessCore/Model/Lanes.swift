/// Monotonic time in nanoseconds (CLOCK_MONOTONIC), or a test's own time. Never wall-clock time.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  public let nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The end of time, where it would be later than that.
  public static func + (time: MonotonicTime, span: Nanoseconds) -> MonotonicTime {
    MonotonicTime(nanoseconds: (Nanoseconds(time.nanoseconds) + span).rawValue)
  }
  public static func - (left: MonotonicTime, right: MonotonicTime) -> Nanoseconds {
    Nanoseconds(left.nanoseconds) - Nanoseconds(right.nanoseconds)
  }
}

/// The timer lane as the engine sees it: the only source of time, and the only way to be called later.
public protocol TimerLane: Sendable {
  var now: MonotonicTime { get }
  /// Calls `action` once, on the timer's thread, not before `deadline`. Actions do not block and take no longer than a
  /// reply takes. An action that finds its work done returns.
  @discardableResult
  func schedule(at deadline: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> TimerToken
  /// Takes back what was scheduled, so that nothing of it is kept until its time.
  ///
  /// - Returns: True if it will not run. False if it runs, has run or was taken back before.
  @discardableResult
  func cancel(_ token: TimerToken) -> Bool
}

/// Names one scheduled action; never given twice by one lane.
public struct TimerToken: Sendable, Hashable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The blocking I/O lane: a few threads that may wait for a disk or for SOURCE. Never joined at shutdown.
public protocol BlockingLane: Sendable {
  /// Runs `work` on one of the lane's threads, in order of submission as threads become free.
  func submit(_ work: @escaping @Sendable () -> Void)

  /// Runs short `work` on the calling thread, which is no lane's, unless so many threads do so already that too few
  /// would be left for their own work.
  ///
  /// - Returns: False when it was not run; `submit` it then.
  func runOnCaller(_ work: () -> Void) -> Bool
}

extension BlockingLane {
  public func runOnCaller(_ work: () -> Void) -> Bool { false }
}

/// Tells the kernel that what it cached is no longer true. Calls return at once; failures are the kernel's business.
public protocol KernelCache: Sendable {
  /// The next stat of the node asks again (`inval_inode(node, -1, 0)`: takes no lock, cannot block, runs on the
  /// caller).
  ///
  /// - Returns: False if the kernel has no such node (ENOENT): it has forgotten it, or an answer that brings it is on
  ///   its way.
  func invalidateAttributes(of node: NodeID) -> Bool
  /// Every name is asked for again at its next use, where the kernel can be told so; elsewhere nothing happens. Takes
  /// no lock and cannot block, runs on the caller.
  func expireNames()
  /// Pages and attributes are dropped, on the notifier lane; `completion` is called there when the kernel has done it,
  /// with what `invalidateAttributes` returns.
  func invalidateContent(of node: NodeID, completion: @escaping @Sendable (_ isKnown: Bool) -> Void)
  /// The names below a directory, absent ones included, are asked for again and its cached listing is dropped, on the
  /// notifier lane; `completion` is called there when the kernel has done it.
  ///
  /// - Parameter names: The directory's entries; called on the notifier lane, and only for a kernel that cannot drop
  ///   all names at once.
  func invalidateDirectory(
    _ node: NodeID, names: @escaping @Sendable () -> [[UInt8]], completion: @escaping @Sendable () -> Void)
  /// One name, and all that is cached below it, is forgotten, on the notifier lane: what nobody has open is given back
  /// (`Engine.forget`). Takes the directory's lock in the kernel.
  func dropName(_ name: [UInt8], of directory: NodeID)
  /// Makes up for names that could not be told as stale before, if they can be now.
  func catchUp()
}

extension KernelCache {
  public func dropName(_ name: [UInt8], of directory: NodeID) {}
  public func catchUp() {}
}

/// A FUSE node id: the place of an item's record, and above 32 bits how often the place was used before; 1 for the
/// root. Never given twice while mounted; not st_ino.
public struct NodeID: Sendable, Hashable, Comparable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
  public static let root = NodeID(rawValue: 1)
  public static func < (left: NodeID, right: NodeID) -> Bool { left.rawValue < right.rawValue }
}
