import DatalessControl

/// What programs coordinated: who waited for whom, which presenter was slow, and lanes for the timeline.
extension PageData {
  mutating func coordination(_ json: inout JSONBuffer) {
    guard let coordination = report.summary.coordination else { return }
    json.key("coordination")
    json.object { json in
      json.key("facts")
      json.array { json in
        for (title, text) in CoordinationText.facts(coordination) { json.strings([title, text]) }
      }
      intentWaits(coordination, &json)
      presenters(coordination, &json)
      intentLanes(&json)
    }
  }

  private mutating func intentWaits(_ coordination: SummaryReport.Coordination, _ json: inout JSONBuffer) {
    json.key("waits")
    json.array { json in
      for wait in coordination.longest {
        json.array { json in
          json.integer(wait.waitedNanoseconds)
          json.string(String(wait.intent))
          json.integer(texts.text(CoordinationText.who(wait.process)))
          json.integer(texts.text(CoordinationText.path(wait)))
          json.integer(texts.text(CoordinationText.holders(wait)))
          json.integer(texts.text(CoordinationText.outcome(wait)))
        }
      }
    }
    if coordination.waited.waits > Int64(coordination.longest.count) {
      notes.append(
        "The table of coordinated accesses has the \(HumanText.count(Int64(coordination.longest.count))) longest waits "
          + "of \(HumanText.count(coordination.waited.waits)).")
    }
  }

  private mutating func presenters(_ coordination: SummaryReport.Coordination, _ json: inout JSONBuffer) {
    json.key("presenters")
    json.array { json in
      for row in coordination.slowest {
        json.array { json in
          json.integer(texts.text(CoordinationText.who(row.process)))
          json.integer(texts.text(TerminalText.escaped(row.path)))
          for number in [row.asked, row.timedOut, row.longestNanoseconds, row.sumNanoseconds] { json.integer(number) }
        }
      }
    }
  }

  private mutating func intentLanes(_ json: inout JSONBuffer) {
    let timeline = report.intents.timeline
    json.key("lanes")
    json.array { json in
      for (row, name) in zip(timeline.rows, report.intents.names) {
        var row = row
        row.sortPieces()
        let number = row.lane.number == 0 ? "" : ", at the same time (\(row.lane.number))"
        self.row(row, name, thread: row.isRest ? "" : "coordinated accesses\(number)", json: &json)
      }
    }
    if timeline.resolution > 0 {
      notes.append(
        "The timeline shows waits of coordinated accesses in fewer pieces: those of one process that begin within "
          + "\(HumanText.duration(nanoseconds: timeline.resolution)) are one.")
    }
  }
}
