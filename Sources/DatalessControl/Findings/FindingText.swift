/// Findings in words, escaped for a terminal.
public enum FindingText {
  /// Paths that are named of one program.
  private static let pathsShown = 3

  /// A title and a sentence for each finding of which there is something to say; none for main threads, of which the
  /// summary tells itself.
  static func facts(_ findings: [Finding]) -> [(String, String)] {
    findings.compactMap { finding in
      guard finding.kind != .mainThread, finding.outcome != .none else { return nil }
      // A log of a version that did not look for it says nothing about it.
      guard finding.kind != .together || finding.count > 0 || finding.unknownCount > 0 else { return nil }
      return (title(finding.kind), sentence(finding))
    }
  }

  public static func title(_ kind: Finding.Kind) -> String {
    switch kind {
    case .serial: "serial"
    case .mainThread: "main thread"
    case .notNeeded: "not needed"
    case .prefetch: "prefetch"
    case .together: "together"
    }
  }

  /// `12 files one after the other, 1.2 s (at once 151 ms): python3 fm.py[31] at photos/p1.jpg, ...`.
  static func sentence(_ finding: Finding) -> String {
    var parts: [String] = []
    if finding.count > 0 {
      var text = amount(finding)
      if let first = finding.places.first {
        text += ": \(who(first))"
        let paths = self.paths(first)
        if !paths.isEmpty { text += " at \(paths)" }
        if let place = place(first) { text += ", \(place)" }
      }
      if finding.placeCount > 1 {
        text += "; \(HumanText.count(finding.placeCount - 1, "more program"))"
      }
      parts.append(text)
    }
    if !finding.reasons.isEmpty {
      let isFirst = finding.count == 0
      parts.append(
        (isFirst ? "not known: " : "") + finding.reasons.map { TerminalText.harmless($0) }.joined(separator: "; "))
    }
    if finding.count > 0 { parts.append(finding.rule) }
    return parts.joined(separator: ". ")
  }

  /// What was found, in numbers.
  private static func amount(_ finding: Finding) -> String {
    let (count, blocked) = (finding.count, finding.blockedNanoseconds)
    let time = HumanText.duration(nanoseconds: blocked)
    switch finding.kind {
    case .serial:
      let atOnce =
        finding.sparedNanoseconds.map { " (at once \(HumanText.duration(nanoseconds: max(0, blocked.minus($0)))))" }
        ?? ""
      return "\(HumanText.count(count, "file")) one after the other, \(time)\(atOnce)"
    case .mainThread: return "\(HumanText.count(count, "wait")) of main threads, \(time)"
    case .notNeeded: return "\(HumanText.count(count, "lookup")) that nothing followed, \(time)"
    case .prefetch:
      return
        "\(HumanText.count(count, "file")) waited for, \(time), that a listing had shown early enough to spare the wait"
    case .together:
      return "\(HumanText.count(count, "file")) written to without a lock while another process had it open"
    }
  }

  /// `python3 fm.py[31]`, with what is particular to the finding.
  public static func who(_ place: FindingPlace) -> String {
    var text = name(place.process)
    if place.processCount > 1 { text += " +\(HumanText.count(place.processCount - 1))" }
    if let lead = place.leadNanoseconds {
      text += " (up to \(HumanText.duration(nanoseconds: lead)) before, listed by \(name(place.listedBy)))"
    }
    if let other = place.other { text += " (beside \(name(other)))" }
    return text
  }

  public static func name(_ process: Violation.Process?) -> String {
    process.map { TerminalText.escaped($0.name) + ($0.pid.map { "[\($0)]" } ?? "") } ?? "unknown"
  }

  public static func paths(_ place: FindingPlace) -> String {
    let shown = place.paths.prefix(pathsShown).map { $0.bytes.isEmpty ? "." : TerminalText.escaped($0.bytes) }
    return shown.joined(separator: ", ") + (place.count > Int64(shown.count) && !shown.isEmpty ? ", ..." : "")
  }

  /// Where the program stood: its innermost own function, `load (fm.py:9)`; nil without a stack.
  public static func place(_ place: FindingPlace) -> String? {
    guard let stack = place.stack, let found = SummaryStacks.Place(stack) else { return nil }
    return found.text + (stack.unreadableLanguage.map { " (\(CallerStack.unreadable($0)))" } ?? "")
  }
}
