import DatalessControl

/// How long callers were blocked by the listing of each directory.
struct DirectoryWaits: Sendable {
  struct Row: Sendable {
    var waits: Int64 = 0
    var blocked: Int64 = 0
  }

  // LIMIT: those met first; the rest is counted in `omitted`.
  static let rowsMax = 100_000

  private(set) var rows: [[UInt8]: Row] = [:]
  private(set) var omitted: Int64 = 0

  mutating func add(_ wait: ReportWait) {
    guard wait.kind == .wait, !wait.isFile, let path = wait.path else { return }
    guard rows[path] != nil || rows.count < Self.rowsMax else {
      omitted += 1
      return
    }
    rows[path, default: Row()].waits += 1
    rows[path, default: Row()].blocked = rows[path, default: Row()].blocked.plus(wait.blocked)
  }
}
