import DatalessCore
import FuseKit
import Synchronization

/// How much room a volume has, and what could go for more: for the control API, and as an extended attribute.
///
/// All items are looked at for it. Programs may ask as often as they please: one look serves all who ask meanwhile, and
/// those who ask soon after.
final class CapacityReader: Sendable {
  /// Any item of a volume has it; it is in no list.
  static let attribute = Array(CapacityAttribute.name.utf8)
  /// How old an answer to a program may be.
  private static let ageMax = Nanoseconds.seconds(1)

  private struct State {
    var waiting: [@Sendable (StorageCapacity) -> Void] = []
    var last: (capacity: StorageCapacity, at: MonotonicTime)?
  }

  private let engine: Engine
  private let timer: any TimerLane
  private let space: @Sendable () -> FuseKit.FileSystemStatistics
  private let state = Mutex(State())

  /// - Parameter space: Of the disk on which content lies.
  init(engine: Engine, timer: any TimerLane, space: @escaping @Sendable () -> FuseKit.FileSystemStatistics) {
    self.engine = engine
    self.timer = timer
    self.space = space
  }

  /// - Parameter completion: Called once, perhaps before this returns.
  func recent(completion: @escaping @Sendable (StorageCapacity) -> Void) {
    let now = timer.now
    let (known, begins): (StorageCapacity?, Bool) = state.withLock { state in
      if let last = state.last, now - last.at < Self.ageMax { return (last.capacity, false) }
      state.waiting.append(completion)
      return (nil, state.waiting.count == 1)
    }
    if let known { return completion(known) }
    guard begins else { return }
    look { [self] capacity in
      let waiting = state.withLock { state in
        state.last = (capacity, timer.now)
        defer { state.waiting = [] }
        return state.waiting
      }
      for completion in waiting { completion(capacity) }
    }
  }

  /// As it is now.
  func look(completion: @escaping @Sendable (StorageCapacity) -> Void) {
    engine.storageTotals { [self] totals in
      let room = space().limited(by: engine.roomStatus)
      let size = Int64(room.blockSize)
      func bytes(_ blocks: UInt64) -> Int64 {
        let (bytes, isOver) = Int64(clamping: blocks).multipliedReportingOverflow(by: size)
        return isOver ? .max : bytes
      }
      completion(
        StorageCapacity(
          total: bytes(room.blocks), free: bytes(room.availableBlocks), totals: totals,
          reserve: engine.simulation.reserve))
    }
  }
}

extension StorageCapacity {
  /// The attribute's value: three decimal numbers of bytes.
  var attribute: [UInt8] { Array("\(free) \(important) \(opportunistic)".utf8) }
}
