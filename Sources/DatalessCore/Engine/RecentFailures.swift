/// Remembers failed page-cache reads for a moment, because the kernel itself asks again.
///
/// A failing readahead is followed by a READ of the single page by the same thread. That repeat
/// gets the outcome of the failed attempt and no record, so that "fail once" is seen exactly once. So does the repeat of a
/// call that a path led to and that failed with ESTALE.
struct RecentFailures {
  private struct Failure {
    let node: Int
    let threadID: Int32
    let range: Range<Int64>
    let errno: FSError
    let until: MonotonicTime
    var repeatsLeft: Int
  }

  /// How long the kernel's own retry may take to arrive: microseconds, unless the processor is taken from the caller.
  static let windowNanoseconds: Int64 = 50_000_000
  /// How often the kernel asks again, measured on Linux 6.18: sendfile(2), splice(2) and the like once, a page fault
  /// twice. A caller's own next try within the window is then a trigger of its own.
  static let repeatsOfCall = 1
  static let repeatsOfFault = 2
  /// Stands for an open or an xattr call: after ESTALE the kernel walks the whole path once more and repeats it.
  static let wholePath: Range<Int64> = -1..<(-1)
  private var failures: [Failure] = []

  /// Notes that a page-cache read failed. `repeats` is how often the kernel asks again.
  mutating func note(
    node: Int, threadID: Int32, range: Range<Int64>, error: FSError, now: MonotonicTime, repeats: Int
  ) {
    failures.removeAll { $0.until < now || ($0.node == node && $0.threadID == threadID) }
    failures.append(
      Failure(
        node: node, threadID: threadID, range: range, errno: error, until: now + Self.windowNanoseconds,
        repeatsLeft: repeats))
  }

  /// The outcome of the failed attempt that this READ repeats; nil when it is a trigger of its own.
  mutating func repeated(node: Int, threadID: Int32, range: Range<Int64>, now: MonotonicTime) -> FSError? {
    guard !failures.isEmpty else { return nil }
    failures.removeAll { $0.until < now }
    guard
      let index = failures.firstIndex(where: {
        $0.node == node && $0.threadID == threadID && $0.range.lowerBound <= range.lowerBound
          && range.upperBound <= $0.range.upperBound
      })
    else { return nil }
    let error = failures[index].errno
    failures[index].repeatsLeft -= 1
    if failures[index].repeatsLeft <= 0 { failures.remove(at: index) }
    return error
  }
}
