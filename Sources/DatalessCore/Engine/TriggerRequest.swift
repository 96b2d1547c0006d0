internal import SystemPackage

/// One blocked caller's name in the engine: unique while mounted, and the token under which its interrupt arrives.
public struct WaiterID: Sendable, Hashable {
  public let rawValue: UInt64
  public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What a caller did that needs content or a listing, as the log tells it.
public struct TriggerRequest: Sendable {
  public var trigger: Trigger
  public var caller: Caller
  public var offset: Int64?
  public var length: Int64?
  public var handle: UInt64?
  public var openFlags: Int32?
  public var io: ReadMode?
  public var name: [UInt8]?
  /// What the caller is doing, of a READ that comes from the page cache.
  public var pageWait: PageWait
  /// The name of the file that the caller has open, where it can be had; believed only if it is one of the file's
  /// names.
  public var callerPath: [UInt8]?
  /// Whether the caller waits for the outcome.
  public var isAwaited = true
  /// Whether it is a wait to whoever reads the log: a caller's, or what an intent waits for.
  var isWait: Bool { isAwaited || trigger == .coordinate }

  public init(
    trigger: Trigger, caller: Caller, offset: Int64? = nil, length: Int64? = nil, handle: UInt64? = nil,
    openFlags: Int32? = nil, io: ReadMode? = nil, name: [UInt8]? = nil, pageWait: PageWait = .call
  ) {
    self.trigger = trigger
    self.caller = caller
    self.offset = offset
    self.length = length
    self.handle = handle
    self.openFlags = openFlags
    self.io = io
    self.name = name
    self.pageWait = pageWait
  }
}

/// How a wait ended.
public enum WaitResult: Sendable {
  case ready
  case failed(FSError)
}

/// What the engine did with a trigger.
public enum Admission: Sendable {
  /// The caller waits; the completion is called exactly once: later, on another thread, or, for an attempt that ends at
  /// once, on this thread before the answer is returned.
  case parked
  /// Nothing to wait for; the completion is not called.
  case ready
  /// Answered at once; the completion is not called.
  case failed(FSError)
}
