/// What of one item is local, and who is at work on it: the content of a file, or of a directory the listing.
///
/// Each change is a verb here, which says what follows from it; the engine does that, and asks nothing else what a file
/// is in. It knows no lock, no clock and no store. Between changes it lies in two places (`ItemContents`): what every
/// item has in its record, and the rest, which few have at a time, in a table.
struct ItemContent {
  /// What every item has.
  struct Cell: BitwiseCopyable, Equatable {
    var state: ContentState
    /// Where a file's content lies, if some of it is there.
    var reference = ContentID.none
    /// What the store told of the item when it was fetched, as `StoreContent.generation`; 0 if nothing.
    var generation: UInt32 = 0
    /// Whether reads of the content were watched, and no open since has hidden them.
    var isWatched = false
    /// Whether the kernel may have pages of the content in its cache, or has served its reads alone.
    var mayBeCached = false
    /// Whether a program has written to it on the volume, so that it is nowhere else. Dirty content is complete, and
    /// lies in a file of its own.
    fileprivate(set) var isDirty = false

    init(
      state: ContentState, reference: ContentID = .none, generation: UInt32 = 0, isWatched: Bool = false,
      mayBeCached: Bool = false, isDirty: Bool = false
    ) {
      self.state = state
      self.reference = reference
      self.generation = generation
      self.isWatched = isWatched
      self.mayBeCached = mayBeCached
      self.isDirty = isDirty
    }
  }

  /// What few items have at a time.
  struct Work {
    /// Content that came, or comes, in ranges: until the file is resident and nobody writes to it any more.
    fileprivate(set) var parts: RangedContent?
    /// The attempt in flight for all of it.
    fileprivate var whole: AttemptID?
    /// The attempts in flight for parts of it.
    fileprivate var ranges: RangeAttempts?
    /// The number of the last passthrough open since it was last known that nobody maps the content; nil: nobody does.
    fileprivate(set) var lastPassthroughOpen: UInt64?

    /// A newer version that the store has, while the resident content stays what it is: what the file becomes when it
    /// is evicted.
    fileprivate(set) var retained: ListedItem?

    var isNone: Bool {
      parts == nil && whole == nil && ranges == nil && lastPassthroughOpen == nil && retained == nil
    }
  }

  private(set) var cell: Cell
  private(set) var work: Work

  init(_ cell: Cell, _ work: Work = Work()) {
    self.cell = cell
    self.work = work
  }

  /// Takes over what the item's record says by now.
  mutating func renew(_ cell: Cell) { self.cell = cell }

  // MARK: - Looking

  var state: ContentState { cell.state }
  var parts: RangedContent? { work.parts }

  /// Whether an attempt is in flight.
  var isBusy: Bool { work.whole != nil || work.ranges != nil }

  /// As `Cell.isDirty`.
  var isDirty: Bool { cell.isDirty }

  /// The attempts in flight.
  var attempts: [AttemptID] { [work.whole].compactMap(\.self) + (work.ranges?.ids ?? []) }

  /// Whether a transfer may still write to its content.
  var isBeingWritten: Bool { isBusy || (work.parts?.transfers ?? 0) > 0 }

  /// Bytes that are there of a file of which others are missing; nil: none, or it is resident.
  var partialBytes: Int64? {
    guard cell.state != .resident, let count = work.parts?.ranges.count, count > 0 else { return nil }
    return count
  }

  /// The attempt in flight that brings in what a caller wants.
  func attempt(for wanted: Range<Int64>) -> AttemptID? { work.whole ?? work.ranges?.attempt(with: wanted) }

  /// Whether a new attempt has to go by ranges: part is there, or comes.
  var isInRanges: Bool { work.parts != nil || work.ranges != nil }

  // MARK: - Attempts

  /// An attempt starts. - Parameter range: What it brings in; nil: all of it.
  mutating func begin(_ attempt: AttemptID, range: Range<Int64>?) {
    if let range {
      work.ranges = work.ranges ?? RangeAttempts()
      work.ranges?.insert(attempt, range)
    } else {
      work.whole = attempt
    }
    cell.state = .materializing
  }

  /// An attempt has ended.
  ///
  /// - Parameters:
  ///   - range: As it was begun with.
  ///   - isRanged: Whether it went by ranges, whatever it brought in.
  /// - Returns: Content to be removed that nothing names any more.
  mutating func end(_ attempt: AttemptID, range: Range<Int64>?, isRanged: Bool, isOk: Bool) -> Dropped? {
    if work.whole == attempt { work.whole = nil }
    if let range {
      work.ranges?.remove(attempt, range)
      if work.ranges?.isEmpty == true { work.ranges = nil }
    }
    guard isRanged else {
      cell.state = isOk ? .resident : .dataless
      return nil
    }
    if let parts = work.parts, parts.isComplete {
      cell.state = .resident
      forgetIdleParts()
      return nil
    }
    // An attempt beside this one has completed the file.
    if work.parts == nil, cell.state == .resident { return nil }
    if isBusy {
      cell.state = .materializing
    } else if work.parts?.ranges.isEmpty ?? true {
      return drop()
    } else {
      cell.state = .partial
    }
    return nil
  }

  // MARK: - Content that comes

  /// The content is complete in the content store, or the listing in the namespace.
  mutating func commit(_ reference: ContentID, generation: UInt32) {
    cell.reference = reference
    cell.generation = generation
  }

  /// Lets a transfer write.
  ///
  /// - Parameter made: Room for the content if it had none; called then only.
  /// - Returns: nil when there is no room yet and none was made; and when it is to write to nothing any more.
  mutating func lease(generation: UInt32, made: () -> RangedContent?) -> RangedContent? {
    // What programs write is never the store's bytes, and what is complete misses none.
    guard !cell.isDirty, cell.state != .resident || work.parts != nil else { return nil }
    if work.parts == nil {
      guard let made = made() else { return nil }
      work.parts = made
      commit(made.reference, generation: generation)
    }
    work.parts?.transfers += 1
    return work.parts
  }

  /// A range is written. - Returns: False when the content is no longer the file's.
  mutating func arrived(_ range: Range<Int64>, in id: UInt64) -> Bool {
    guard work.parts?.id == id else { return false }
    work.parts?.ranges.insert(range)
    return true
  }

  /// A transfer will not write any more. - Returns: False when the content is no longer the file's.
  mutating func endTransfer(in id: UInt64) -> Bool {
    guard work.parts?.id == id else { return false }
    work.parts?.transfers -= 1
    if cell.state == .resident { forgetIdleParts() }
    return true
  }

  /// Where the ranges lie matters no more once all are there and nobody writes.
  private mutating func forgetIdleParts() {
    if work.parts?.transfers == 0, !isBusy { work.parts = nil }
  }

  /// A file that comes in ranges is counted among what was materialized. - Returns: Whether it was not before.
  mutating func countFile() -> Bool {
    guard work.parts?.isCounted == false else { return false }
    work.parts?.isCounted = true
    return true
  }

  /// As `countFile`, for the budgets.
  mutating func chargeFile() -> Bool {
    guard work.parts?.isCharged == false else { return false }
    work.parts?.isCharged = true
    return true
  }

  // MARK: - Content that goes

  /// A program is about to write to it. Only content that is complete, and that no transfer writes to, becomes dirty.
  ///
  /// - Parameter content: Where it lies from now on: content that may be written is never in a slab.
  /// - Returns: Where it lay, to be removed when nobody reads it any more; nil if it stays, or has not become dirty.
  mutating func makeDirty(in content: ContentID) -> ContentID? {
    guard cell.state == .resident, !isBeingWritten else { return nil }
    let former = cell.reference
    cell.reference = content
    cell.isDirty = true
    return former == content || former == .none ? nil : former
  }

  /// What is there of it gives way to content that programs write: it has been copied into that, or is not wanted.
  /// Never while an attempt is in flight, which would put its content in the place of what is written, nor of dirty
  /// content.
  ///
  /// - Returns: What was there.
  mutating func replace(with content: ContentID, size: Int64) -> Dropped? {
    let isWhole = cell.state == .resident
    let hadContent = cell.reference != .none
    let dropped = drop()
    cell.state = .resident
    cell.reference = content
    cell.isDirty = true
    guard hadContent, let dropped else { return nil }
    return Dropped(
      reference: dropped.reference, bytes: isWhole ? size : dropped.bytes, writtenTo: dropped.writtenTo)
  }

  /// It is made on the volume: nothing of it is anywhere else. A directory is listed from the beginning.
  mutating func makeHere() { cell.state = .resident }

  /// An earlier run has kept it, and it is complete. - Parameter content: `none` of an empty file.
  mutating func restore(_ content: ContentID, isDirty: Bool) {
    cell.state = .resident
    cell.reference = content
    cell.isDirty = isDirty
  }

  /// The store has what was written, or nothing was. - Parameter generation: As `commit`; nil: as before.
  mutating func makeClean(generation: UInt32? = nil) {
    guard cell.isDirty else { return }
    cell.isDirty = false
    cell.generation = generation ?? cell.generation
  }

  /// The content stays what it is although the store has another version.
  mutating func retain(insteadOf newer: ListedItem) { work.retained = newer }

  /// The store has the version again that the content is.
  mutating func endRetaining() { work.retained = nil }

  /// Takes all content away from an item that nobody has open, and what is known of the opens that it had. Of dirty
  /// content, only when its item is removed.
  ///
  /// - Parameter size: Of a file.
  mutating func evict(size: Int64) -> Dropped? {
    let isWhole = cell.state == .resident
    let dropped = drop()
    cell.isWatched = false
    // The kernel drops its pages before anything else is read.
    cell.mayBeCached = false
    work.lastPassthroughOpen = nil
    let newer = work.retained
    work.retained = nil
    cell.isDirty = false
    guard let dropped else { return nil }
    return Dropped(
      reference: dropped.reference, bytes: isWhole ? size : dropped.bytes, writtenTo: dropped.writtenTo, newer: newer)
  }

  /// Nothing is local any more. - Returns: What was; nil for nothing.
  private mutating func drop() -> Dropped? {
    let (reference, parts, isWhole) = (cell.reference, work.parts, cell.state == .resident)
    cell.state = .dataless
    cell.reference = ContentID.none
    work.parts = nil
    guard isWhole || parts != nil else { return nil }
    return Dropped(
      reference: reference, bytes: parts?.ranges.count ?? 0,
      writtenTo: parts.flatMap { $0.transfers > 0 ? $0 : nil })
  }

  // MARK: - Opens

  /// Reads of it are watched from now on, or hidden from us.
  mutating func setWatched(_ isWatched: Bool) { cell.isWatched = isWatched }

  /// The kernel may have pages of it.
  mutating func noteCached() { cell.mayBeCached = true }

  /// It is opened for passthrough: a mapping may outlive the handle. - Parameter number: Never given twice.
  mutating func notePassthrough(_ number: UInt64) { work.lastPassthroughOpen = number }
}
