/// The id of one process (one pid, one start time, one executable) in the log of this session. 0 = unknown.
public struct ProcessID: Sendable, Hashable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let unknown = ProcessID(rawValue: 0)
}

/// Who made a request: captured while the caller is still blocked, because later it may be gone.
public struct Caller: Sendable, Hashable {
  public var process: ProcessID
  /// Linux thread id, in the daemon's pid namespace; 0 when the caller lives in another one.
  public var threadID: Int32
  /// The process (thread group) id; 0 when unknown.
  public var pid: Int32
  /// Whether the calling thread is its process' first thread.
  public var isMainThread: Bool
  public var uid: UInt32
  public var gid: UInt32
  /// Whether the process descends from the process whose materializations are budgeted (`dataless run`).
  public var isBudgeted: Bool
  /// What the caller has set for itself about materializing.
  public var policy: CallerPolicy
  /// Of a thread that waits, or may have to, and is not its process' first; none where it is called as its process is.
  public var threadName = ThreadName.none

  public init(
    process: ProcessID, threadID: Int32, pid: Int32, isMainThread: Bool, uid: UInt32, gid: UInt32,
    isBudgeted: Bool = false, policy: CallerPolicy = .unset
  ) {
    self.process = process
    self.threadID = threadID
    self.pid = pid
    self.isMainThread = isMainThread
    self.uid = uid
    self.gid = gid
    self.isBudgeted = isBudgeted
    self.policy = policy
  }
}

/// The operation that caused a materialization. The raw value is the word in the log.
public enum Trigger: String, Sendable, Hashable, CaseIterable {
  case read, write, truncate
  case openTruncate = "open_truncate"
  case link, copy, open, xattr, seek, readdir, lookup, command
  /// An intent of docs/COORDINATION.md, which has the content brought here before it is granted.
  case coordinate
  /// A content policy wants it: nobody waits.
  case eager
}
