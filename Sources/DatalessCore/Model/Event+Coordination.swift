extension Event {
  /// One step in the life of an intent (docs/COORDINATION.md).
  public struct Coordination: Sendable {
    public enum Step: Sendable, Equatable {
      /// - Parameters:
      ///   - waitsFor: Some of the intents that keep it from being held; empty when nobody does.
      ///   - place: The name at which they do.
      case started(waitsFor: [UInt64], place: [UInt8])
      /// It may proceed.
      ///
      /// - Parameters:
      ///   - waited: From its arrival until it was held in the order.
      ///   - asking: What it waited for presenters after that.
      ///   - materializing: What it waited for content after that.
      ///   - materialized: Items that were brought here for it.
      case granted(waited: Nanoseconds, asking: Nanoseconds, materializing: Nanoseconds, materialized: Int64)
      /// - Parameters:
      ///   - outcome: `ok`, `cancelled`, the name of an error of docs/COORDINATION.md, or an errno's.
      ///   - held: From the answer to the end; nil when it was never granted.
      ///   - message: What went wrong, in words.
      ///   - others: Of what was refused before it was an intent: so many more, of the same process and for the same
      ///     reason, have no record of their own; of several processes where the caller is unknown.
      case finished(outcome: String, held: Nanoseconds?, message: String?, others: Int64 = 0)
    }

    public var intent: UInt64
    public var step: Step
    /// The first of its names, from the volume's root.
    public var path: [UInt8]
    /// The first of them, where it has several; else empty.
    public var names: [[UInt8]]
    public var reads: Int
    public var writes: Int
    /// `without_materialization`, `metadata_only`, `moving`, `deleting`, `replacing`.
    public var options: [String]
    /// The intent that it is within.
    public var within: UInt64?
    public var caller: Caller
    public var time: MonotonicTime

    public init(
      intent: UInt64, step: Step, path: [UInt8], names: [[UInt8]] = [], reads: Int, writes: Int,
      options: [String] = [], within: UInt64? = nil, caller: Caller, time: MonotonicTime
    ) {
      self.intent = intent
      self.step = step
      self.path = path
      self.names = names
      self.reads = reads
      self.writes = writes
      self.options = options
      self.within = within
      self.caller = caller
      self.time = time
    }
  }
  /// One step in the life of a presenter.
  public struct Presenter: Sendable {
    public enum Step: Sendable, Equatable {
      case started
      /// It was asked about an intent, an eviction or changes in the store, and that goes on.
      ///
      /// - Parameters:
      ///   - intent: Its number, which evictions and changes have, too.
      ///   - what: `read`, `write`, `move`, `delete`, `replace`; `evict`, `change`.
      ///   - outcome: `ok`, `timed_out`, or `withdrawn`: the intent was given up.
      case answered(intent: UInt64, what: String, took: Nanoseconds, outcome: String)
      /// - Parameters:
      ///   - outcome: `ok`: it has ended that; `ended`: its process has ended; else the name of an error of
      ///     docs/COORDINATION.md.
      ///   - message: What went wrong, in words.
      case finished(outcome: String, message: String?)
    }

    public var presenter: UInt64
    public var step: Step
    /// What it presents, from the volume's root.
    public var path: [UInt8]
    public var caller: Caller
    public var time: MonotonicTime

    public init(presenter: UInt64, step: Step, path: [UInt8], caller: Caller, time: MonotonicTime) {
      self.presenter = presenter
      self.step = step
      self.path = path
      self.caller = caller
      self.time = time
    }
  }
}
