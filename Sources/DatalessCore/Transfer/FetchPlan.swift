/// What a fetch is to do next, in which order and in which portions. A plan does nothing itself: who carries it out
/// asks for a step, does it, and says what it found. So one plan serves stores whose calls block and stores whose calls
/// wait.
protocol FetchPlan: Sendable {
  /// What is done beside the store: in the content store and in the engine.
  associatedtype LocalStep: Sendable

  /// The next step; asked for when the one before it is done.
  ///
  /// - Parameter chunk: How many bytes the simulated line carries at a time; nil when there is none.
  mutating func next(chunk: Int64?) -> FetchStep<LocalStep>

  /// The store has opened the item. - Parameter hasDescriptor: Whether its content may be copied from a descriptor.
  mutating func opened(hasDescriptor: Bool)

  /// Where the store has data, at or after the offset that was asked for; nil: nowhere.
  mutating func found(_ data: Range<Int64>?)

  /// The last step has failed for want of a descriptor.
  ///
  /// - Returns: Whether the plan begins again with opening the item: only as long as nothing has been written.
  mutating func tryAgain() -> Bool
}

enum FetchStep<LocalStep: Sendable> {
  /// Let so many bytes come over the simulated line.
  case carry(Int64)
  case store(StoreStep)
  case local(LocalStep)
  /// Let others have the lane.
  case makeWay
  /// All is there; or, if `isPlanned`, a planned fault comes now.
  case end(isPlanned: Bool)
}

/// What is asked of the store.
enum StoreStep: Sendable, Equatable {
  /// Answered by `FetchPlan.opened`.
  case open
  /// Answered by `FetchPlan.found`.
  case findData(from: Int64)
  /// Read all bytes of a range, which the next local step writes.
  case read(Range<Int64>)
  /// Check that the version is still the listed one.
  case verify
}

/// What a fetch has of its source when it does a local step.
struct FetchedPart {
  /// Of the open source; nil for computed content, and for a store whose calls wait.
  let descriptor: CInt?
  let generation: UInt32
  /// What was read last.
  let bytes: UnsafeRawBufferPointer
}

/// A plan, and the content that it fills.
protocol Fetch: Sendable {
  associatedtype Plan: FetchPlan
  var plan: Plan { get set }

  /// Does a local step. May block for the local disk.
  ///
  /// - Returns: False when the attempt has ended: the fetch stops.
  mutating func perform(_ step: Plan.LocalStep, _ part: FetchedPart) throws(FSError) -> Bool

  /// Gives back what it holds, and tells the engine. Called once, after the source was closed.
  mutating func end(_ end: TransferEnd, generation: UInt32, storeTime: Nanoseconds)
}

/// A fetch whose source is open between steps, whichever kind of store it is from.
protocol SourceFetch {
  associatedtype Content: Fetch
  var content: Content { get set }

  /// Closes the source, if it is open. - Returns: As `StoreContent.generation`; 0 if it was not open.
  mutating func closeSource() -> UInt32
}

extension SourceFetch {
  mutating func tryAgain() -> Bool {
    guard content.plan.tryAgain() else { return false }
    _ = closeSource()
    return true
  }

  mutating func end(_ end: TransferEnd, storeTime: Nanoseconds) {
    let generation = closeSource()
    content.end(end, generation: generation, storeTime: storeTime)
  }
}

/// What a fetch may copy before it lets others have the lane: much, to be cheap, and not everything.
struct LaneShare {
  /// In bytes.
  let size: Int64
  /// LIMIT: a sparse file may have millions of small runs.
  private static let runsMax = 256
  private var copied: Int64 = 0
  private var runs = 0

  init(size: Int64) { self.size = size }

  var isUsed: Bool { copied >= size || runs >= Self.runsMax }

  mutating func note(_ bytes: Int64) {
    copied += bytes
    runs += 1
  }

  /// Another step begins.
  mutating func renew() { self = LaneShare(size: size) }
}

extension Range<Int64> {
  /// The first bytes of it, at most so many. As lengths: a file may end where a sum would be more than an offset can
  /// be.
  func prefix(_ most: Int64) -> Range<Int64> {
    lowerBound..<lowerBound + Swift.min(upperBound - lowerBound, most)
  }
}
