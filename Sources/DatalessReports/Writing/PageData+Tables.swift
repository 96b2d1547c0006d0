import DatalessControl

/// The tables of a page, and the tree of its paths.
extension PageData {
  mutating func blocked(_ json: inout JSONBuffer) {
    let rows = report.blocked.sorted
    json.key("blocked")
    json.array { json in
      for row in rows.prefix(Self.blockedMax) {
        json.array { json in
          json.integer(texts.text(row.program))
          json.integer(texts.stack(row.stack))
          json.integer(texts.text(TerminalText.escaped(row.trigger)))
          for number in [row.waits, row.blocked, row.mainThreadBlocked, max(0, row.longest)] { json.integer(number) }
          json.integer(texts.path(row.path))
        }
      }
      let rest = rows.dropFirst(Self.blockedMax)
      guard !rest.isEmpty else { return }
      json.array { json in
        json.integer(texts.text("(other programs and stacks)"))
        json.integer(-1)
        json.integer(texts.text("any"))
        json.integer(rest.reduce(0) { $0.plus($1.waits) })
        json.integer(rest.reduce(0) { $0.plus($1.blocked) })
        json.integer(rest.reduce(0) { $0.plus($1.mainThreadBlocked) })
        json.integer(rest.reduce(0) { max($0, $1.longest) })
        json.integer(-1)
      }
    }
    if rows.count > Self.blockedMax || report.blocked.isCut {
      notes.append("Blocked time of rare stacks is added up as (other programs and stacks).")
    }
  }

  mutating func longest(_ json: inout JSONBuffer) {
    json.key("longest")
    json.array { json in
      for entry in report.longest {
        let wait = entry.wait
        json.array { json in
          json.integer(texts.text(entry.program))
          json.integer(entry.pid.map { Int64($0) } ?? -1)
          json.integer(wait.threadID ?? -1)
          json.integer(wait.isMainThread.map { $0 ? 1 : 0 } ?? -1)
          json.integer(texts.path(wait.path))
          json.integer(texts.text(TerminalText.escaped(wait.trigger)))
          json.integer(wait.start.minus(report.origin))
          json.integer(wait.blocked)
          json.integer(texts.text(wait.isUnderWay ? "under way" : TerminalText.escaped(wait.outcome)))
          json.integer(texts.stack(wait.stack))
        }
      }
    }
    if report.summary.blocked.waits > Int64(report.longest.count) {
      notes.append(
        "The table of waits has the \(HumanText.count(Int64(report.longest.count))) longest of "
          + "\(HumanText.count(report.summary.blocked.waits))."
      )
    }
  }

  mutating func directories(_ json: inout JSONBuffer) {
    let rows = report.directories.rows.map { (PathText.of($0.key), $0.value) }
      .sorted { ($1.1.blocked, $0.0) < ($0.1.blocked, $1.0) }
    json.key("directories")
    json.array { json in
      for (path, row) in rows.prefix(Self.directoriesMax) {
        json.array { json in
          json.integer(texts.text(path))
          json.integer(row.waits)
          json.integer(row.blocked)
        }
      }
    }
    if rows.count > Self.directoriesMax || report.directories.omitted > 0 {
      notes.append(
        "The tree has the waits for the \(HumanText.count(Int64(Self.directoriesMax))) directories that were "
          + "waited for longest."
      )
    }
  }

  mutating func programs(_ json: inout JSONBuffer) {
    json.key("programs")
    json.array { json in
      for program in report.summary.processes.prefix(2_000) {
        json.array { json in
          json.integer(texts.text(ProgramText.name(program)))
          json.integer(program.pidCount)
          json.integer(ProgramText.starter(program).map { texts.text($0) } ?? -1)
          for number in [
            program.files, program.directories, program.bytes, program.blocked.sumNanoseconds,
            program.mainThreadBlockedNanoseconds, program.failures, program.refusals,
          ] { json.integer(number) }
          json.integer(texts.text(program.verdict.split(separator: "_").joined(separator: " ")))
        }
      }
    }
  }

  /// null where the log has no counters.
  mutating func requests(_ json: inout JSONBuffer) {
    json.key("requests")
    guard let counters = report.summary.requestsReachingTheVolume else { return json.null() }
    let requests = counters.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    json.array { json in
      for (name, count) in requests where count > 0 {
        json.array { json in
          json.integer(texts.text(TerminalText.escaped(name)))
          json.integer(count)
        }
      }
    }
  }

  mutating func findings(_ json: inout JSONBuffer) {
    json.key("findings")
    json.array { json in
      for finding in report.summary.findings {
        for place in finding.places {
          json.array { json in
            json.integer(texts.text(FindingText.title(finding.kind)))
            json.integer(place.count)
            json.integer(place.blockedNanoseconds)
            json.integer(place.sparedNanoseconds ?? -1)
            json.integer(texts.text(FindingText.who(place)))
            json.integer(texts.text(FindingText.paths(place)))
            json.integer(texts.text(Self.functions(place)))
            json.integer(texts.text(finding.rule))
          }
        }
        guard finding.placeCount > Int64(finding.places.count) else { continue }
        notes.append(
          "Of \(HumanText.count(finding.placeCount)) programs with the finding '\(FindingText.title(finding.kind))' the table "
            + "has the \(HumanText.count(Int64(finding.places.count))) that waited longest.")
      }
    }
  }

  private static func functions(_ place: FindingPlace) -> String {
    place.stack.map { StackTable.stack($0).text(framesMax: 5) } ?? ""
  }
}
