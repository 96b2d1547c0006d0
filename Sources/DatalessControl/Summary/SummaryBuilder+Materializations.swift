extension SummaryBuilder {
  mutating func started(_ record: LogRecord) {
    guard let path = record.json.path else { return }
    let isFile = !record.json.has("kind", "directory")
    report.triggers[record.json.string("trigger") ?? "unknown", default: 0] += 1
    let row = files.started(
      path, names: record.json.names, size: record.json.integer("size") ?? 0, isFile: isFile,
      handle: record.json.unsigned("handle"), by: process(record.process))
    guard let id = record.attempt else { return }
    attempts[id] = Attempt(
      process: record.process, isCommand: record.isTriggeredByCommand, path: path, isFile: isFile,
      row: row, part: Self.part(record.json), topLevel: topLevel(of: path, isFile: isFile))
  }

  /// The row of what an attempt that is under way materializes, in the table of files.
  func row(ofAttempt id: UInt64) -> Int? { attempts[id]?.row }

  /// The range that an attempt brings in; nil for all of the file.
  private static func part(_ json: JSONObject) -> Range<Int64>? {
    guard let offset = json.integer("range_offset") else { return nil }
    let start = max(0, offset)
    return start..<start.plus(max(0, json.integer("range_length") ?? 0))
  }

  mutating func finished(_ record: LogRecord) {
    let json = record.json
    let isFile = !json.has("kind", "directory")
    let path = json.path ?? []
    let attempt = record.attempt.flatMap { attempts[$0] }
    let process = attempt?.process ?? json.objects("waiters").first?.unsigned("process").flatMap { UInt32(exactly: $0) }
    let top = attempt?.topLevel ?? topLevel(of: path, isFile: isFile)
    let isCommand = attempt?.isCommand ?? false
    let bytes = json.integer("bytes") ?? 0
    // Also of what was never released: it was cancelled, or the volume ended.
    report.held.heldNanoseconds = report.held.heldNanoseconds.plus(json.integer("held_ns") ?? 0)
    let outcome = record.outcome ?? "ok"
    // What came before a failure stays: the volume's counters and budgets count it, too.
    if isFile, outcome == "ok" || bytes > 0 {
      let group = isCommand ? nil : groups.index(of: process, processes)
      let share = files.materializedFile(
        path, row: attempt?.row, bytes: bytes, group: group, part: attempt?.part, isDone: outcome == "ok")
      let count: Int64 = share == .more ? 0 : 1
      report.materialized.files += count
      report.materialized.bytes = report.materialized.bytes.plus(bytes)
      topLevel[top].files += count
      topLevel[top].bytes = topLevel[top].bytes.plus(bytes)
      sections.current.files += count
      sections.current.bytes = sections.current.bytes.plus(bytes)
      groups.with(process, processes: processes, isCommand: isCommand) {
        $0.files += count
        $0.bytes = $0.bytes.plus(bytes)
      }
    }
    switch outcome {
    case "ok" where isFile: break
    case "ok":
      files.materializedDirectory(path, durationNanoseconds: json.integer("duration_ns") ?? 0)
      report.materialized.directories += 1
      topLevel[top].directories += 1
      sections.current.directories += 1
      groups.with(process, processes: processes, isCommand: isCommand) { $0.directories += 1 }
    case "cancelled": report.materialized.cancelled += 1
    default:
      report.materialized.failures += 1
      report.failures[outcome, default: 0] += 1
      sections.current.failures += 1
      groups.with(process, processes: processes, isCommand: isCommand) { $0.failures += 1 }
    }
    guard let id = record.attempt else { return }
    update(attempt: id) { attempt in
      attempt.isFinished = true
      attempt.finishedAt = record.monotonicNanoseconds
    }
  }

  mutating func refused(_ record: LogRecord) {
    report.materialized.refusals += 1
    report.refusals[record.json.string("errno") ?? "unknown", default: 0] += 1
    refusedItems.add(record, seen: &seenRefused, salt: 0)
    groups.refused(record, processes)
  }

  mutating func exceeded(_ record: LogRecord) {
    guard report.run?.exceeded == nil else { return }
    let json = record.json
    let process = record.process.flatMap { processes[$0] }
    let name = process.map { String(decoding: $0.name, as: UTF8.self) } ?? "?"
    report.run = report.run ?? SummaryReport.Run()
    let (path, base64) = WirePath.split(json.path ?? [])
    report.run?.exceeded = SummaryReport.Excess(
      budget: json.string("budget") ?? "", limit: json.integer("limit") ?? 0, used: json.integer("used") ?? 0,
      path: path, pathBase64: base64, process: "\(name)[\(process?.pid ?? 0)]")
  }

  mutating func runFinished(_ json: JSONObject) {
    report.run = report.run ?? SummaryReport.Run()
    report.run?.exitStatus = json.integer("exit_status")
    report.run?.signal = json.string("signal")
    report.run?.notStarted = json.string("not_started")
    report.run?.interruptedBy = json.string("interrupted_by")
    report.run?.gap = RunEnding(json).gap
    // The moment of the excess said how many there were then.
    if let excess = report.run?.exceeded, let budgets = json.object("budgets") {
      let used = excess.budget == "bytes" ? budgets.integer("bytes") : budgets.integer("files")
      report.run?.exceeded?.used = max(excess.used, used ?? 0)
    }
  }
}

/// Adds up what refused triggers would have materialized: an item that was refused a thousand times counts once.
struct RefusedItems: Sendable {
  private(set) var sum = SummaryReport.Refused()

  /// - Parameters:
  ///   - seen: Items that were refused, of several sums.
  ///   - salt: What those of this sum are told apart by.
  mutating func add(_ record: LogRecord, seen: inout SpilledNumbers, salt: UInt64) {
    guard let path = record.json.path, seen.insert(PathHash.of(path) ^ salt) else { return }
    let delay = record.json.integer("requested_delay_ns") ?? 0
    sum.delayNanoseconds = sum.delayNanoseconds.plus(delay)
    if record.json.string("kind") == "directory" {
      sum.directories += 1
    } else {
      sum.files += 1
      sum.bytes = sum.bytes.plus(record.json.integer("size") ?? 0)
    }
  }
}
