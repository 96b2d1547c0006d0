import DatalessControl

/// Blocked time by program, stack and operation: what flame graphs of waiting are made of. Delayed calls on what is
/// local are not in it, as they are in no sum of blocked time.
struct BlockedStacks: Sendable {
  struct Row: Sendable {
    /// Escaped for a terminal.
    var program: String
    var stack: ReportStack
    var trigger: String
    var waits: Int64 = 0
    var blocked: Int64 = 0
    var mainThreadBlocked: Int64 = 0
    var longest: Int64 = -1
    /// Of the longest wait.
    var path: [UInt8]?
  }

  private struct Key: Hashable {
    var program: String
    var stack: ReportStack
    var trigger: String
  }

  // LIMIT: beyond, all goes into one row.
  static let rowsMax = 50_000

  private(set) var rows: [Row] = []
  private var rowOfKey: [Key: Int] = [:]
  /// Whether some of it is in a row for the rest.
  private(set) var isCut = false

  mutating func add(_ wait: ReportWait, program: String) {
    guard wait.kind == .wait else { return }
    var key = Key(program: program, stack: wait.stack, trigger: wait.trigger)
    if rowOfKey[key] == nil, rows.count >= Self.rowsMax {
      key = Key(program: "(other programs and stacks)", stack: .none, trigger: "any")
      isCut = true
    }
    let index: Int
    if let known = rowOfKey[key] {
      index = known
    } else {
      index = rows.count
      rows.append(Row(program: key.program, stack: key.stack, trigger: key.trigger))
      rowOfKey[key] = index
    }
    rows[index].waits += 1
    rows[index].blocked = rows[index].blocked.plus(wait.blocked)
    if wait.isMainThread == true {
      rows[index].mainThreadBlocked = rows[index].mainThreadBlocked.plus(wait.blocked)
    }
    if wait.blocked > rows[index].longest {
      rows[index].longest = wait.blocked
      rows[index].path = wait.path
    }
  }

  /// Most blocked first.
  var sorted: [Row] {
    rows.sorted { ($1.blocked, $0.program, $0.trigger) < ($0.blocked, $1.program, $1.trigger) }
  }
}
