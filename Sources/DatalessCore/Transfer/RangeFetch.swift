internal import DequeModule
internal import SystemPackage

/// The fetch of ranges of a file (`Hydration.progressive` and `.partial`). Each piece is read, then the source is
/// checked to be the listed version still, then the piece is written, and only then told.
///
/// Whatever goes wrong, what has been told stays: it is complete in itself and of the listed version.
struct RangeFetch: Fetch {
  var plan: RangeFetchPlan
  private let engine: Engine
  private let attempt: AttemptID
  private let item: StoreBinding
  private let fault: Decision.Part<Fault>?
  private var writer: (any RangeWriter)?
  private var lease: TransferLease?

  init(engine: Engine, attempt: AttemptID, item: StoreBinding, fault: Decision.Part<Fault>?) {
    self.engine = engine
    self.attempt = attempt
    self.item = item
    self.fault = fault
    plan = RangeFetchPlan(fault: fault?.value)
  }

  mutating func perform(_ step: RangeFetchPlan.LocalStep, _ part: FetchedPart) throws(FSError) -> Bool {
    switch step {
    case .findMissing:
      guard let missing = engine.missingRanges(attempt) else { return false }
      plan.begin(missing)
      return true
    case .write(let piece):
      guard let writer = try writer(part.generation) else { return false }
      try engine.usingTrashForRoom { () throws(FSError) in try writer.write(part.bytes, at: piece.lowerBound) }
      return true
    case .tell(let piece):
      guard try writer(part.generation) != nil, let lease else { return false }
      return engine.arrived(piece, of: attempt, in: lease)
    }
  }

  /// Writes to the file's content, which is made when the first bytes are there; nil when the attempt has ended.
  private mutating func writer(_ generation: UInt32) throws(FSError) -> (any RangeWriter)? {
    if let writer { return writer }
    if lease == nil { lease = engine.leaseContent(attempt, made: nil) }
    if lease == nil {
      let made = try engine.usingTrashForRoom { () throws(FSError) in
        try engine.content.makeRanged(size: item.version.size)
      }
      lease = engine.leaseContent(attempt, made: made, generation: generation)
      if lease?.reference != made { engine.content.remove(made) }
    }
    guard let lease else { return nil }
    let writer = try engine.content.rangeWriter(lease.reference)
    self.writer = writer
    return writer
  }

  mutating func end(_ end: TransferEnd, generation: UInt32, storeTime: Nanoseconds) {
    switch end {
    case .complete:
      engine.keepAccessACL(of: attempt, item)
      engine.rangesArrived(attempt, storeTime: storeTime)
    case .gone: break
    case .failed(let error): engine.failed(attempt, error, storeTime: storeTime)
    case .planned: fail(storeTime)
    }
    writer?.finish()
    if let lease { engine.endTransfer(lease) }
  }

  private func fail(_ storeTime: Nanoseconds) {
    guard let fault, let errno = fault.value.errno else { return engine.stuck(attempt) }
    let error = FSError(errno, "a planned fault after \(plan.done) of \(plan.total) bytes")
    engine.failed(attempt, error, rule: fault.rule, storeTime: storeTime)
  }
}

/// In which order ranges of a file are fetched.
struct RangeFetchPlan: FetchPlan {
  enum LocalStep: Equatable {
    /// Find out which ranges are missing: `begin`.
    case findMissing
    /// Write what was read.
    case write(Range<Int64>)
    /// Tell the engine that a range is there: written, or a hole, which reads as zeros.
    case tell(Range<Int64>)
  }

  /// What comes next.
  private enum Stage {
    case findMissing, line, open, piece
    /// Where the data is, of what is missing; nil: a hole up to its end.
    case found(Range<Int64>?)
    case verify(Range<Int64>)
    case write(Range<Int64>)
    case tell(Range<Int64>)
    case endPiece
  }

  /// Bytes that were missing at the start, and that have come since.
  private(set) var total: Int64 = 0
  private(set) var done: Int64 = 0
  private let fault: Fault?
  /// Where a planned fault comes.
  private var limit: Int64?
  private var stage = Stage.findMissing
  /// What is still to come, in order.
  private var missing: Deque<Range<Int64>> = []
  /// Bytes that have arrived over the simulated line and are not copied yet.
  private var arrived: Int64 = 0
  private var share = LaneShare(size: 8 << 20)

  /// One piece: small, so that the first bytes come soon, and large enough to be cheap.
  private static let pieceSize: Int64 = 1 << 20

  init(fault: Fault?) { self.fault = fault }

  mutating func begin(_ missing: [Range<Int64>]) {
    self.missing = Deque(missing)
    total = missing.reduce(0) { $0 + Int64($1.count) }
    limit = fault?.failingOffset(size: total)
    stage = .line
  }

  mutating func next(chunk: Int64?) -> FetchStep<LocalStep> {
    while true {
      switch stage {
      case .findMissing: return .local(.findMissing)
      case .line:
        stage = total > 0 ? .open : .piece
        // Before anything is opened: thousands of transfers may wait for the line.
        if let chunk, total > 0 { return carry(min(total, chunk)) }
      case .open:
        stage = .piece
        return .store(.open)
      case .piece:
        guard let first = missing.first, done < limit ?? .max else { return .end(isPlanned: limit != nil) }
        return .store(.findData(from: first.lowerBound))
      case .found(let data):
        if let step = beginPiece(data, chunk) { return step }
      case .verify(let piece):
        // Before anything is written: content never holds a byte of another version.
        stage = .write(piece)
        return .store(.verify)
      case .write(let piece):
        stage = .tell(piece)
        return .local(.write(piece))
      case .tell(let piece):
        count(piece)
        // What would complete a transfer that is to fail is kept back.
        if limit == nil || !missing.isEmpty { return .local(.tell(piece)) }
      case .endPiece:
        stage = .piece
        if share.isUsed, !missing.isEmpty {
          share.renew()
          return .makeWay
        }
      }
    }
  }

  /// Begins with the next piece, which is data or a hole.
  private mutating func beginPiece(_ data: Range<Int64>?, _ chunk: Int64?) -> FetchStep<LocalStep>? {
    guard let first = missing.first else {
      stage = .piece
      return nil
    }
    let part = first.prefix(limit.map { $0 - done } ?? .max)
    let start = min(data?.lowerBound ?? part.upperBound, part.upperBound)
    if start > part.lowerBound {
      // A hole: nothing to carry; the content reads as zeros where nothing was written.
      stage = .tell(part.lowerBound..<start)
      return .store(.verify)
    }
    let end = min(part.upperBound, data?.upperBound ?? part.upperBound)
    let piece = (part.lowerBound..<end).prefix(min(chunk ?? Self.pieceSize, Self.pieceSize))
    if chunk != nil {
      let size = Int64(piece.count)
      if size > arrived { return carry(size - arrived) }
      arrived -= size
    }
    stage = .verify(piece)
    return .store(.read(piece))
  }

  private mutating func count(_ piece: Range<Int64>) {
    done += Int64(piece.count)
    share.note(Int64(piece.count))
    if let first = missing.first {
      if piece.upperBound >= first.upperBound {
        missing.removeFirst()
      } else {
        missing[0] = piece.upperBound..<first.upperBound
      }
    }
    stage = .endPiece
  }

  private mutating func carry(_ bytes: Int64) -> FetchStep<LocalStep> {
    arrived += bytes
    share.renew()
    return .carry(bytes)
  }

  mutating func opened(hasDescriptor: Bool) {}

  mutating func found(_ data: Range<Int64>?) { stage = .found(data) }

  mutating func tryAgain() -> Bool {
    // Nothing has been fetched, and the only thing that needs a descriptor then is the source.
    guard case .piece = stage, done == 0 else { return false }
    stage = .open
    return true
  }
}
