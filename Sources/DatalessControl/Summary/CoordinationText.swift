/// What programs coordinated, in words: who waited for whom, which presenter was slow, what it spared. Escaped for a
/// terminal.
public enum CoordinationText {
  public static let title = "Coordinated accesses"
  /// Those for whom an intent waited that are named in one line.
  private static let holdersShown = 3

  /// Titles and sentences.
  public static func facts(_ coordination: SummaryReport.Coordination) -> [(String, String)] {
    var facts = [("intents", intents(coordination)), ("waited", waited(coordination))]
    if let text = presenters(coordination) { facts.append(("presenters", text)) }
    if coordination.brought.attempts > 0 || coordination.brought.waited.waits > 0 {
      facts.append(("brought", brought(coordination.brought)))
      facts.append(("spared", spared(coordination.brought)))
      facts.append(("read", read(coordination.brought)))
    }
    return facts
  }

  /// `2 of 3 intents granted; longest wait 1.2 s: sync[12] to read a, for editor[10] (intent 5); 40 ms spared`: the
  /// section in a line; nil where nothing was asked for.
  static func line(_ sum: SummaryReport.Coordination) -> String? {
    guard sum.intents > 0 else { return nil }
    var parts = ["\(HumanText.count(sum.granted)) of \(HumanText.count(sum.intents, "intent")) granted"]
    if let longest = sum.longest.first {
      let holders = longest.waitsFor.isEmpty ? "" : ", for \(holders(longest))"
      parts.append(
        "longest wait \(duration(longest.waitedNanoseconds)): \(who(longest.process)) \(path(longest))\(holders)")
    }
    if sum.unknownWaits > 0 { parts.append("not known how long \(HumanText.count(sum.unknownWaits)) more waited") }
    if sum.timedOut > 0 { parts.append(unanswered(sum)) }
    if sum.brought.attempts > 0 || sum.brought.waited.waits > 0 {
      parts.append(sum.brought.sparedNanoseconds.map { "\(duration($0)) spared" } ?? "what it spared is unknown")
    }
    return parts.joined(separator: "; ")
  }

  /// `2 questions not answered in time by editor[10] at notes.txt`.
  private static func unanswered(_ sum: SummaryReport.Coordination) -> String {
    let text = "\(HumanText.count(sum.timedOut, "question")) not answered in time"
    let late = sum.slowest.filter { $0.timedOut > 0 }
    guard !late.isEmpty else { return text }
    let names = late.prefix(holdersShown).map { "\(who($0.process)) at \(TerminalText.escaped($0.pathBytes))" }
    return "\(text) by \(names.joined(separator: ", "))"
      + (late.count > names.count ? " and \(late.count - names.count) more" : "")
  }

  static func tables(_ coordination: SummaryReport.Coordination) -> [[String]] {
    var tables: [[String]] = []
    if !coordination.longest.isEmpty {
      var table = TextTable([
        .init("WAITED", .right), .init("INTENT", .right), .init("PROCESS", widthMax: 32), .init("PATH", widthMax: 40),
        .init("OUTCOME"), .init("FOR"),
      ])
      for wait in coordination.longest {
        table.rows.append([
          duration(wait.waitedNanoseconds), "\(wait.intent)", who(wait.process), path(wait), outcome(wait),
          holders(wait),
        ])
      }
      tables.append(table.lines)
    }
    if !coordination.slowest.isEmpty {
      var table = TextTable([
        .init("LONGEST", .right), .init("ALTOGETHER", .right), .init("ASKED", .right), .init("TIMED OUT", .right),
        .init("PRESENTER", widthMax: 32), .init("PATH"),
      ])
      for row in coordination.slowest {
        table.rows.append([
          duration(row.longestNanoseconds), duration(row.sumNanoseconds), HumanText.count(row.asked),
          HumanText.count(row.timedOut), who(row.process), TerminalText.escaped(row.pathBytes),
        ])
      }
      tables.append(table.lines)
    }
    return tables
  }

  // MARK: - Names

  /// `python3 fm.py[4711]`.
  public static func who(_ process: FileSummary.Process?) -> String {
    process.map { "\(ProcessName.text(comm: $0.comm, exe: nil, script: $0.script))[\($0.pid)]" } ?? "unknown"
  }

  /// `a and 2 more`, with what is to be done: `to write a`.
  public static func path(_ wait: SummaryReport.IntentWait) -> String {
    let others = wait.reads.plus(wait.writes).minus(1)
    return "to \(Self.use(reads: wait.reads, writes: wait.writes)) \(TerminalText.escaped(wait.pathBytes))"
      + (others > 0 ? " and \(HumanText.count(others)) more" : "")
  }

  /// `read`, `write`, or both.
  public static func use(reads: Int64, writes: Int64) -> String {
    writes > 0 ? reads > 0 ? "read and write" : "write" : "read"
  }

  /// `editor[10] (intent 5)`, ...
  public static func holders(_ wait: SummaryReport.IntentWait) -> String {
    var words = wait.waitsFor.prefix(holdersShown).map { "\(who($0.process)) (intent \($0.intent))" }
    let more = wait.waitsFor.count - words.count
    if more > 0 { words.append("and \(more) more") }
    return words.joined(separator: ", ")
  }

  public static func outcome(_ wait: SummaryReport.IntentWait) -> String {
    wait.isUnderWay ? "waits" : TerminalText.escaped(wait.outcome ?? "unknown")
  }

  // MARK: - Sentences

  /// `12: 9 granted, 1 given up, 2 failed (coordination_deadlock 1, coordination_failed 1); now 1 waits`.
  private static func intents(_ sum: SummaryReport.Coordination) -> String {
    var words = ["\(HumanText.count(sum.granted)) granted"]
    if sum.cancelled > 0 { words.append("\(HumanText.count(sum.cancelled)) given up") }
    if sum.failed > 0 {
      words.append("\(HumanText.count(sum.failed)) failed (\(HumanText.counts(sum.failures)))")
    }
    if sum.deadlocks > 0 { words.append(HumanText.count(sum.deadlocks, "deadlock")) }
    if sum.takenAway > 0 { words.append("\(HumanText.count(sum.takenAway)) taken away") }
    var text = "\(HumanText.count(sum.intents)): " + words.joined(separator: ", ")
    if sum.pending > 0 || sum.held > 0 {
      text += "; without an end: \(HumanText.count(sum.pending)) not granted, \(HumanText.count(sum.held)) granted"
    }
    return text
  }

  private static func waited(_ sum: SummaryReport.Coordination) -> String {
    let unknown = sum.unknownWaits > 0 ? "not known of \(HumanText.count(sum.unknownWaits)) more" : nil
    guard sum.waited.waits > 0 else { return "for others: " + (unknown ?? "nobody") }
    let underWay = sum.waited.underWay > 0 ? " (\(HumanText.count(sum.waited.underWay)) under way)" : ""
    let waits = HumanText.count(sum.waited.waits, "intent") + underWay
    let text =
      "for others: \(duration(sum.waited.sumNanoseconds)) in \(waits), "
      + "longest \(duration(sum.waited.longestNanoseconds)); \(duration(sum.waited.wallNanoseconds ?? 0)) of wall clock"
    return text + (unknown.map { "; " + $0 } ?? "")
  }

  private static func presenters(_ sum: SummaryReport.Coordination) -> String? {
    guard sum.presenters > 0 || sum.asked > 0 else { return nil }
    var words = ["\(HumanText.count(sum.presenters)) presented", HumanText.count(sum.asked, "question")]
    if sum.answered > 0 { words.append("\(HumanText.count(sum.answered)) answered") }
    if sum.timedOut > 0 { words.append("\(HumanText.count(sum.timedOut)) timed out") }
    if sum.withdrawn > 0 { words.append("\(HumanText.count(sum.withdrawn)) withdrawn") }
    var text = words.joined(separator: ", ")
    if let slowest = sum.slowest.first {
      text +=
        "; slowest \(who(slowest.process)) at \(TerminalText.escaped(slowest.pathBytes)), "
        + duration(slowest.longestNanoseconds)
    }
    guard sum.asked > 0 else { return text }
    return text + "; intents that were granted waited \(duration(sum.askingNanoseconds)) for them"
  }

  /// `40 files (1.2 MiB) and 3 directories, for which no thread was blocked`.
  private static func brought(_ brought: SummaryReport.Brought) -> String {
    let directories = HumanText.count(brought.directories, "directory", plural: "directories")
    var text =
      "\(HumanText.count(brought.files, "file")) (\(HumanText.size(brought.bytes))) and \(directories) ahead of reads, "
      + "in \(HumanText.count(brought.attempts, "attempt"))"
    if brought.joinedWaits > 0 {
      text +=
        "; \(HumanText.count(brought.joinedWaits, "call")) came meanwhile, and were blocked for "
        + duration(brought.joinedNanoseconds)
    }
    return text
  }

  /// What came at the same time.
  private static func spared(_ brought: SummaryReport.Brought) -> String {
    let waited = brought.waited
    let items =
      "item by item intents waited \(duration(waited.sumNanoseconds)) for content and listings, and no thread with them"
    guard let spared = brought.sparedNanoseconds else {
      return items + "; how much less it was as they came at the same time: unknown"
    }
    return items + "; as they came at the same time it was \(duration(waited.wallNanoseconds ?? 0)) of wall clock: "
      + "\(duration(spared)) spared"
  }

  /// What was read without a wait.
  private static func read(_ brought: SummaryReport.Brought) -> String {
    let seen =
      "\(HumanText.count(brought.readFiles, "file")) of them afterwards, with nobody blocked: "
      + "\(duration(brought.readNanoseconds)) of fetching that no read waited for"
    guard let unread = brought.unreadFiles else { return seen + "; whether the others were read is unknown" }
    return seen + "; \(HumanText.count(unread)) not"
  }

  private static func duration(_ nanoseconds: Int64) -> String { HumanText.duration(nanoseconds: nanoseconds) }
}
