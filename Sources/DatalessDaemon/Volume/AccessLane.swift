import DatalessCore
import Synchronization

/// Where calls go on that were delayed. A lane of its own, because all threads of the others may wait for a SOURCE that
/// hangs, and what is local is served all the same. Its threads are there from the first delay on.
final class AccessLane: Sendable {
  private let timer: any TimerLane
  private let lane = Mutex<ThreadBlockingLane?>(nil)

  init(timer: any TimerLane) { self.timer = timer }

  func submit(_ work: @escaping @Sendable () -> Void) {
    let lane = self.lane.withLock { lane in
      if let lane { return lane }
      let new = ThreadBlockingLane(timer: timer, name: "dl-access")
      lane = new
      return new
    }
    lane.submit(work)
  }
}
