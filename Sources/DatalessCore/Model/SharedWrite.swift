/// A write to a file that others have open, too: what is asked about it while its call is under way.
///
/// Only then it can be known that the caller holds no lock: a moment later it may have given it back.
public struct SharedWrite: Sendable {
  /// Who opened a file.
  public struct Opener: Sendable, Equatable {
    /// As it was when it opened the file; unknown where nobody asked.
    public var process: ProcessID
    /// The thread that called open(2); 0 when it lives in another pid namespace.
    public var threadID: Int32
    /// Whether it may write.
    public var writes: Bool

    public init(process: ProcessID, threadID: Int32, writes: Bool) {
      self.process = process
      self.threadID = threadID
      self.writes = writes
    }

    /// Whether both are one process for certain.
    func isSame(_ other: Opener) -> Bool {
      (process != .unknown && process == other.process) || (threadID != 0 && threadID == other.threadID)
    }
  }

  /// What the look has shown.
  public enum Answer: Sendable, Equatable {
    /// Nobody but the writer's process has the file open.
    case alone
    case together(Together)
  }

  /// The writer, and one other process that has the file open.
  public struct Together: Sendable, Equatable {
    public var writer: Caller
    /// Unknown where it cannot be had.
    public var other: ProcessID
    public var otherWrites: Bool
    public var lock: LockSight

    public init(writer: Caller, other: ProcessID, otherWrites: Bool, lock: LockSight) {
      self.writer = writer
      self.other = other
      self.otherWrites = otherWrites
      self.lock = lock
    }
  }

  /// The thread that writes; 0 when it lives in another pid namespace.
  public var threadID: Int32
  /// Who opened the file that is written through; a child may have inherited it.
  public var opener: Caller
  /// All known names of the file, from the volume's root.
  public var names: [[UInt8]]
  /// Who else has it open, at most `othersMax` different ones.
  public var others: [Opener]
  /// The number of the file's latest open.
  var latest: UInt64

  // LIMIT: processes that are looked at for one write.
  static let othersMax = 8

  public init(threadID: Int32, opener: Caller, names: [[UInt8]], others: [Opener], latest: UInt64 = 0) {
    self.threadID = threadID
    self.opener = opener
    self.names = names
    self.others = others
    self.latest = latest
  }
}

/// Whether somebody who writes beside others holds a lock.
public enum LockSight: Sendable, Hashable {
  case held
  case free
  case unknown(Reason)

  /// Why nobody knows. The raw value is the word in the log.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The kernel writes to the content itself: no call is seen.
    case unseen
    /// Mappings stored to it: whose they are, and what was locked then, nobody sees.
    case mapped
    /// The writer may not be looked at.
    case notPermitted = "not_permitted"
    /// The writer sees the volume in another place, or lives in another pid namespace.
    case elsewhere
    /// Who has the file open, too, is not known.
    case otherUnknown = "other_unknown"
    /// There were more such writes, or descriptors, than are looked at.
    case tooMany = "too_many"
  }
}

/// Looks at processes that have one file of the volume open.
public protocol HolderProbe: Sendable {
  /// Called while the writer's call is under way, without the engine's lock. Returns at once.
  func look(at write: SharedWrite) -> SharedWrite.Answer
}
