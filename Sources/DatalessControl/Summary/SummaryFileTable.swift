/// `dataless summary --files` as text.
public enum SummaryFileTable {
  /// - Parameter rowsMax: Rows that are shown; nil for all.
  public static func lines(_ report: SummaryReport, rowsMax: Int?) -> [String] {
    let files = report.files ?? []
    let headline = SummaryText.headline(report)
    guard !files.isEmpty else { return [headline, "", "no file was tried or opened"] }
    var table = TextTable([
      .init("BYTES", .right), .init("READ", .right), .init("WAITS", .right), .init("BLOCKED", .right), .init("USE"),
      .init("BY", widthMax: 32), .init("PATH"),
    ])
    let shown = files.prefix(rowsMax ?? files.count)
    for file in shown {
      table.rows.append([
        HumanText.size(file.bytes), share(file), waits(file.blocked),
        HumanText.duration(nanoseconds: file.blocked.sumNanoseconds), use(file), by(file),
        TerminalText.escaped(file.pathBytes),
      ])
    }
    let more = files.count - shown.count
    let rest = more > 0 ? ["... and \(HumanText.count(Int64(more), "file")) more (--limit 0 shows all)"] : []
    return [headline, ""] + table.lines + rest
  }

  private static func share(_ file: FileSummary) -> String {
    guard file.use != nil else { return "-" }
    if file.readShare == nil, file.readBytes == 0 { return "unknown" }
    return HumanText.percent(file.readBytes, of: file.size) + (file.readShare == nil ? " or more" : "")
  }

  private static func waits(_ blocked: SummaryReport.Blocked) -> String {
    HumanText.count(blocked.waits) + (blocked.underWay > 0 ? " (\(HumanText.count(blocked.underWay)) now)" : "")
  }

  private static func use(_ file: FileSummary) -> String {
    let words = file.use.map { FileUse(rawValue: $0)?.words ?? $0 } ?? "-"
    return words + (file.mappedBytes != 0 ? ", mapped" : "") + (file.isNeedless ? ", needless" : "")
      + (file.isSuperseded ? ", older version" : "")
  }

  private static func by(_ file: FileSummary) -> String {
    guard let first = file.processes.first else { return "-" }
    let name = "\(TerminalText.escaped(first.comm ?? "unknown"))[\(first.pid)]"
    return file.processCount > 1 ? "\(name) +\(HumanText.count(file.processCount - 1))" : name
  }
}
