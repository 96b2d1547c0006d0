import DatalessControl

/// The data of a page: numbers, and indices of texts, which stand in it once. Page/report.js reads it.
struct PageData {
  // LIMIT: what a browser shows without delay. Whatever is beyond is added up, and the page says so.
  static let filesMax = 20_000
  static let directoriesMax = 20_000
  static let restMax = 5_000
  static let blockedMax = 10_000

  let report: Report
  var texts = PageTexts()
  /// What is not shown, or shown in fewer pieces: sentences.
  var notes: [String] = []

  init(_ report: Report) { self.report = report }

  static func title(_ report: Report) -> String {
    let verdict = report.verdict.outcome == .none ? "" : "\(report.verdict.outcome.rawValue): "
    let end = report.summary.run?.failure.map { "\($0); " } ?? ""
    return verdict + end + SummaryText.headline(report.summary)
  }

  static func origin(_ report: Report) -> String {
    let summary = report.summary
    let command = summary.run.map { run in
      run.command.map { TerminalText.escaped($0) }.joined(separator: " ") + (run.isCommandWithheld ? " ..." : "")
    }
    return [
      command, "volume of \(TerminalText.escaped(summary.source))",
      summary.started.map { "from " + TerminalText.escaped(String($0.prefix(19))) + "Z" },
      HumanText.duration(nanoseconds: summary.durationNanoseconds),
      HumanText.count(report.records, "record"),
    ].compactMap { $0 }.joined(separator: ", ")
  }

  mutating func json() -> [UInt8] {
    var json = JSONBuffer()
    json.object { json in
      if let verdict = try? WireCoding.encode(report.verdict) {
        json.key("verdict")
        json.raw(Self.withoutMarkup(verdict))
      }
      json.key("facts")
      json.array { json in
        for (title, text) in SummaryText.facts(report.summary) { json.strings([title, text]) }
      }
      findings(&json)
      json.field("duration", report.end.minus(report.origin))
      timeline(&json)
      happenings(&json)
      blocked(&json)
      longest(&json)
      coordination(&json)
      files(&json)
      directories(&json)
      programs(&json)
      requests(&json)
      json.field("scenario", report.context.scenario)
      json.field("settings", report.options)
      json.field("again", report.commandLine)
      json.field("log", TerminalText.escaped(report.summary.log))
      json.field("version", report.context.version)
      // At last: they are known when all has been told.
      texts.writeStacks(&json, report.stackTable)
      json.key("strings")
      json.strings(texts.all)
      json.key("notes")
      json.strings((IncompleteLog.sentence(report.summary.completeness).map { [$0] } ?? []) + notes)
    }
    return json.bytes
  }

  // MARK: - Parts

  private mutating func timeline(_ json: inout JSONBuffer) {
    let timeline = report.timeline
    json.key("timeline")
    json.object { json in
      json.field("resolution", timeline.resolution)
      json.key("rows")
      json.array { json in
        for (row, name) in rows() {
          self.row(row, name, thread: row.isRest ? "" : row.lane.title, json: &json)
        }
      }
    }
    if timeline.resolution > 0 {
      notes.append(
        "The timeline shows \(HumanText.count(timeline.rows.reduce(0) { $0 + $1.waits }, "wait")) in fewer pieces: "
          + "waits of one thread "
          + "that begin within \(HumanText.duration(nanoseconds: timeline.resolution)) are one.")
    }
    if timeline.rows.contains(where: \.isRest) {
      notes.append(
        "The timeline has a lane for each of the first \(HumanText.count(Int64(Timeline.rowsMax))) threads; "
          + "the others share one."
      )
    }
  }

  /// Threads of one process together, its main thread first, in the order in which processes first waited; what stands
  /// for the rest is last.
  private func rows() -> [(Timeline.Row, Report.RowName)] {
    var first: [UInt32?: Int64] = [:]
    let rows = zip(report.timeline.rows, report.lanes).map { row, name in
      var row = row
      row.sortPieces()
      let start = row.pieces.first?.start ?? 0
      first[row.lane.process] = min(first[row.lane.process] ?? start, start)
      return (row, name)
    }
    func rank(_ row: Timeline.Row) -> (Int, Int64, Int, Int64) {
      (
        row.isRest ? 1 : 0, first[row.lane.process] ?? 0, row.lane.isMainThread && row.lane.number == 0 ? 0 : 1,
        row.pieces.first?.start ?? 0
      )
    }
    return rows.sorted { rank($0.0) < rank($1.0) }
  }

  mutating func row(_ row: Timeline.Row, _ name: Report.RowName, thread: String, json: inout JSONBuffer) {
    json.object { json in
      json.field("name", name.program + (name.pid.map { "[\($0)]" } ?? ""))
      json.field("thread", thread)
      json.key("main")
      json.bool(row.lane.isMainThread && !row.isRest)
      json.field("waits", row.waits)
      json.field("blocked", row.blocked)
      json.key("pieces")
      json.array { json in
        for piece in row.pieces {
          json.array { json in
            json.integer(piece.start.minus(report.origin))
            json.integer(max(0, piece.end.minus(piece.start)))
            for number in [piece.waits, piece.blocked, piece.longest] { json.integer(number) }
            json.integer(texts.path(piece.path))
            json.integer(texts.text(TerminalText.escaped(piece.trigger)))
            json.integer(piece.isUnderWay ? -1 : texts.text(TerminalText.escaped(piece.outcome)))
            json.integer(texts.stack(piece.stack))
            json.integer(piece.failures)
            json.integer(piece.isUnderWay ? 1 : 0)
          }
        }
      }
    }
  }

  private mutating func happenings(_ json: inout JSONBuffer) {
    let happenings = report.happenings
    json.key("holds")
    json.array { json in
      for hold in happenings.holds {
        json.array { json in
          json.integer(hold.start.minus(report.origin))
          json.integer(hold.end.map { $0.minus(report.origin) } ?? -1)
          json.integer(texts.text(hold.gate))
          json.integer(texts.path(hold.path))
          json.integer(hold.errno.map { texts.text($0) } ?? -1)
        }
      }
    }
    json.key("moments")
    json.array { json in
      for moment in happenings.moments {
        json.array { json in
          json.integer(moment.time.minus(report.origin))
          json.string(moment.kind.rawValue)
          json.integer(texts.text(moment.text))
        }
      }
    }
    if happenings.holdsOmitted + happenings.momentsOmitted > 0 {
      notes.append(
        "Of gates, faults and marks "
          + "\(HumanText.count(happenings.holdsOmitted + happenings.momentsOmitted)) are not shown: "
          + "only the first ones are.")
    }
  }

  /// What another encoder wrote, with `<` escaped as all of ours is.
  private static func withoutMarkup(_ json: [UInt8]) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(json.count)
    for byte in json {
      switch byte {
      case UInt8(ascii: "<"): output += "\\u003c".utf8
      case UInt8(ascii: ">"): output += "\\u003e".utf8
      case UInt8(ascii: "&"): output += "\\u0026".utf8
      default: output.append(byte)
      }
    }
    return output
  }
}
