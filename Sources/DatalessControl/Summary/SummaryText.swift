/// A report as text for a terminal, a pipe or a log: what was materialized first, then why, by whom and where.
public enum SummaryText {
  /// Rows shown of each table; the JSON form has all of them.
  static let rowsMax = 20

  /// - Parameter width: Columns of the terminal; long lists are wrapped there. 40 or more.
  public static func lines(_ report: SummaryReport, width: Int) -> [String] {
    var lines = [headline(report)]
    if let origin = origin(report) { lines.append(origin) }
    lines.append("")
    for (title, text) in facts(report) { lines += wrap(title, text, width: max(40, width)) }
    for table in SummaryTables.all(report, rowsMax: rowsMax) { lines += [""] + table }
    guard let coordination = report.coordination else { return lines }
    lines += ["", CoordinationText.title]
    for (title, text) in CoordinationText.facts(coordination) { lines += wrap(title, text, width: max(40, width)) }
    for table in CoordinationText.tables(coordination) { lines += [""] + table }
    return lines
  }

  /// `120 files (2.3 MiB) and 14 directories materialized`, or for none how little else happened.
  public static func headline(_ report: SummaryReport) -> String {
    let done = report.materialized
    let directories = HumanText.count(done.directories, "directory", plural: "directories")
    guard done.files == 0 else {
      return "\(HumanText.count(done.files, "file")) (\(HumanText.size(done.bytes))) and \(directories) materialized"
    }
    var parts = ["0 files materialized"]
    if done.directories > 0 { parts.append("\(directories) listed") }
    if let requests = report.requestsReachingTheVolume {
      parts.append(HumanText.count(requests["lookup"] ?? 0, "lookup"))
      parts.append(HumanText.count(requests["open"] ?? 0, "open"))
    }
    return parts.joined(separator: ", ")
  }

  private static func changes(_ changes: ChangeCounts, _ report: SummaryReport) -> String {
    guard !report.keepsChanges else { return ChangesText.lineOfKept(changes) }
    return ChangesText.line(changes) + (report.unmountReason == nil || changes.isNothing ? "" : "; forgotten")
  }

  private static func origin(_ report: SummaryReport) -> String? {
    guard !report.session.isEmpty else { return nil }
    let time = report.started.map { " from \(TerminalText.escaped($0.prefix(19) + "Z"))" } ?? ""
    let place = report.source.isEmpty ? "" : " of \(TerminalText.escaped(report.source))"
    let duration = HumanText.duration(nanoseconds: report.durationNanoseconds)
    return "session \(TerminalText.escaped(report.session))\(place)\(time), \(duration)"
  }

  // MARK: - Facts

  /// What there is to say about a session beside its tables: titles and sentences, escaped for a terminal.
  public static func facts(_ report: SummaryReport) -> [(String, String)] {
    var facts: [(String, String)] = []
    if report.known.files > 0 { facts.append(("share", share(report))) }
    if report.blocked.waits > 0 { facts.append(("blocked", blocked(report.blocked))) }
    if let text = mainThread(report.mainThread) { facts.append(("main thread", text)) }
    facts += FindingText.facts(report.findings)
    if let text = report.coordination.flatMap(CoordinationText.line) { facts.append(("coordinated", text)) }
    if let text = waiting(report) { facts.append(("waiting", text)) }
    if let text = use(report) { facts.append(("use", text)) }
    let failed = HumanText.counts(report.failures)
    if !failed.isEmpty { facts.append(("failures", failed)) }
    let refused = HumanText.counts(report.refusals)
    if !refused.isEmpty {
      facts.append(("refusals", "\(refused); would have materialized \(Self.refused(report.refused))"))
    }
    if report.held.attempts > 0 {
      let sum = HumanText.duration(nanoseconds: report.held.heldNanoseconds)
      facts.append(("held", "\(HumanText.count(report.held.attempts, "attempt")) by gates, \(sum) altogether"))
    }
    for access in report.access { facts.append(("access", Self.access(access))) }
    if report.materialized.cancelled > 0 {
      facts.append(("cancelled", HumanText.count(report.materialized.cancelled, "attempt")))
    }
    if let path = report.repeated.path.map({ WirePath.bytes($0, report.repeated.pathBase64) }) {
      let items = HumanText.count(report.repeated.items, "item")
      let attempts = HumanText.count(report.repeated.attemptsMax)
      facts.append(
        ("repeated", "\(items) tried more than once, most often \(TerminalText.escaped(path)): \(attempts) times"))
    }
    if let chain = report.longestDirectoryChain, chain.length > 1 {
      let duration = HumanText.duration(nanoseconds: chain.durationNanoseconds)
      let count = HumanText.count(chain.length)
      facts.append(
        ("chain", "\(count) directories one after another for \(TerminalText.escaped(chain.pathBytes)), \(duration)"))
    }
    if let text = evictions(report.evictions) { facts.append(("evicted", text)) }
    if let changes = report.changes { facts.append(("changes", self.changes(changes, report))) }
    if !report.triggers.isEmpty { facts.append(("triggers", HumanText.counts(report.triggers))) }
    if let rules = report.rules { facts.append(("rules", Self.rules(rules))) }
    facts.append(("requests", requests(report.requestsReachingTheVolume)))
    if let run = report.run { facts.append(("command", command(run))) }
    facts.append(("log", completeness(report)))
    return facts
  }

  private static func requests(_ requests: [String: Int64]?) -> String {
    guard let requests else { return "not known: the log has no counters" }
    let text = HumanText.counts(requests)
    return text.isEmpty ? "none" : text
  }

  /// `2 of 5 never fired: typo 0 attempts, late 3 attempts, but rules before it say it all`.
  static func rules(_ counts: RuleCounts) -> String {
    guard counts.neverFired > 0 else { return "\(HumanText.count(counts.count)), all fired" }
    var named = counts.unused.prefix(rowsMax).map { rule in
      let attempts = "\(TerminalText.escaped(rule.name)) \(HumanText.count(rule.attempts, "attempt"))"
      return rule.attempts == 0 ? attempts : attempts + ", but rules before it say it all"
    }
    let more = counts.neverFired - Int64(named.count)
    if more > 0 { named.append("and \(HumanText.count(more)) more") }
    return "\(HumanText.count(counts.neverFired)) of \(HumanText.count(counts.count)) never fired: "
      + named.joined(separator: "; ")
  }

  private static func share(_ report: SummaryReport) -> String {
    let done = report.materialized
    let known = report.known
    // An empty file has nothing to materialize.
    let withContent = max(0, known.files.minus(known.emptyFiles))
    // Files that SOURCE has no more are materialized, too, and not known any more.
    let isCurrent = done.distinctFiles <= withContent
    func share(_ part: Int64?, of whole: Int64) -> String {
      part.flatMap { isCurrent ? HumanText.percent($0, of: whole) : nil } ?? "an unknown share"
    }
    let files = share(done.distinctFiles, of: withContent)
    let bytes = share(done.distinctBytes, of: known.bytes)
    let empty =
      known.emptyFiles > 0
      ? " with content (\(HumanText.count(known.emptyFiles)) more \(known.emptyFiles == 1 ? "is" : "are") empty)" : ""
    return "\(files) of \(HumanText.count(withContent, "known file"))\(empty), \(bytes) of "
      + HumanText.size(known.bytes)
  }

  /// Who is blocked now, the longest first.
  private static func waiting(_ report: SummaryReport) -> String? {
    guard report.blocked.underWay > 0 else { return nil }
    let shown = report.waiting.prefix(3)
    let texts = shown.map { wait in
      let name = wait.comm.map { ProcessName.text(comm: $0, exe: nil, script: wait.script) + "[\(wait.pid ?? 0)]" }
      let who = (name ?? "unknown") + (wait.threadName.map { " thread '\(TerminalText.escaped($0))'" } ?? "")
      let duration = HumanText.duration(nanoseconds: wait.blockedNanoseconds)
      return
        "\(who) for \(duration) so far at \(TerminalText.escaped(wait.pathBytes)) (\(TerminalText.escaped(wait.trigger)))"
    }
    let more = report.blocked.underWay - Int64(shown.count)
    return texts.joined(separator: ", ") + (more > 0 ? ", and \(HumanText.count(more)) more" : "")
  }

  private static func blocked(_ blocked: SummaryReport.Blocked) -> String {
    let sum = HumanText.duration(nanoseconds: blocked.sumNanoseconds)
    let longest = HumanText.duration(nanoseconds: blocked.longestNanoseconds)
    let underWay = blocked.underWay > 0 ? " (\(HumanText.count(blocked.underWay)) under way)" : ""
    let waits = HumanText.count(blocked.waits, "wait") + underWay
    var text = "\(sum) in \(waits), longest \(longest)"
    if let wall = blocked.wallNanoseconds { text += "; \(HumanText.duration(nanoseconds: wall)) of wall clock" }
    if let factor = blocked.parallelism { text += ", " + parallelism(factor) }
    return text
  }

  /// `blocked 151.6 ms in 4 waits, longest 151.6 ms: python3 fm.py at photos/p19.jpg`.
  private static func mainThread(_ main: SummaryReport.MainThread) -> String? {
    let unknown = HumanText.count(main.unknownWaits, "wait")
    guard main.blocked.waits > 0 else {
      return main.unknownWaits > 0 ? "not known: the log does not say of \(unknown) which thread it was" : nil
    }
    let underWay = main.blocked.underWay > 0 ? " (\(HumanText.count(main.blocked.underWay)) under way)" : ""
    var text =
      "blocked \(HumanText.duration(nanoseconds: main.blocked.sumNanoseconds)) in "
      + "\(HumanText.count(main.blocked.waits, "wait"))\(underWay), longest "
      + HumanText.duration(nanoseconds: main.blocked.longestNanoseconds)
    if let longest = main.longest {
      let name = ProcessName.text(comm: longest.comm, exe: longest.exe, script: longest.script)
      let path = longest.path.map { TerminalText.escaped(WirePath.bytes($0, longest.pathBase64)) }
      text += ": \(name) at \(path ?? "an unknown path")"
      if let place = longest.place { text += ", \(place.text)" }
      if let language = longest.unreadable { text += " (\(CallerStack.unreadable(language)))" }
    }
    if main.hitches.waits > 0 {
      let frame = HumanText.duration(nanoseconds: main.hitches.frameNanoseconds)
      text += "; \(HumanText.count(main.hitches.waits, "hitch", plural: "hitches")) (over \(frame))"
    }
    if let hangs = main.hangs {
      text += "; \(HumanText.count(hangs.waits, "hang"))"
      if hangs.signalled > 0 { text += ", \(HumanText.count(hangs.signalled)) signalled" }
      if hangs.survived > 0 { text += ", \(HumanText.count(hangs.survived)) survived" }
    }
    return main.unknownWaits > 0 ? text + "; not known of \(unknown) more" : text
  }

  /// `read: 5.2 s in 1,000 calls, longest 12 ms; 5.1 s of wall clock, one after another; by tar (4.1 s), cat (1.1 s)`.
  private static func access(_ access: SummaryReport.Access) -> String {
    let sum = HumanText.duration(nanoseconds: access.blocked.sumNanoseconds)
    let wall = HumanText.duration(nanoseconds: access.blocked.wallNanoseconds ?? 0)
    let longest = HumanText.duration(nanoseconds: access.blocked.longestNanoseconds)
    var calls = HumanText.count(access.blocked.waits, "call")
    if access.blocked.underWay > 0 { calls += " (\(HumanText.count(access.blocked.underWay)) under way)" }
    if access.failures > 0 { calls += " (\(HumanText.count(access.failures)) failed)" }
    let operation = TerminalText.escaped(access.operation)
    var text = "\(operation): \(sum) in \(calls), longest \(longest); \(wall) of wall clock"
    if let factor = access.blocked.parallelism { text += ", " + parallelism(factor) }
    let callers = access.callers.prefix(3).map { caller in
      let name = ProcessName.text(comm: caller.comm, exe: caller.exe, script: caller.script)
      return "\(name) (\(HumanText.duration(nanoseconds: caller.blockedNanoseconds)))"
    }
    return callers.isEmpty ? text : text + "; by " + callers.joined(separator: ", ")
  }

  static func parallelism(_ factor: Double) -> String {
    factor < 1.05 ? "one after another" : "\(HumanText.decimal(factor, 1)) at a time"
  }

  private static func use(_ report: SummaryReport) -> String? {
    let use = report.use
    var parts: [String] = []
    for (count, words) in [
      (use.whole, "read whole"), (use.inPart, "in part"), (use.headerOnly, "header only"),
      (use.openedNotRead, "opened, not read"), (use.readAgainAfterEviction, "read again after eviction"),
      (use.unknown, "unknown (still open, or read where the kernel alone sees it)"),
    ] where count > 0 {
      parts.append("\(HumanText.count(count)) \(words)")
    }
    var texts = parts.isEmpty ? [] : [parts.joined(separator: ", ")]
    if use.needlessFiles > 0 {
      let bytes = HumanText.size(use.needlessBytes)
      texts.append(
        "needless: \(HumanText.count(use.needlessFiles, "file")), \(bytes) (at most 5 % was read; --files names them)")
    }
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  private static func refused(_ refused: SummaryReport.Refused) -> String {
    let files = HumanText.count(refused.files, "file")
    let directories = HumanText.count(refused.directories, "directory", plural: "directories")
    return "\(files) (\(HumanText.size(refused.bytes))) and \(directories)"
  }

  private static func evictions(_ evictions: SummaryReport.Evictions) -> String? {
    guard evictions != SummaryReport.Evictions() else { return nil }
    let files = HumanText.count(evictions.files, "file")
    let directories = HumanText.count(evictions.directories, "directory", plural: "directories")
    let refused = evictions.refused > 0 ? ", \(HumanText.count(evictions.refused)) refused" : ""
    return "\(files) (\(HumanText.size(evictions.bytes))), \(directories)\(refused)"
  }

  private static func command(_ run: SummaryReport.Run) -> String {
    let words =
      run.command.map { TerminalText.escaped($0) }.joined(separator: " ") + (run.isCommandWithheld ? " ..." : "")
    guard let excess = run.exceeded else { return "\(words): \(run.end)" }
    let amount =
      "\(HumanText.count(excess.used)) of \(HumanText.count(excess.limit)) \(TerminalText.escaped(excess.budget))"
    let process = TerminalText.escaped(excess.process)
    return "\(words): \(run.end); BUDGET EXCEEDED: \(amount) by \(process) at \(TerminalText.escaped(excess.pathBytes))"
  }

  private static func completeness(_ report: SummaryReport) -> String {
    "\(TerminalText.escaped(report.log)), \(CompletenessText.parts(report.completeness).joined(separator: ", "))"
  }

  // MARK: - Layout

  /// A title and text, wrapped at spaces with the lines below indented.
  private static func wrap(_ title: String, _ text: String, width: Int) -> [String] {
    let indent = String(repeating: " ", count: 11)
    var lines: [String] = []
    var line = title + String(repeating: " ", count: max(1, indent.count - title.count))
    var isFirst = true
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if !isFirst, line.count + 1 + word.count > width {
        lines.append(line)
        line = indent + word
      } else {
        line += (isFirst ? "" : " ") + word
      }
      isFirst = false
    }
    return lines + [line]
  }
}
