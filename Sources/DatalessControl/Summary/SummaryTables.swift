/// The tables at the end of a summary.
enum SummaryTables {
  static func all(_ report: SummaryReport, rowsMax: Int) -> [[String]] {
    [
      processes(report.processes, rowsMax), topLevel(report.topLevelDirectories, rowsMax), sections(report.sections),
    ].filter { !$0.isEmpty }
  }

  private static let amounts: [TextTable.Column] = [
    .init("FILES", .right), .init("DIRS", .right), .init("BYTES", .right), .init("BLOCKED", .right),
  ]

  private static func amounts(files: Int64, directories: Int64, bytes: Int64, blocked: Int64) -> [String] {
    [
      HumanText.count(files), HumanText.count(directories), HumanText.size(bytes),
      HumanText.duration(nanoseconds: blocked),
    ]
  }

  private static func processes(_ processes: [ProcessSummary], _ rowsMax: Int) -> [String] {
    guard !processes.isEmpty else { return [] }
    var table = TextTable(
      amounts + [
        .init("PROCESS", widthMax: 32), .init("PIDS", .right), .init("STARTED BY", widthMax: 24), .init("HOW"),
        .init("VERDICT"),
      ])
    for process in processes.prefix(rowsMax) {
      let pid = process.pidCount == 1 ? process.pids.first.map { "[\($0)]" } ?? "" : ""
      let starter =
        process.startedBy.map { "\(ProcessName.text(comm: $0.comm, exe: $0.exe, script: $0.script))[\($0.pid)]" } ?? "-"
      let who =
        process.isCommand
        ? "dataless materialize" : ProcessName.text(comm: process.comm, exe: process.exe, script: process.script)
      table.rows.append(
        amounts(
          files: process.files, directories: process.directories, bytes: process.bytes,
          blocked: process.blocked.sumNanoseconds) + [
            who + pid + ProcessName.place(unit: process.unit, container: process.container),
            HumanText.count(process.pidCount), starter,
            process.blocked.parallelism.map(SummaryText.parallelism) ?? "-", verdict(process),
          ])
    }
    return table.lines + more(processes.count, rowsMax: rowsMax, noun: "process", plural: "processes")
  }

  private static func verdict(_ process: ProcessSummary) -> String {
    switch process.verdict {
    case "nothing" where process.refusals > 0: HumanText.count(process.refusals, "refusal")
    case "nothing": process.failures > 0 ? "failed" : "-"
    case "read_again_after_eviction": "read again after eviction"
    default: FileUse(rawValue: process.verdict)?.words ?? process.verdict
    }
  }

  private static func topLevel(_ directories: [SummaryReport.TopLevel], _ rowsMax: Int) -> [String] {
    let used = directories.filter { $0.files > 0 || $0.directories > 0 || $0.blockedNanoseconds > 0 }
    guard !used.isEmpty else { return [] }
    var table = TextTable(amounts + [.init("TOP-LEVEL DIRECTORY")])
    for directory in used.prefix(rowsMax) {
      table.rows.append(
        amounts(
          files: directory.files, directories: directory.directories, bytes: directory.bytes,
          blocked: directory.blockedNanoseconds)
          + [TerminalText.escaped(directory.pathBytes)])
    }
    return table.lines + more(used.count, rowsMax: rowsMax, noun: "directory", plural: "directories")
  }

  private static func sections(_ sections: [SummaryReport.Section]) -> [String] {
    guard !sections.isEmpty else { return [] }
    var table = TextTable(amounts + [.init("FAILURES", .right), .init("AFTER MARK", widthMax: 40), .init("REQUESTS")])
    for section in sections {
      table.rows.append(
        amounts(
          files: section.files, directories: section.directories, bytes: section.bytes,
          blocked: section.blockedNanoseconds) + [
            HumanText.count(section.failures), section.label.map { TerminalText.escaped($0) } ?? "(before the first)",
            section.requestsReachingTheVolume.map(HumanText.counts) ?? "not known",
          ])
    }
    return table.lines
  }

  private static func more(_ count: Int, rowsMax: Int, noun: String, plural: String) -> [String] {
    count > rowsMax
      ? ["... and \(HumanText.count(Int64(count - rowsMax), noun, plural: plural)) more (--json has all)"] : []
  }
}

/// `dataless summary --files` as text.
public enum SummaryFileTable {
  /// - Parameter rowsMax: Rows that are shown; nil for all.
  public static func lines(_ report: SummaryReport, rowsMax: Int?) -> [String] {
    let files = report.files ?? []
    return lines(report, shown: files.prefix(rowsMax ?? files.count), of: files.count)
  }

  /// - Parameters:
  ///   - shown: Rows in their order.
  ///   - count: Of all files.
  public static func lines(
    _ report: SummaryReport, shown: some Collection<FileSummary>, of count: Int
  ) -> [String] {
    let headline = SummaryText.headline(report)
    guard count > 0 else { return [headline, "", "no file was tried or opened"] }
    var table = TextTable([
      .init("BYTES", .right), .init("READ", .right), .init("WAITS", .right), .init("BLOCKED", .right), .init("USE"),
      .init("BY", widthMax: 32), .init("PATH"),
    ])
    for file in shown {
      table.rows.append([
        HumanText.size(file.bytes), share(file), waits(file.blocked),
        HumanText.duration(nanoseconds: file.blocked.sumNanoseconds), use(file), by(file),
        TerminalText.escaped(file.pathBytes),
      ])
    }
    let more = count - shown.count
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
    let name = "\(ProcessName.text(comm: first.comm, exe: nil, script: first.script))[\(first.pid)]"
    return file.processCount > 1 ? "\(name) +\(HumanText.count(file.processCount - 1))" : name
  }
}
