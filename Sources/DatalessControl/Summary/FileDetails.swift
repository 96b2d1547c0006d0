/// What only the rows of `dataless summary --files` tell of a file: its path, who, and how long they waited.
struct FileDetails: Sendable {
  private static let processesMax = 8

  /// By the row in `SummaryFiles`.
  private(set) var rows: [Int: FileSummary] = [:]

  mutating func note(_ row: Int, _ path: [UInt8], _ process: FileSummary.Process?) {
    with(row, path) { summary in
      guard let process, !summary.processes.contains(process) else { return }
      summary.processCount += 1
      if summary.processes.count < Self.processesMax { summary.processes.append(process) }
    }
  }

  mutating func waited(_ row: Int, _ path: [UInt8], _ nanoseconds: Int64, _ isUnderWay: Bool) {
    with(row, path) { $0.blocked.add(nanoseconds, isUnderWay: isUnderWay) }
  }

  mutating func rename(_ row: Int, to path: [UInt8]) {
    guard rows[row] != nil else { return }
    with(row, path) { ($0.path, $0.pathBase64) = WirePath.split(path) }
  }

  private mutating func with(_ row: Int, _ path: [UInt8], _ body: (inout FileSummary) -> Void) {
    if rows[row] == nil {
      var summary = FileSummary()
      (summary.path, summary.pathBase64) = WirePath.split(path)
      rows[row] = summary
    }
    body(&rows[row, default: FileSummary()])
  }
}
