internal import DequeModule
internal import Glibc
internal import SystemPackage

/// Remembers failed page-cache reads for a moment, because the kernel itself asks again.
///
/// A failing readahead is followed by READs of the single page by the same thread (docs/ARCHITECTURE.md, R12). Those
/// repeats get the outcome of the failed attempt and no record, so that "fail once" is seen exactly once, and the
/// caller's own next try is a trigger of its own. So does the repeat of a call that a path led to and that failed with
/// ESTALE. Each call takes constant time: thousands may fail together.
struct RecentFailures {
  /// Whose failure it was. The kernel repeats by the same thread through the same open. Callers of another pid
  /// namespace all have thread 0: the open alone tells them apart then, and where there is none, nothing is remembered.
  struct Key: Hashable {
    /// An id and no index: what is remembered outlives the item, and its place is used again.
    let node: NodeID
    let threadID: Int32
    /// 0 for a call by path.
    let handle: UInt64
    fileprivate var isNobody: Bool { threadID == 0 && handle == 0 }
  }

  private struct Failure {
    var range: Range<Int64>
    let error: FSError
    let until: MonotonicTime
    var repeatsLeft: Int
  }

  /// How long the kernel's own retry may take to arrive: microseconds, unless the processor is taken from the caller.
  static let window = Nanoseconds.milliseconds(50)
  /// Stands for an open or an xattr call: after ESTALE the kernel walks the whole path once more and repeats it.
  private static let wholePath: Range<Int64> = -1..<(-1)
  /// LIMIT: failures remembered, the newest; and how many old ones one call forgets.
  private static let failuresMax = 65_536
  private static let forgottenMax = 64

  private var failures: [Key: Failure] = [:]
  private var order: Deque<(key: Key, until: MonotonicTime)> = []
  private var pages = FailedPages()

  /// Remembers that a request failed, if the kernel will ask for it again by itself.
  ///
  /// - Parameter size: Of the file.
  mutating func remember(
    _ request: TriggerRequest, of node: NodeID, size: Int64, error: FSError, now: MonotonicTime
  ) {
    if request.trigger == .open || request.trigger == .xattr, error.errno == .staleNFSFileHandle {
      return rememberPath(node: node, threadID: request.caller.threadID, error: error, now: now)
    }
    guard request.io == .pageCache, let offset = request.offset, let length = request.length else { return }
    rememberRead(
      Key(node: node, threadID: request.caller.threadID, handle: request.handle ?? 0),
      range: offset..<max(offset, offset.addingReportingOverflow(length).partialValue), wait: request.pageWait,
      size: size, error: error, now: now)
  }

  /// Remembers that a page-cache READ failed.
  ///
  /// - Parameters:
  ///   - wait: What the caller was doing.
  ///   - size: Of the file.
  mutating func rememberRead(
    _ key: Key, range: Range<Int64>, wait: PageWait, size: Int64, error: FSError, now: MonotonicTime
  ) {
    let repeats = Self.repeats(wait, range, size: size, isThere: pages.contain(key.node, range))
    pages.insert(key.node, range)
    var all = range
    // Of one readahead in two parts, either may hold the page that the kernel asks for again.
    if let other = failures[key], other.until >= now, range.count > Self.pageSize {
      all = min(all.lowerBound, other.range.lowerBound)..<max(all.upperBound, other.range.upperBound)
    }
    put(key, Failure(range: all, error: error, until: now + Self.window, repeatsLeft: repeats))
  }

  /// Remembers that a call by path failed with ESTALE.
  mutating func rememberPath(node: NodeID, threadID: Int32, error: FSError, now: MonotonicTime) {
    put(
      Key(node: node, threadID: threadID, handle: 0),
      Failure(range: Self.wholePath, error: error, until: now + Self.window, repeatsLeft: 1))
  }

  private mutating func put(_ key: Key, _ failure: Failure) {
    guard !key.isNobody, failure.repeatsLeft > 0 else {
      failures[key] = nil
      return
    }
    failures[key] = failure
    order.append((key, failure.until))
    for _ in 0..<Self.forgottenMax {
      // The time of the next one, and no more than so many.
      guard let oldest = order.first,
        oldest.until + Self.window < failure.until || order.count > Self.failuresMax
      else { return }
      order.removeFirst()
      if failures[oldest.key]?.until == oldest.until { failures[oldest.key] = nil }
    }
  }

  /// The outcome of the failed attempt that this READ repeats; nil when it is a trigger of its own.
  mutating func repeated(_ key: Key, range: Range<Int64>, now: MonotonicTime) -> FSError? {
    guard !failures.isEmpty, !key.isNobody, var failure = failures[key], failure.until >= now,
      failure.range.lowerBound <= range.lowerBound, range.upperBound <= failure.range.upperBound
    else { return nil }
    failure.repeatsLeft -= 1
    // The page that the caller wants: another one is another fault.
    failure.range = range
    failures[key] = failure.repeatsLeft > 0 ? failure : nil
    return failure.error
  }

  /// As `repeated`, for a call by path.
  mutating func repeatedPath(node: NodeID, threadID: Int32, now: MonotonicTime) -> FSError? {
    repeated(Key(node: node, threadID: threadID, handle: 0), range: Self.wholePath, now: now)
  }

  /// The kernel drops a file's pages.
  mutating func forgetPages(of node: NodeID) { pages.remove(node) }

  // MARK: - How often the kernel asks again

  private static let pageSize = Int(getpagesize())

  /// How often the kernel asks for a page again in one and the same call or fault, measured on Linux 6.18.
  ///
  /// - Parameter isThere: Whether the page is in the page cache already, from an earlier read that failed, too: then
  ///   there is no readahead before it.
  private static func repeats(_ wait: PageWait, _ range: Range<Int64>, size: Int64, isThere: Bool) -> Int {
    // A single page of a larger file: the caller has switched readahead off.
    let isReadahead = range.count > pageSize || size - range.lowerBound <= Int64(pageSize)
    switch wait {
    case .fault: return isThere || isReadahead ? 2 : 1
    case .faultInCall: return !isThere && isReadahead ? 2 : 1
    // The first look at the name stops at the page; the second one goes byte by byte.
    case .faultInPath: return !isThere && isReadahead ? 4 : 3
    case .call: return isThere ? 0 : 1
    }
  }
}

/// What a caller is doing whose READ comes from the page cache: by that the kernel repeats one that fails.
public enum PageWait: Sendable {
  /// Touching a page of a mapping.
  case fault
  /// In a system call that reads or writes memory which is a mapping of the file, such as write(2) from it.
  case faultInCall
  /// In one that reads a path from such memory.
  case faultInPath
  /// Reading the file: sendfile(2), splice(2), read(2) where it goes through the page cache.
  case call
}

/// Which pages the kernel has in its cache without content, because reading them failed.
///
/// LIMIT: the newest; what is forgotten is taken for a page that was never asked for.
private struct FailedPages {
  private static let nodesMax = 1024
  private static let rangesMax = 16
  private var ranges: [NodeID: [Range<Int64>]] = [:]
  private var order: Deque<NodeID> = []

  func contain(_ node: NodeID, _ range: Range<Int64>) -> Bool {
    guard let known = ranges[node] else { return false }
    return known.contains { $0.contains(range) }
  }

  mutating func insert(_ node: NodeID, _ range: Range<Int64>) {
    guard !contain(node, range) else { return }
    if ranges[node] == nil {
      order.append(node)
      if order.count > Self.nodesMax { ranges[order.removeFirst()] = nil }
    }
    ranges[node, default: []].append(range)
    if ranges[node, default: []].count > Self.rangesMax { ranges[node]?.removeFirst() }
  }

  mutating func remove(_ node: NodeID) {
    guard ranges[node] != nil else { return }
    ranges[node] = []
  }
}
