internal import Synchronization
internal import SystemPackage

/// The fetch of one file's content, in steps on the blocking lane: open and check, copy chunk by chunk, check again,
/// commit. Between steps the lane is free for others, and a cancelled fetch ends.
///
/// Whatever goes wrong, what was written is discarded before the attempt fails: content is committed only when complete.
final class FileFetch: AttemptJob {
  private let engine: Engine
  private let paced: PacedStep
  private let attempt: AttemptID
  private let item: StoreItem
  private let pace: Pace
  private let fault: Decision.Part<Fault>?
  private let isCancelled = Atomic<Bool>(false)
  /// Used by one lane thread at a time; the lock only carries the state from one to the next.
  private let progress = Mutex(Progress())

  /// How fast bytes arrive. Decided at the start: a transfer under way keeps its pace.
  struct Pace {
    /// Whether there is a line that all fetches share.
    let sharesLine: Bool
    /// Bytes per second of this transfer alone.
    let ownRate: Int64?
    var isLimited: Bool { sharesLine || ownRate != nil }
  }

  private struct Progress {
    var source: (any StoreContent)?
    var writer: (any ContentWriter)?
    var position: Int64 = 0
    var storeNanoseconds: Int64 = 0
    /// Bytes that have arrived over the simulated line and are not copied yet.
    var arrived: Int64 = 0
    var isUnderWay = false
    var retries = 0
    /// This transfer's own line.
    var ownLine: BandwidthLink?
  }

  private enum Next {
    case again
    case wait(MonotonicTime)
    case committed(ContentReference)
    case gone
    case stuck
    case planned(FSError)
  }

  /// Without a bandwidth limit, how much one step copies: long enough to be cheap, short enough to share the lane.
  private static let stepSize: Int64 = 32 << 20
  /// How many runs of data one step copies: a sparse file may have millions of small ones.
  private static let stepRuns = 256

  init(engine: Engine, attempt: AttemptID, item: StoreItem, pace: Pace, fault: Decision.Part<Fault>?) {
    self.pace = pace
    self.fault = fault
    self.engine = engine
    paced = PacedStep(engine)
    self.attempt = attempt
    self.item = item
  }

  func cancel() {
    isCancelled.store(true, ordering: .releasing)
    paced.cancel { self.step() }
  }

  /// One step. Runs on the blocking lane; the first one of a small file may run on a request thread.
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
      save(state)
      engine.blocking.submit { self.step() }
    case .success(.wait(let deadline)):
      save(state)
      paced.wait(until: deadline) { self.step() }
    case .success(.committed(let reference)):
      let generation = state.source?.generation ?? 0
      state.source?.close()
      if !engine.fetched(
        attempt, reference: reference, generation: generation, storeNanoseconds: state.storeNanoseconds)
      {
        engine.content.remove(reference, size: item.attributes.size)
      }
    case .success(.gone): drop(state)
    case .success(.stuck):
      drop(state)
      engine.stuck(attempt)
    case .success(.planned(let error)):
      drop(state)
      engine.failed(attempt, error, rule: fault?.rule, storeNanoseconds: state.storeNanoseconds)
    case .failure(let error) where mayTryAgain(error, state):
      // Other fetches will give their descriptors back.
      drop(state)
      state.source = nil
      state.retries += 1
      save(state)
      paced.wait(until: engine.timer.now + Self.retryNanoseconds) { self.step() }
    case .failure(let error):
      drop(state)
      engine.failed(attempt, error, storeNanoseconds: state.storeNanoseconds)
    }
  }

  /// How often and how soon a fetch that found no descriptor free tries again: for 10 s in all.
  private static let retriesMax = 500
  static let retryNanoseconds: Int64 = 20_000_000

  /// Whether a fetch that has written nothing yet tries again.
  static func mayTryAgain(_ error: FSError, retries: Int) -> Bool {
    (error.errno == .tooManyOpenFiles || error.errno == .tooManyOpenFilesInSystem) && retries < retriesMax
  }

  private func mayTryAgain(_ error: FSError, _ state: Progress) -> Bool {
    Self.mayTryAgain(error, retries: state.retries) && state.writer == nil && !isCancelled.load(ordering: .acquiring)
  }

  private func save(_ state: Progress) { progress.withLock { $0 = state } }

  private func drop(_ state: Progress) {
    state.writer?.discard()
    state.source?.close()
  }

  private func advance(_ state: inout Progress) throws(FSError) -> Next {
    if isCancelled.load(ordering: .acquiring) { return .gone }
    let size = item.attributes.size
    let isPaced = pace.isLimited
    // A planned failure comes after so many bytes; they are read, and dropped.
    let end = fault?.value.failingOffset(size: size) ?? size
    if isPaced, !state.isUnderWay {
      // Before anything is opened: thousands of fetches may wait for the line, each of them would hold two descriptors.
      state.isUnderWay = true
      state.ownLine = pace.ownRate.map(BandwidthLink.init(bytesPerSecond:))
      return wait(for: min(size, chunkSize), &state)
    }
    if state.source == nil {
      let source = try engine.store.open(item)
      state.source = source
      let writer = try engine.content.makeWriter(size: size)
      state.writer = writer
      if !isPaced, fault == nil, let descriptor = source.descriptor, size > Self.smallSize,
        writer.clone(from: descriptor)
      {
        state.position = size
      }
    }
    guard let source = state.source, let writer = state.writer else { return .gone }
    var copied: Int64 = 0
    var runs = 0
    while state.position < end, let data = try source.nextData(from: state.position), data.lowerBound < end {
      let limit = isPaced ? chunkSize : Self.stepSize
      let available = min(data.upperBound, end) - data.lowerBound
      let chunk = data.lowerBound..<data.lowerBound + min(available, limit)
      if isPaced {
        let missing = Int64(chunk.count) - state.arrived
        if missing > 0 { return wait(for: missing, &state) }
        state.arrived -= Int64(chunk.count)
      }
      try copy(chunk, from: source, to: writer)
      state.position = chunk.upperBound
      copied += Int64(chunk.count)
      runs += 1
      if copied >= Self.stepSize || runs >= Self.stepRuns { return .again }
    }
    if let fault, fault.value.failingOffset(size: size) != nil { return planned(fault.value, at: end) }
    try source.verify()
    let reference = try writer.commit()
    state.writer = nil
    return .committed(reference)
  }

  private func wait(for bytes: Int64, _ state: inout Progress) -> Next {
    state.arrived += bytes
    let shared = engine.reserveBandwidth(bytes)
    let own = state.ownLine?.reserve(bytes, now: engine.timer.now)
    guard let deadline = [shared, own].compactMap({ $0 }).max() else { return .again }
    return .wait(deadline)
  }

  private func planned(_ fault: Fault, at offset: Int64) -> Next {
    guard let errno = fault.errno else { return .stuck }
    return .planned(FSError(errno, "a planned fault at byte \(offset) of \(item.attributes.size)"))
  }

  private static let smallSize: Int64 = 128 << 10
  /// By the slower of the two lines.
  private var chunkSize: Int64 {
    [engine.sharedRate, pace.ownRate].compactMap { $0 }.map { BandwidthLink(bytesPerSecond: $0).chunkSize }.min() ?? 1
      << 20
  }

  /// Copies one run of bytes; a source that ends before is no longer the listed version.
  private func copy(
    _ range: Range<Int64>, from source: any StoreContent, to writer: any ContentWriter
  ) throws(FSError) {
    if let descriptor = source.descriptor, range.count > Self.smallSize {
      let copied = try writer.copy(from: descriptor, range: range)
      guard copied == Int64(range.count) else { throw shrunk(range.lowerBound + copied) }
      return
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: min(range.count, 256 << 10), alignment: MemoryLayout<UInt64>.alignment)
    defer { buffer.deallocate() }
    var position = range.lowerBound
    while position < range.upperBound {
      let wanted = min(buffer.count, Int(range.upperBound - position))
      let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: position)
      guard count > 0 else { throw shrunk(position) }
      try writer.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: position)
      position += Int64(count)
    }
  }

  private func shrunk(_ position: Int64) -> FSError {
    FSError(.staleNFSFileHandle, "the source ends at byte \(position) of \(item.attributes.size)")
  }
}
