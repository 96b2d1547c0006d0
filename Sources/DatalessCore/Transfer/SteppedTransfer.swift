internal import Synchronization
internal import SystemPackage

/// What a transfer does in its steps; the transfer decides when, on which thread, and whether at all.
protocol TransferWork: Sendable {
  /// Does one step: `advance`, here or in a task. Then has the transfer go on from it, once.
  static func step(_ progress: inout TransferProgress<Self>, of transfer: SteppedTransfer<Self>)

  /// `advance` has thrown EMFILE or ENFILE. - Returns: Whether it can be called again, and holds no descriptor until
  /// then.
  mutating func tryAgain() -> Bool

  /// Gives back what it holds, and tells the engine. Called once, and nothing after it.
  mutating func end(_ end: TransferEnd, storeTime: Nanoseconds)
}

/// Work whose steps are done by the thread that they are given.
protocol BlockingTransferWork: TransferWork {
  /// Goes on until there is a reason to stop. May block.
  mutating func advance(_ turn: some TransferTurn) throws(FSError) -> TransferPause
}

/// Work whose steps are tasks on the blocking lane: they may block it for a local disk, and wait for all else.
protocol AsyncTransferWork: TransferWork {
  /// Goes on until there is a reason to stop.
  mutating func advance(_ turn: some TransferTurn) async throws(FSError) -> TransferPause
}

/// How far a transfer has come: what its steps hand on.
struct TransferProgress<Work: TransferWork>: Sendable {
  var work: Work
  /// This transfer's own line.
  fileprivate var ownLine: BandwidthLink?
  fileprivate var storeTime: Nanoseconds = 0
  fileprivate var retries = 0

  fileprivate init(work: Work, ownLine: BandwidthLink?) {
    self.work = work
    self.ownLine = ownLine
  }
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
/// simulated line carries what comes next, and a cancelled transfer ends. Where a step is a task, it also leaves the
/// lane whenever it waits.
final class SteppedTransfer<Work: TransferWork>: AttemptJob, TransferTurn {
  private let engine: Engine
  private let paced: PacedStep
  private let pace: TransferPace
  private let cancelled = Atomic<Bool>(false)
  /// Used by one thread at a time; the lock only carries the state from one to the next.
  private let progress: Mutex<TransferProgress<Work>?>
  private let task = LaneTask()

  init(_ work: Work, engine: Engine, pace: TransferPace) {
    self.engine = engine
    self.pace = pace
    paced = PacedStep(engine)
    progress = Mutex(TransferProgress(work: work, ownLine: pace.makeOwnLine()))
  }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  var chunk: Int64? { pace.chunk(engine) }

  func cancel() {
    cancelled.store(true, ordering: .releasing)
    paced.cancel { self.step() }
    task.cancel()
  }

  /// One step. Runs on the blocking lane; the first one of a small transfer may run on a request thread. Any thread may
  /// begin one that is a task.
  func step() {
    guard var state = progress.withLock({ $0.take() }) else { return }
    Work.step(&state, of: self)
  }

  var now: MonotonicTime { engine.timer.now }

  /// Runs a step as a task.
  func begin(_ step: @escaping @Sendable () async -> Void) { task.begin(on: engine.blockingTasks, step) }

  /// A step has come to its end. - Parameter started: When it began.
  func goOn(_ state: inout TransferProgress<Work>, after pause: TransferPause, started: MonotonicTime) {
    state.storeTime += now - started
    switch pause {
    case .makeWay: goOn(state, at: nil)
    case .carry(let bytes):
      let arrival = pace.reserve(bytes, ownLine: &state.ownLine, engine)
      goOn(state, at: arrival)
    case .ended(.failed(let error)) where mayTryAgain(error, &state):
      // Other transfers will give their descriptors back.
      state.retries += 1
      goOn(state, at: engine.timer.now + TransferRetries.pause)
    case .ended(let end): state.work.end(end, storeTime: state.storeTime)
    }
  }

  private func goOn(_ state: TransferProgress<Work>, at deadline: MonotonicTime?) {
    progress.withLock { $0 = state }
    guard let deadline else { return engine.blocking.submit { self.step() } }
    paced.wait(until: deadline) { self.step() }
  }

  private func mayTryAgain(_ error: FSError, _ state: inout TransferProgress<Work>) -> Bool {
    TransferRetries.mayFollow(error, after: state.retries) && !isCancelled && state.work.tryAgain()
  }
}

extension BlockingTransferWork {
  static func step(_ progress: inout TransferProgress<Self>, of transfer: SteppedTransfer<Self>) {
    let started = transfer.now
    let pause: TransferPause
    do throws(FSError) {
      pause = try progress.work.advance(transfer)
    } catch {
      pause = .ended(.failed(error))
    }
    transfer.goOn(&progress, after: pause, started: started)
  }
}

extension AsyncTransferWork {
  static func step(_ progress: inout TransferProgress<Self>, of transfer: SteppedTransfer<Self>) {
    let taken = progress
    transfer.begin {
      var state = taken
      let started = transfer.now
      let pause: TransferPause
      do throws(FSError) {
        pause = try await state.work.advance(transfer)
      } catch {
        // A store that was told to give up throws whatever it likes.
        pause = .ended(transfer.isCancelled ? .gone : .failed(error))
      }
      transfer.goOn(&state, after: pause, started: started)
    }
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
