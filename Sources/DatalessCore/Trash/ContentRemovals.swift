internal import DequeModule
internal import Glibc
internal import Synchronization

/// Contents on their way out of the content store: in one queue, of which one thread takes some at a time, so that a
/// tree of a million files is no million pieces of work that others stand behind.
final class ContentRemovals: Sendable {
  struct Entry: Sendable, Equatable {
    let id: ContentID
    /// What it gives back, in whole pages.
    let bytes: Int64
    /// Whether `Room` counts it.
    let isTracked: Bool
  }

  private struct State {
    var queue: Deque<Entry> = []
    var isUnderWay = false
    /// Taken from the queue, and not removed yet.
    var taken = 0
    /// Threads that have taken contents from where they were counted, and have not announced them.
    var finders = 0
    /// All that are announced and not removed.
    var count = 0
    var bytes: Int64 = 0
  }

  /// LIMIT: contents that are removed in one piece of work.
  private static let atATime = 64

  private let state = Mutex(State())
  /// How long the thread waits for more before it begins, in microseconds.
  private let pause: UInt32

  /// - Parameter gathers: Whether its lane has nothing else to do: then what comes within 2 ms goes together.
  init(gathers: Bool) { pause = gathers ? 2_000 : 0 }

  /// What is still to be removed; what waits for a commit included, and one for each who is about to announce some.
  var pending: (count: Int, bytes: Int64) { state.withLock { ($0.count + $0.finders, $0.bytes) } }

  /// Takes contents from where they are counted, and announces them: in between, none is counted nowhere.
  func announcing<Result>(_ body: () throws -> Result) rethrows -> Result {
    state.withLock { $0.finders += 1 }
    defer { state.withLock { $0.finders -= 1 } }
    return try body()
  }

  /// Contents will be removed.
  func announce(_ entries: [Entry]) {
    state.withLock { state in
      state.count += entries.count
      for entry in entries { state.bytes = state.bytes.saturatingAdd(entry.bytes) }
    }
  }

  /// They may be removed now. - Returns: Whether the caller is to have the lane begin.
  func add(_ entries: [Entry]) -> Bool {
    state.withLock { state in
      state.queue += entries
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
  }

  /// On the lane's own thread, which nobody waits for.
  func gather() { if pause > 0 { usleep(pause) } }

  /// What is to be removed next; empty at the end: nobody removes any more.
  func next() -> [Entry] {
    state.withLock { state in
      let batch = Array(state.queue.prefix(Self.atATime))
      state.queue.removeFirst(batch.count)
      state.isUnderWay = !batch.isEmpty
      state.taken += batch.count
      return batch
    }
  }

  /// What somebody removes who needs the room now; empty when nothing is left for him.
  func hurry() -> [Entry] {
    state.withLock { state in
      let batch = Array(state.queue.prefix(Self.atATime))
      state.queue.removeFirst(batch.count)
      state.taken += batch.count
      return batch
    }
  }

  /// Whether somebody is removing contents at this moment.
  var isRemoving: Bool { state.withLock { $0.taken > 0 } }

  func end(_ entries: [Entry]) {
    state.withLock { state in
      state.taken -= entries.count
      state.count -= entries.count
      for entry in entries { state.bytes = max(0, state.bytes - entry.bytes) }
    }
  }
}
