internal import Synchronization
internal import SystemPackage

/// What a transfer does in its steps; the transfer decides when, on which thread, and whether at all.
protocol TransferWork: Sendable {
  /// Does one step of a transfer: `advance` of its work, here or in a task. Then has it go on from there, once.
  static func step(_ transfer: SteppedTransfer<Self>)

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
  private let task = LaneTask()

  /// Whether a step is under way, or the transfer at its end.
  private let isTaken = Atomic<Bool>(false)
  // SAFETY: these four belong to whoever has changed `isTaken` from false to true, until it is false again. A lock
  // around them would be held during whole steps, or the work be copied out and back for each.
  fileprivate nonisolated(unsafe) var work: Work
  /// This transfer's own line.
  private nonisolated(unsafe) var ownLine: BandwidthLink?
  private nonisolated(unsafe) var storeTime: Nanoseconds = 0
  private nonisolated(unsafe) var retries = 0

  init(_ work: Work, engine: Engine, pace: TransferPace) {
    self.engine = engine
    self.pace = pace
    paced = PacedStep(engine)
    self.work = work
    ownLine = pace.makeOwnLine()
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
    if !isTaken.exchange(true, ordering: .acquiringAndReleasing) { Work.step(self) }
  }

  var now: MonotonicTime { engine.timer.now }

  /// Runs a step as a task.
  func begin(_ step: @escaping @Sendable () async -> Void) { task.begin(on: engine.blockingTasks, step) }

  /// A step has come to its end. - Parameter started: When it began.
  func goOn(after pause: TransferPause, started: MonotonicTime) {
    storeTime += now - started
    switch pause {
    case .makeWay: goOn(at: nil)
    case .carry(let bytes): goOn(at: pace.reserve(bytes, ownLine: &ownLine, engine))
    case .ended(.failed(let error)) where mayTryAgain(error):
      // Other transfers will give their descriptors back.
      retries += 1
      goOn(at: engine.timer.now + TransferRetries.pause)
    case .ended(let end): work.end(end, storeTime: storeTime)
    }
  }

  private func goOn(at deadline: MonotonicTime?) {
    isTaken.store(false, ordering: .releasing)
    guard let deadline else { return engine.blocking.submit { self.step() } }
    paced.wait(until: deadline) { self.step() }
  }

  private func mayTryAgain(_ error: FSError) -> Bool {
    TransferRetries.mayFollow(error, after: retries) && !isCancelled && work.tryAgain()
  }
}

extension BlockingTransferWork {
  static func step(_ transfer: SteppedTransfer<Self>) {
    let started = transfer.now
    let pause: TransferPause
    do throws(FSError) {
      pause = try transfer.work.advance(transfer)
    } catch {
      pause = .ended(.failed(error))
    }
    transfer.goOn(after: pause, started: started)
  }
}

extension AsyncTransferWork {
  static func step(_ transfer: SteppedTransfer<Self>) {
    transfer.begin {
      let started = transfer.now
      let pause: TransferPause
      do throws(FSError) {
        pause = try await transfer.work.advance(transfer)
      } catch {
        // A store that was told to give up throws whatever it likes.
        pause = .ended(transfer.isCancelled ? .gone : .failed(error))
      }
      transfer.goOn(after: pause, started: started)
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
