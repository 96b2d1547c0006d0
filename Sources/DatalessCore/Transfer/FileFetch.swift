internal import SystemPackage

/// The fetch of all of a file's content: open and check, copy run by run, check again, commit.
///
/// Whatever goes wrong, what was written is discarded before the attempt fails: content is committed only when
/// complete.
struct FileFetch: Fetch {
  var plan: FileFetchPlan
  private let engine: Engine
  private let attempt: AttemptID
  private let item: StoreBinding
  private let fault: Decision.Part<Fault>?
  private var writer: (any ContentWriter)?
  private var committed: ContentID?

  init(engine: Engine, attempt: AttemptID, item: StoreBinding, fault: Decision.Part<Fault>?) {
    self.engine = engine
    self.attempt = attempt
    self.item = item
    self.fault = fault
    plan = FileFetchPlan(size: item.version.size, fault: fault?.value)
  }

  mutating func perform(_ step: FileFetchPlan.LocalStep, _ part: FetchedPart) throws(FSError) -> Bool {
    if step == .makeRoom {
      writer = try engine.usingTrashForRoom { () throws(FSError) in
        try engine.content.makeWriter(size: item.version.size)
      }
      return true
    }
    guard let writer else { return false }
    switch step {
    case .makeRoom: break
    case .clone:
      if let descriptor = part.descriptor, writer.clone(from: descriptor) { plan.cloned() }
    case .copy(let range):
      guard let descriptor = part.descriptor else { return false }
      // Of a range that was copied in part, all is copied again: they are the same bytes.
      let copied = try engine.usingTrashForRoom { () throws(FSError) in
        try writer.copy(from: descriptor, range: range)
      }
      guard copied == Int64(range.count) else { throw FSError.ended(at: range.lowerBound + copied, of: item) }
    case .write(let range):
      try engine.usingTrashForRoom { () throws(FSError) in try writer.write(part.bytes, at: range.lowerBound) }
    case .commit:
      committed = try writer.commit()
      self.writer = nil
    }
    return true
  }

  mutating func end(_ end: TransferEnd, generation: UInt32, storeTime: Nanoseconds) {
    if case .complete = end { engine.keepAccessACL(of: attempt, item) }
    if case .complete = end, let committed,
      engine.fetched(attempt, reference: committed, generation: generation, storeTime: storeTime)
    {
      return
    }
    writer?.discard()
    if let committed { engine.content.remove(committed) }
    switch end {
    case .complete, .gone: break
    case .failed(let error): engine.failed(attempt, error, storeTime: storeTime)
    case .planned:
      guard let fault, let errno = fault.value.errno else { return engine.stuck(attempt) }
      let error = FSError(errno, "a planned fault at byte \(plan.end) of \(item.version.size)")
      engine.failed(attempt, error, rule: fault.rule, storeTime: storeTime)
    }
  }
}

/// In which order a whole file is fetched.
struct FileFetchPlan: FetchPlan {
  enum LocalStep: Equatable {
    case makeRoom
    /// Share the source's extents, if the file systems can: `cloned`.
    case clone
    /// Copy a range from the source's descriptor.
    case copy(Range<Int64>)
    /// Write what was read.
    case write(Range<Int64>)
    case commit
  }

  /// What comes next.
  private enum Stage {
    case line, open, makeRoom, clone, search
    case found(Range<Int64>)
    /// The rest of a run that may be copied, and has come over the line.
    case copy(Range<Int64>)
    case write(Range<Int64>, rest: Range<Int64>)
    case endRun, check, commit, done
  }

  /// Where the content ends, or a planned fault comes: bytes before it are read, and dropped.
  let end: Int64
  private let size: Int64
  private let mayClone: Bool
  private let fails: Bool
  private var stage = Stage.line
  private var position: Int64 = 0
  private var hasDescriptor = false
  /// Bytes that have arrived over the simulated line and are not copied yet.
  private var arrived: Int64 = 0
  private var share = LaneShare(size: 32 << 20)

  /// Up to this size a run is read and written: that costs less than the calls that copy.
  private static let smallSize: Int64 = 128 << 10
  /// What is read at a time where there is no descriptor to copy from.
  private static let pieceSize: Int64 = 256 << 10

  init(size: Int64, fault: Fault?) {
    self.size = size
    let failing = fault?.failingOffset(size: size)
    end = failing ?? size
    fails = failing != nil
    mayClone = fault == nil && size > Self.smallSize
  }

  mutating func next(chunk: Int64?) -> FetchStep<LocalStep> {
    while true {
      switch stage {
      case .line:
        stage = .open
        // Before anything is opened: thousands of fetches may wait for the line, each of them would hold two
        // descriptors.
        if let chunk { return carry(min(size, chunk)) }
      case .open:
        stage = .makeRoom
        return .store(.open)
      case .makeRoom:
        stage = .clone
        return .local(.makeRoom)
      case .clone:
        stage = .search
        if chunk == nil, mayClone, hasDescriptor { return .local(.clone) }
      case .search:
        if position < end { return .store(.findData(from: position)) }
        stage = .check
      case .found(let data):
        let most = min(min(data.upperBound, end) - data.lowerBound, chunk ?? share.size)
        if chunk != nil {
          if most > arrived { return carry(most - arrived) }
          arrived -= most
        }
        position = data.lowerBound + most
        share.note(most)
        stage = .copy(data.lowerBound..<position)
      case .copy(let run): return copy(run)
      case .write(let piece, let rest):
        stage = rest.isEmpty ? .endRun : .copy(rest)
        return .local(.write(piece))
      case .endRun:
        stage = .search
        if share.isUsed {
          share.renew()
          return .makeWay
        }
      case .check:
        stage = .commit
        if fails { return .end(isPlanned: true) }
        return .store(.verify)
      case .commit:
        stage = .done
        return .local(.commit)
      case .done: return .end(isPlanned: false)
      }
    }
  }

  private mutating func copy(_ run: Range<Int64>) -> FetchStep<LocalStep> {
    if hasDescriptor, run.count > Self.smallSize {
      stage = .endRun
      return .local(.copy(run))
    }
    let piece = run.prefix(Self.pieceSize)
    stage = .write(piece, rest: piece.upperBound..<run.upperBound)
    return .store(.read(piece))
  }

  private mutating func carry(_ bytes: Int64) -> FetchStep<LocalStep> {
    arrived += bytes
    share.renew()
    return .carry(bytes)
  }

  mutating func opened(hasDescriptor: Bool) { self.hasDescriptor = hasDescriptor }

  mutating func found(_ data: Range<Int64>?) {
    stage = data.flatMap { $0.lowerBound < end ? .found($0) : nil } ?? .check
  }

  /// All of the content is there.
  mutating func cloned() { position = size }

  mutating func tryAgain() -> Bool {
    switch stage {
    case .makeRoom, .clone:
      stage = .open
      return true
    default: return false
    }
  }
}
