/// The longest waits of all, and of main threads, with who waited: for the table of them.
struct LongestWaits: Sendable {
  struct Entry: Sendable {
    var wait: ReportWait
    var program: String
    var pid: Int32?
  }

  private let limit: Int
  private var entries: [Entry] = []
  /// Shorter ones are not among the longest any more.
  private var threshold: Int64 = -1

  init(limit: Int) { self.limit = limit }

  mutating func add(_ wait: ReportWait, program: @autoclosure () -> String, pid: Int32?) {
    guard wait.kind == .wait, wait.blocked > threshold else { return }
    entries.append(Entry(wait: wait, program: program(), pid: pid))
    guard entries.count >= 2 * limit else { return }
    entries = sorted
    threshold = entries[entries.count - 1].wait.blocked
  }

  /// The longest first.
  var sorted: [Entry] {
    Array(
      entries.sorted { ($1.wait.blocked, $0.wait.start) < ($0.wait.blocked, $1.wait.start) }.prefix(limit))
  }
}
