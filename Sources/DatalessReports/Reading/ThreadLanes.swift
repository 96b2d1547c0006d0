import DatalessControl

/// Rows in which waits do not overlap: one for each thread, and more for a thread that has several waits at once
/// (read-ahead of the kernel, for which nobody is blocked).
struct ThreadLanes: Sendable {
  struct Lane: Sendable {
    /// In the log's numbers; nil for a caller that is not known.
    var process: UInt32?
    var threadID: Int64?
    /// 0 for the thread itself, 1 for what overlaps with that, and so on.
    var number: Int
    /// Whether the log said so of any of its waits.
    var isMainThread: Bool
    /// What the thread called itself last; nil where the log does not say, as of main threads.
    var threadName: [UInt8]?
    fileprivate var end: Int64

    /// What it is called, safe to be shown.
    var title: String {
      let called = threadName.map { " '\(TerminalText.escaped($0))'" } ?? ""
      let thread = (threadID.map { "thread \($0)" } ?? "unknown thread") + called
      let name = isMainThread ? "main thread" : thread
      return number == 0 ? name : "\(name), at the same time (\(number))"
    }
  }

  private struct Key: Hashable {
    var process: UInt32?
    var threadID: Int64?
    /// Of delayed calls and `dataless materialize`, which are in no thread's way.
    var isCommand: Bool
  }

  private(set) var lanes: [Lane] = []
  private var lanesOfThread: [Key: [Int]] = [:]
  // LIMIT: of waits of one thread at once. Further ones share the last lane.
  private static let perThreadMax = 64

  /// Waits must come in the order of their ends, as they do in a log, but for a few microseconds.
  ///
  /// - Returns: The wait's index in `lanes`.
  mutating func lane(of wait: ReportWait) -> Int {
    let key = Key(process: wait.process, threadID: wait.threadID, isCommand: wait.isCommand)
    let own = lanesOfThread[key] ?? []
    for index in own where lanes[index].end <= wait.start {
      lanes[index].end = max(lanes[index].end, wait.end)
      if wait.isMainThread == true { lanes[index].isMainThread = true }
      if let name = wait.threadName { lanes[index].threadName = name }
      return index
    }
    if own.count >= Self.perThreadMax { return own[own.count - 1] }
    lanes.append(
      Lane(
        process: wait.process, threadID: wait.threadID, number: own.count, isMainThread: wait.isMainThread == true,
        threadName: wait.threadName, end: wait.end))
    lanesOfThread[key, default: []].append(lanes.count - 1)
    return lanes.count - 1
  }
}
