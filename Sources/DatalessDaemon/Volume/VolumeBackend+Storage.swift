import DatalessControl
import DatalessCore
import Synchronization
import SystemPackage

/// How much room there is, and what is stored.
extension VolumeBackend {
  func capacity() async throws -> CapacityAnswer {
    await visitContent(of: [[]], atMost: Self.visitLimit)
    let capacity = await withCheckedContinuation { continuation in
      volume.capacity.look { continuation.resume(returning: $0) }
    }
    return CapacityAnswer(
      totalBytes: capacity.total, freeBytes: capacity.free, temporaryBytes: capacity.totals.temporary,
      cachesBytes: capacity.totals.caches, evictableBytes: capacity.totals.evictable, reserveBytes: capacity.reserve,
      importantBytes: capacity.important, opportunisticBytes: capacity.opportunistic)
  }

  func inventory(
    _ path: [UInt8], since mark: String?, progress: @escaping @Sendable (InventoryProgress) async throws -> Void
  ) async throws -> InventoryReport {
    let path = try await followed([path], lists: false).all()[0]
    await visitContent(of: [path], atMost: Self.visitLimit)
    let root = try known(path)
    guard let use = volume.uses.since(mark) else {
      throw FSError(
        .noSuchFileOrDirectory,
        "there is no mark '\(TerminalText.escaped(mark ?? ""))': `dataless mark` sets one, and the last "
          + "\(UseMarks.limit) are remembered")
    }
    let walk = InventoryWalk(engine: engine, since: use, isWhole: path.isEmpty)
    let inventory = try await withProgress({ walk.progress }, progress) { try await walk.run(root, path: path) }
    return InventoryReport(inventory, path: path, since: mark)
  }
}

/// Which files had been used when something was marked: what was not used since is untouched.
final class UseMarks: Sendable {
  /// LIMIT: marks that are remembered; the oldest is forgotten first.
  static let limit = 1_000

  private struct State {
    var mount: UInt32
    var order: [String] = []
    var uses: [String: UInt32] = [:]
  }

  private let state: Mutex<State>

  /// - Parameter mount: `Engine.lastUse` when the volume was mounted.
  init(mount: UInt32) { state = Mutex(State(mount: mount)) }

  /// Forgets all marks: the volume is as if it had just been mounted.
  func begin(_ use: UInt32) { state.withLock { $0 = State(mount: use) } }

  func set(_ label: String, _ use: UInt32) {
    state.withLock { state in
      if state.uses[label] == nil {
        if state.order.count >= Self.limit { state.uses[state.order.removeFirst()] = nil }
        state.order.append(label)
      }
      state.uses[label] = use
    }
  }

  /// - Parameter label: nil: the mount. - Returns: nil for a mark that was never set, or forgotten.
  func since(_ label: String?) -> UInt32? {
    state.withLock { state in
      guard let label else { return state.mount }
      return state.uses[label]
    }
  }
}
