internal import DequeModule
internal import Synchronization
internal import SystemPackage

/// The fetch of ranges of a file (`Hydration.progressive` and `.partial`), in steps on the blocking lane. Each piece is read,
/// then the source is checked to be the listed version still, then the piece is written, and only then told.
///
/// Whatever goes wrong, what has been told stays: it is complete in itself and of the listed version.
final class RangeFetch: AttemptJob {
  private let engine: Engine
  private let paced: PacedStep
  private let attempt: AttemptID
  private let item: StoreItem
  private let pace: FileFetch.Pace
  private let fault: Decision.Part<Fault>?
  private let isCancelled = Atomic<Bool>(false)
  /// Used by one lane thread at a time; the lock only carries the state from one to the next.
  private let progress = Mutex(Progress())

  private struct Progress {
    var source: (any StoreContent)?
    var writer: (any RangeWriter)?
    var lease: TransferLease?
    /// What is still to come, in order; nil before the first step.
    var missing: Deque<Range<Int64>>?
    var total: Int64 = 0
    var done: Int64 = 0
    /// Bytes that have arrived over the simulated line and are not copied yet.
    var arrived: Int64 = 0
    var storeNanoseconds: Int64 = 0
    var ownLine: BandwidthLink?
    var retries = 0
  }

  private enum Next {
    case again
    case wait(MonotonicTime)
    case done
    case gone
    case planned
  }

  /// One piece: small, so that the first bytes come soon, and large enough to be cheap.
  private static let pieceSize: Int64 = 1 << 20
  /// What one step copies before it lets others have the lane.
  private static let stepSize: Int64 = 8 << 20
  private static let stepRuns = 256

  init(engine: Engine, attempt: AttemptID, item: StoreItem, pace: FileFetch.Pace, fault: Decision.Part<Fault>?) {
    self.engine = engine
    paced = PacedStep(engine)
    self.attempt = attempt
    self.item = item
    self.pace = pace
    self.fault = fault
  }

  func cancel() {
    isCancelled.store(true, ordering: .releasing)
    paced.cancel { self.step() }
  }

  /// One step. Runs on the blocking lane; the first one of a small range may run on a request thread.
  func step() {
    var state = progress.withLock { progress in
      let taken = progress
      progress = Progress()
      return taken
    }
    let started = engine.timer.now
    let next: Result<Next, FSError>
    do throws(FSError) {
      next = .success(try advance(&state))
    } catch {
      next = .failure(error)
    }
    state.storeNanoseconds += engine.timer.now - started
    switch next {
    case .success(.again):
      progress.withLock { $0 = state }
      engine.blocking.submit { self.step() }
    case .success(.wait(let deadline)):
      progress.withLock { $0 = state }
      paced.wait(until: deadline) { self.step() }
    case .success(.done):
      engine.rangesArrived(attempt, storeNanoseconds: state.storeNanoseconds)
      close(state)
    case .success(.gone): close(state)
    case .success(.planned):
      fail(at: state.done, state)
      close(state)
    case .failure(let error) where FileFetch.mayTryAgain(error, retries: state.retries) && state.source == nil:
      // Other fetches will give their descriptors back.
      state.retries += 1
      progress.withLock { $0 = state }
      paced.wait(until: engine.timer.now + FileFetch.retryNanoseconds) { self.step() }
    case .failure(let error):
      engine.failed(attempt, error, storeNanoseconds: state.storeNanoseconds)
      close(state)
    }
  }

  private func close(_ state: Progress) {
    state.source?.close()
    state.writer?.finish()
    if let lease = state.lease { engine.endTransfer(lease) }
  }

  private func fail(at offset: Int64, _ state: Progress) {
    guard let fault, let errno = fault.value.errno else { return engine.stuck(attempt) }
    let error = FSError(errno, "a planned fault after \(offset) of \(state.total) bytes")
    engine.failed(attempt, error, rule: fault.rule, storeNanoseconds: state.storeNanoseconds)
  }

  private func advance(_ state: inout Progress) throws(FSError) -> Next {
    if isCancelled.load(ordering: .acquiring) { return .gone }
    if state.missing == nil {
      guard let missing = engine.missingRanges(attempt) else { return .gone }
      state.missing = Deque(missing)
      state.total = missing.reduce(0) { $0 + Int64($1.count) }
      state.ownLine = pace.ownRate.map(BandwidthLink.init(bytesPerSecond:))
      // Before anything is opened: thousands of transfers may wait for the line.
      if pace.isLimited, state.total > 0 { return wait(for: min(state.total, pieceSize), &state) }
    }
    if state.source == nil, state.total > 0 { state.source = try engine.store.open(item) }
    let limit = fault?.value.failingOffset(size: state.total)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(min(max(state.total, 1), Self.pieceSize)), alignment: 4096)
    defer { buffer.deallocate() }
    var copied: Int64 = 0
    var runs = 0
    while let missing = state.missing?.first, state.done < limit ?? .max {
      if isCancelled.load(ordering: .acquiring) { return .gone }
      let before = state.done
      // As lengths: a file may end where a sum would be more than an offset can be.
      let length = min(missing.upperBound - missing.lowerBound, limit.map { $0 - state.done } ?? .max)
      let part = missing.lowerBound..<missing.lowerBound + length
      if let next = try bring(part, into: buffer, isLimited: limit != nil, &state) { return next }
      copied += state.done - before
      runs += 1
      if copied >= Self.stepSize || runs >= Self.stepRuns, state.missing?.isEmpty == false { return .again }
    }
    return limit == nil ? .done : .planned
  }

  /// Brings in the first piece of a range.
  ///
  /// - Parameter isLimited: Whether the transfer is to fail: what would complete it is kept back.
  /// - Returns: What to do before the next piece; nil to go on.
  private func bring(
    _ range: Range<Int64>, into buffer: UnsafeMutableRawBufferPointer, isLimited: Bool, _ state: inout Progress
  ) throws(FSError) -> Next? {
    guard let source = state.source else { return .gone }
    let data = try source.nextData(from: range.lowerBound)
    let dataStart = min(data?.lowerBound ?? range.upperBound, range.upperBound)
    let piece: Range<Int64>
    if dataStart > range.lowerBound {
      // A hole: nothing to carry; the content reads as zeros where nothing was written.
      piece = range.lowerBound..<dataStart
      try source.verify()
    } else {
      let most = pace.isLimited ? pieceSize : Self.pieceSize
      let room = min(range.upperBound, data?.upperBound ?? range.upperBound) - range.lowerBound
      piece = range.lowerBound..<range.lowerBound + min(room, most)
      if pace.isLimited {
        let missing = Int64(piece.count) - state.arrived
        if missing > 0 { return wait(for: missing, &state) }
        state.arrived -= Int64(piece.count)
      }
      let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<piece.count])
      try read(piece, from: source, into: bytes)
      // Before anything is written: content never holds a byte of another version.
      try source.verify()
      guard let writer = try writer(&state) else { return .gone }
      try writer.write(UnsafeRawBufferPointer(bytes), at: piece.lowerBound)
    }
    state.done += Int64(piece.count)
    advanceMissing(past: piece, &state)
    if isLimited, state.missing?.isEmpty != false { return nil }
    guard try writer(&state) != nil, let lease = state.lease, engine.arrived(attempt, lease, piece) else {
      return .gone
    }
    return nil
  }

  private func advanceMissing(past piece: Range<Int64>, _ state: inout Progress) {
    guard let first = state.missing?.first else { return }
    if piece.upperBound >= first.upperBound {
      state.missing?.removeFirst()
    } else {
      state.missing?[0] = piece.upperBound..<first.upperBound
    }
  }

  private func read(
    _ range: Range<Int64>, from source: any StoreContent, into buffer: UnsafeMutableRawBufferPointer
  ) throws(FSError) {
    var filled = 0
    while filled < buffer.count {
      let count = try source.read(
        into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), at: range.lowerBound + Int64(filled))
      guard count > 0 else {
        throw FSError(
          .staleNFSFileHandle,
          "the source ends at byte \(range.lowerBound + Int64(filled)) of \(item.attributes.size)")
      }
      filled += count
    }
  }

  /// The file's content, made when the first bytes are there; nil when the attempt has ended.
  private func writer(_ state: inout Progress) throws(FSError) -> (any RangeWriter)? {
    if let writer = state.writer { return writer }
    let size = item.attributes.size
    if state.lease == nil { state.lease = engine.leaseContent(attempt, made: nil) }
    if state.lease == nil {
      let made = try engine.content.makeRanged(size: size)
      state.lease = engine.leaseContent(attempt, made: made, generation: state.source?.generation ?? 0)
      if state.lease?.reference != made { engine.content.remove(made, size: size) }
    }
    guard let lease = state.lease else { return nil }
    let writer = try engine.content.rangeWriter(lease.reference, size: size)
    state.writer = writer
    return writer
  }

  private func wait(for bytes: Int64, _ state: inout Progress) -> Next {
    state.arrived += bytes
    let shared = engine.reserveBandwidth(bytes)
    let own = state.ownLine?.reserve(bytes, now: engine.timer.now)
    guard let deadline = [shared, own].compactMap({ $0 }).max() else { return .again }
    return .wait(deadline)
  }

  /// By the slower of the two lines.
  private var pieceSize: Int64 {
    let rates = [engine.sharedRate, pace.ownRate].compactMap { $0 }
    return rates.map { BandwidthLink(bytesPerSecond: $0).chunkSize }.min() ?? Self.pieceSize
  }
}
