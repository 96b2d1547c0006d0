public import SystemPackage

/// How an attempt, a wait, or an eviction ended.
public enum Outcome: Sendable, Hashable {
  case ok
  /// Nobody waited any more and the attempt was given up.
  case cancelled
  case failed(Errno)

  /// `ok`, `cancelled`, or the errno's name: the word in the log.
  public var name: String {
    switch self {
    case .ok: "ok"
    case .cancelled: "cancelled"
    case .failed(let errno): errno.name
    }
  }
}

/// Whether a READ came as one read(2) with its exact range (`direct`), or from the page cache with the kernel's own.
public enum ReadMode: String, Sendable, Hashable {
  case direct
  case pageCache = "page_cache"
}

/// Whether an attempt materializes a file's content or a directory's listing.
public enum MaterializationKind: String, Sendable, Hashable {
  case file, directory
}

/// One fact for the event log. The engine says what happened; ids, times and JSON are the log writer's business.
///
/// `time` is the monotonic time at which it happened. Paths are relative to the volume's root, as bytes.
///
/// Indirect: what happened takes some 300 bytes, and goes through several hands.
public indirect enum Event: Sendable {
  case materializationStarted(MaterializationStarted)
  case waitStarted(WaitRecord)
  case waitFinished(WaitRecord)
  case materializationFinished(MaterializationFinished)
  /// A call on what is local is delayed.
  case accessStarted(AccessRecord)
  case accessFinished(AccessRecord)
  case handleClosed(HandleClosed)
  /// So far: the handle is open.
  case handleOpen(HandleClosed)
  case handleUnseen(HandleUnseen)
  /// A file was written to while another process had it open.
  case handleTogether(HandleTogether)
  case evictionFinished(EvictionRecord)
  case evictionRefused(EvictionRecord)
  case materializationRefused(Refusal)
  case materializationHeld(Hold)
  case materializationReleased(Release)
  /// A budget of `dataless run` was exceeded for the first time; by the caller named.
  case budgetExceeded(BudgetExceeded)
  /// A refresh found that an item of the store is not what the volume knew.
  case sourceChanged(SourceChange)
  case refreshFinished(RefreshFinished)
  /// A program has changed something on the volume.
  case changed(VolumeChange)
  case conflict(ConflictRecord)
  /// A program coordinates its accesses with others.
  case coordination(Coordination)
  case presenter(Presenter)

  public struct MaterializationStarted: Sendable {
    public var attempt: UInt64
    public var path: [UInt8]
    /// st_ino on the volume.
    public var inode: UInt64
    public var kind: MaterializationKind
    public var size: Int64
    public var trigger: Trigger
    public var caller: Caller
    public var offset: Int64?
    public var length: Int64?
    public var handle: UInt64?
    public var openFlags: Int32?
    public var io: ReadMode?
    /// The name that was looked up, for trigger `lookup`.
    public var name: [UInt8]?
    /// 1 for the first attempt on this item since the volume was mounted.
    public var itemAttempt: Int
    /// Attempts in flight, this one included.
    public var inFlight: Int
    /// Calls on the item before this one that reached the volume.
    public var priorOpens: Int
    public var priorStats: Int
    public var priorXattrCalls: Int
    /// All known names of a file that has several, `path` among them; else empty.
    public var names: [[UInt8]] = []
    /// Which of `names` the caller has open; nil where that cannot be had.
    public var callerPath: [UInt8]?
    /// Names of the rules that decided something about this attempt, in their order.
    public var rules: [String] = []
    /// How much of the file the attempt brings in, unless all of it at once; and which part, for `partial`.
    public var hydration: Hydration?
    public var range: Range<Int64>?
    /// A refused trigger: the delay it would have had.
    public var requestedDelay: Nanoseconds = 0
    public var time: MonotonicTime

    public init(
      attempt: UInt64, path: [UInt8], inode: UInt64, kind: MaterializationKind, size: Int64, trigger: Trigger,
      caller: Caller, offset: Int64? = nil, length: Int64? = nil, handle: UInt64? = nil, openFlags: Int32? = nil,
      io: ReadMode? = nil, name: [UInt8]? = nil, itemAttempt: Int, inFlight: Int, priorOpens: Int, priorStats: Int,
      priorXattrCalls: Int, time: MonotonicTime
    ) {
      self.attempt = attempt
      self.path = path
      self.inode = inode
      self.kind = kind
      self.size = size
      self.trigger = trigger
      self.caller = caller
      self.offset = offset
      self.length = length
      self.handle = handle
      self.openFlags = openFlags
      self.io = io
      self.name = name
      self.itemAttempt = itemAttempt
      self.inFlight = inFlight
      self.priorOpens = priorOpens
      self.priorStats = priorStats
      self.priorXattrCalls = priorXattrCalls
      self.time = time
    }
  }

  /// One waiter of an attempt. `blocked` and `outcome` are nil in `waitStarted`.
  public struct WaitRecord: Sendable {
    public var attempt: UInt64
    public var caller: Caller
    public var trigger: Trigger
    public var offset: Int64?
    public var length: Int64?
    public var blocked: Nanoseconds?
    public var outcome: Outcome?
    /// In `waitFinished`: of a lookup whose directory was listed.
    public var lookup: AnsweredLookup?
    /// In `waitStarted`: whether a rule wants the caller's stack, or wants none; nil: none says anything.
    public var takesStack: Bool?
    public var time: MonotonicTime

    public init(
      attempt: UInt64, caller: Caller, trigger: Trigger, offset: Int64?, length: Int64?, blocked: Nanoseconds?,
      outcome: Outcome?, time: MonotonicTime
    ) {
      self.attempt = attempt
      self.caller = caller
      self.trigger = trigger
      self.offset = offset
      self.length = length
      self.blocked = blocked
      self.outcome = outcome
      self.time = time
    }
  }

  public struct MaterializationFinished: Sendable {
    public var attempt: UInt64
    public var path: [UInt8]
    public var kind: MaterializationKind
    /// Bytes of content fetched (a file's size when ok); 0 for a directory.
    public var bytes: Int64
    /// Entries listed, for a directory.
    public var entries: Int?
    public var outcome: Outcome
    /// What went wrong, in words; nil when ok.
    public var message: String?
    /// The rule that staged the outcome, or the setting (`offline`, `give_up_after`); nil for a real outcome.
    public var rule: String?
    /// Delay asked for by the latency model, and the delay that really passed in that stage.
    public var requestedDelay: Nanoseconds
    public var delay: Nanoseconds
    /// Time held at a gate, and time spent waiting for a slot.
    public var held: Nanoseconds
    public var queued: Nanoseconds
    /// Time spent in the backing store and the content store.
    public var storeTime: Nanoseconds
    /// From the trigger to the outcome.
    public var duration: Nanoseconds
    public var waiterCount: Int
    /// At most the first 64 waiters, each with its blocked time.
    public var waiters: [WaitRecord]
    public var time: MonotonicTime

    public init(
      attempt: UInt64, path: [UInt8], kind: MaterializationKind, bytes: Int64, entries: Int?, outcome: Outcome,
      message: String?, rule: String?, requestedDelay: Nanoseconds, delay: Nanoseconds,
      held: Nanoseconds, queued: Nanoseconds, storeTime: Nanoseconds, duration: Nanoseconds,
      waiterCount: Int, waiters: [WaitRecord], time: MonotonicTime
    ) {
      self.attempt = attempt
      self.path = path
      self.kind = kind
      self.bytes = bytes
      self.entries = entries
      self.outcome = outcome
      self.message = message
      self.rule = rule
      self.requestedDelay = requestedDelay
      self.delay = delay
      self.held = held
      self.queued = queued
      self.storeTime = storeTime
      self.duration = duration
      self.waiterCount = waiterCount
      self.waiters = waiters
      self.time = time
    }
  }

  /// A trigger that policy answered at once: what it would have started, had it been let.
  public struct Refusal: Sendable {
    /// `attempt` is 0: there was none.
    public var trigger: MaterializationStarted
    public var errno: Errno
    /// `thread`, `process`, `rule:NAME` or `volume`: who said no.
    public var policy: String

    public init(trigger: MaterializationStarted, errno: Errno, policy: String) {
      self.trigger = trigger
      self.errno = errno
      self.policy = policy
    }
  }

  public struct EvictionRecord: Sendable {
    public var path: [UInt8]
    /// All known names of a file that has several, `path` among them; else empty.
    public var names: [[UInt8]] = []
    public var kind: MaterializationKind
    public var bytes: Int64
    /// `evictionFinished`: whether the store had another version already, which has the name from now on.
    public var isSuperseded = false
    /// nil in `evictionFinished`.
    public var errno: Errno?
    /// `evictionRefused`: why.
    public var reason: EvictionRefusal.Reason?
    /// For room, on a read-only volume: why it went before others, and the area in which it lies.
    public var purge: PurgeReason?
    public var area: String?
    /// `command`; `rule:NAME`; `quota`; `pressure`; `source`: the store has another version, or none, and the last
    /// handle was closed.
    public var by: String
    public var time: MonotonicTime

    public init(path: [UInt8], kind: MaterializationKind, bytes: Int64, errno: Errno?, by: String, time: MonotonicTime)
    {
      self.path = path
      self.kind = kind
      self.bytes = bytes
      self.errno = errno
      self.by = by
      self.time = time
    }
  }

  public struct BudgetExceeded: Sendable {
    /// `files` or `bytes`.
    public var budget: String
    public var limit: Int64
    public var used: Int64
    public var attempt: UInt64
    public var path: [UInt8]
    public var caller: Caller
    public var time: MonotonicTime

    public init(
      budget: String, limit: Int64, used: Int64, attempt: UInt64, path: [UInt8], caller: Caller, time: MonotonicTime
    ) {
      self.budget = budget
      self.limit = limit
      self.used = used
      self.attempt = attempt
      self.path = path
      self.caller = caller
      self.time = time
    }
  }
}

/// Receives events. `record` returns at once on any lane, without blocking and without a lock held for longer than a
/// few statements; a sink that is full drops and counts.
public protocol EventSink: Sendable {
  func record(_ event: Event)
}
