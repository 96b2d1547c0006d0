/// What a refresh tells.
extension Event {
  /// An item of the store is not what the volume knew.
  public struct SourceChange: Sendable {
    public enum Change: String, Sendable {
      case added, changed, gone, renamed
      /// The store has another version, and the resident copy stays what it is.
      case kept
    }

    public var path: [UInt8]
    public var change: Change
    public var kind: ItemKind
    /// Under which name callers find something else now: mostly `path`. nil when what is here stays, as in a conflict.
    public var shownPath: [UInt8]?
    /// Of `renamed`: the name it had.
    public var oldPath: [UInt8]?
    /// nil when the item was not there before, or is not there any more.
    public var old: ItemAttributes?
    public var new: ItemAttributes?
    /// Of `changed`: the bytes are what they were; mode, owner or number of names are others.
    public var isMetadataOnly: Bool {
      guard change == .changed, let old, let new else { return false }
      let relation = old.relation(to: new)
      return relation == .same || relation == .metadata
    }
    public var by: RefreshOrigin
    public var time: MonotonicTime

    public init(
      path: [UInt8], change: Change, kind: ItemKind, oldPath: [UInt8]? = nil, old: ItemAttributes?,
      new: ItemAttributes?, by: RefreshOrigin, time: MonotonicTime
    ) {
      self.path = path
      self.change = change
      self.kind = kind
      shownPath = change == .kept ? nil : path
      self.oldPath = oldPath
      self.old = old
      self.new = new
      self.by = by
      self.time = time
    }
  }

  /// The end of a refresh.
  public struct RefreshFinished: Sendable {
    public var by: RefreshOrigin
    public var counts: RefreshCounts
    public var failures: Int64
    public var outcome: Outcome
    public var duration: Nanoseconds
    public var time: MonotonicTime

    public init(
      by: RefreshOrigin, counts: RefreshCounts, failures: Int64, outcome: Outcome, duration: Nanoseconds,
      time: MonotonicTime
    ) {
      self.by = by
      self.counts = counts
      self.failures = failures
      self.outcome = outcome
      self.duration = duration
      self.time = time
    }
  }
}

/// Who asked for a refresh; the word in the log.
public enum RefreshOrigin: String, Sendable {
  case command, api, poll
}
