internal import Synchronization
internal import SystemPackage

/// What a transfer does in its steps; the transfer decides when, on which thread, and whether at all.
protocol TransferWork: Sendable {
  /// Goes on until there is a reason to stop. May block.
  mutating func advance(_ turn: some TransferTurn) throws(FSError) -> TransferPause

  /// `advance` has thrown EMFILE or ENFILE. - Returns: Whether it can be called again, and holds no descriptor until
  /// then.
  mutating func tryAgain() -> Bool

  /// Gives back what it holds, and tells the engine. Called once, and nothing after it.
  mutating func end(_ end: TransferEnd, storeTime: Nanoseconds)
}

/// What work may ask of its transfer during a step.
protocol TransferTurn {
  var isCancelled: Bool { get }
  /// How many bytes the simulated line carries at a time; nil when there is none.
  var chunk: Int64? { get }
}

/// Why a step ends.
enum TransferPause {
  /// Others are to have the lane.
  case makeWay
  /// Goes on when so many bytes have come over the simulated line.
  case carry(Int64)
  case ended(TransferEnd)
}

enum TransferEnd {
  case complete
  /// A planned fault.
  case planned
  /// Nobody wants it any more.
  case gone
  case failed(FSError)
}

/// The transfer of one file's content, in steps on the blocking lane. Between steps the lane is free for others, the
/// simulated line carries what comes next, and a cancelled transfer ends.
final class SteppedTransfer<Work: TransferWork>: AttemptJob, TransferTurn {
  private let engine: Engine
  private let paced: PacedStep
  private let pace: TransferPace
  private let cancelled = Atomic<Bool>(false)
  /// Used by one thread at a time; the lock only carries the state from one to the next.
  private let progress: Mutex<Progress?>

  private struct Progress {
    var work: Work
    /// This transfer's own line.
    var ownLine: BandwidthLink?
    var storeTime: Nanoseconds = 0
    var retries = 0
  }

  init(_ work: Work, engine: Engine, pace: TransferPace) {
    self.engine = engine
    self.pace = pace
    paced = PacedStep(engine)
    progress = Mutex(Progress(work: work, ownLine: pace.makeOwnLine()))
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  var chunk: Int64? { pace.chunk(engine) }

  func cancel() {
    cancelled.store(true, ordering: .releasing)
    paced.cancel { self.step() }
  }

  /// One step. Runs on the blocking lane; the first one of a small transfer may run on a request thread.
  func step() {
    let taken = progress.withLock { progress in
      defer { progress = nil }
      return progress
    }
    guard var state = taken else { return }
    let started = engine.timer.now
    let pause: TransferPause
    do throws(FSError) {
      pause = try state.work.advance(self)
    } catch {
      pause = .ended(.failed(error))
    }
    state.storeTime += engine.timer.now - started
    switch pause {
    case .makeWay: goOn(state, at: nil)
    case .carry(let bytes): goOn(state, at: pace.reserve(bytes, ownLine: &state.ownLine, engine))
    case .ended(.failed(let error)) where mayTryAgain(error, &state):
      // Other transfers will give their descriptors back.
      state.retries += 1
      goOn(state, at: engine.timer.now + TransferRetries.pause)
    case .ended(let end): state.work.end(end, storeTime: state.storeTime)
    }
  }

  private func goOn(_ state: Progress, at deadline: MonotonicTime?) {
    progress.withLock { $0 = state }
    guard let deadline else { return engine.blocking.submit { self.step() } }
    paced.wait(until: deadline) { self.step() }
  }

  private func mayTryAgain(_ error: FSError, _ state: inout Progress) -> Bool {
    TransferRetries.mayFollow(error, after: state.retries) && !isCancelled && state.work.tryAgain()
  }
}

/// How often and how soon a transfer that found no descriptor free tries again: for 10 s in all.
enum TransferRetries {
  private static let most = 500
  static let pause = Nanoseconds.milliseconds(20)

  static func mayFollow(_ error: FSError, after retries: Int) -> Bool {
    (error.errno == .tooManyOpenFiles || error.errno == .tooManyOpenFilesInSystem) && retries < most
  }
}
