import DatalessCore

/// Expectations as sentences; globs and names are escaped for a terminal.
enum ExpectationWords {
  /// - Parameter measured: What the bound has to be told from. Default: nothing.
  static func words(_ expectation: Expectation, measured: Int64? = nil) -> String {
    let bound = expectation.bound
    func amount(_ unit: ExpectationResult.Unit) -> String { unit.amount(bound, besides: measured) }
    let what =
      switch expectation.measure {
      case .maxFiles: "at most \(HumanText.count(bound, "file")) materialized"
      case .maxBytes: "at most \(amount(.bytes)) materialized"
      case .maxDirectories: "at most \(HumanText.count(bound, "directory", plural: "directories")) listed"
      case .maxWait: "nobody blocked for longer than \(amount(.nanoseconds))"
      case .maxMainThread: "no main thread blocked for longer than \(amount(.nanoseconds))"
      case .maxNeedless: "at most \(HumanText.count(bound, "file")) fetched and hardly read"
      case .maxRefusals: "at most \(HumanText.count(bound, "refusal"))"
      case .maxParallel: "at most \(bound / 100) in flight at once for one process"
      case .minParallel: "at least \(Self.amount(bound, .parallelHundredths)) in flight on average for each process"
      case .maxRepeated: "no file materialized again more often than \(times(bound))"
      case .maxSerialWaits: "at most \(HumanText.count(bound, "file")) waited for one after the other by one process"
      case .forbidUnneededBlocking: "no lookup that blocked and that nothing followed"
      case .maxTogether:
        "at most \(HumanText.count(bound, "file")) written to while others had them open, without a lock or an intent"
      case .forbid: "nothing of \(globs(expectation.paths)) materialized or attempted"
      case .allow: "nothing but \(globs(expectation.paths)) materialized or attempted"
      case .baseline: "nothing materialized that the baseline lacks"
      }
    return what + conditions(expectation.match)
  }

  /// An amount in its unit.
  static func amount(_ value: Int64, _ unit: ExpectationResult.Unit) -> String {
    switch unit {
    case .files: HumanText.count(value, "file")
    case .directories: HumanText.count(value, "directory", plural: "directories")
    case .bytes: HumanText.size(value)
    case .nanoseconds: HumanText.duration(nanoseconds: value)
    case .needless: "\(HumanText.count(value)) needless"
    case .refusals: HumanText.count(value, "refusal")
    case .repetitions: times(value)
    case .lookups: HumanText.count(value, "lookup")
    case .parallelHundredths:
      value % 100 == 0 ? "\(value / 100)" : HumanText.decimal(Double(value) / 100, 2)
    case .paths: HumanText.count(value, "path")
    }
  }

  private static func times(_ count: Int64) -> String { count == 1 ? "once" : "\(HumanText.count(count)) times" }

  private static func conditions(_ match: RuleMatch) -> String {
    var parts: [String] = []
    if !match.paths.isEmpty { parts.append("of \(globs(match.paths))") }
    if let size = match.size {
      parts.append(
        size.upperBound == .max
          ? "of at least \(HumanText.size(size.lowerBound))"
          : "of \(HumanText.size(size.lowerBound)) to \(HumanText.size(size.upperBound))")
    }
    if let kind = match.kind { parts.append("kind \(kind.rawValue)") }
    if !match.triggers.isEmpty {
      parts.append(
        "by " + Trigger.allCases.filter(match.triggers.contains).map(\.rawValue).joined(separator: " or "))
    }
    if let process = match.process { parts.append("by process \(words(process))") }
    if let ancestor = match.ancestor { parts.append("below process \(words(ancestor))") }
    return parts.isEmpty ? "" : ", " + parts.joined(separator: ", ")
  }

  private static func words(_ process: ProcessMatch) -> String {
    let globs = (process.executables + process.commandNames + process.cgroups).map { TerminalText.escaped($0.text) }
    return (globs + process.uids.map { "uid \($0)" }).prefix(4).joined(separator: " or ")
  }

  /// The first of them: a list may have thousands.
  private static func globs(_ paths: [PathPattern]) -> String {
    let shown = paths.prefix(4).map { TerminalText.escaped($0.text) }.joined(separator: ", ")
    return paths.count > 4 ? "\(shown) and \(HumanText.count(Int64(paths.count - 4))) more" : shown
  }

  /// Whether the line of code says what there is to be done.
  static func isAboutCode(_ measure: Expectation.Measure) -> Bool {
    let others: [Expectation.Measure] = [.maxRefusals, .minParallel, .maxRepeated, .maxTogether]
    return !others.contains(measure)
  }

  /// Why the line of code is not known, and what helps, in sentences.
  ///
  /// - Parameters:
  ///   - stack: What the log says of the wait's stack; nil for nothing.
  ///   - option: Which stacks the volume was mounted to take, if the log says it.
  static func noStack(_ stack: ToldStack?, option: String?) -> String {
    switch (stack, option) {
    case (.missing("thread_ran"), _):
      return "No stack: \(StackOutcome.words("thread_ran")). A longer --latency leaves the time for it."
    case (.missing(let outcome), _): return "No stack: \(StackOutcome.words(outcome))."
    case (nil, nil), (nil, "off"): return "Run again with --stacks first to see the line of code."
    case (nil, "all"), (.taken, _): return "The log has no stack of it."
    case (nil, _): return "The log has no stack of it: --stacks all takes one of every wait."
    }
  }

  /// What to look at, in sentences.
  static func hint(_ measure: Expectation.Measure) -> String {
    switch measure {
    case .maxFiles, .maxBytes: "Does the program need this content? Metadata and extended attributes need none."
    case .maxDirectories: "Does the program have to look into this directory?"
    case .maxWait: "Is the wait long because of the store, or of a queue? 'dataless log --blocked' has its parts."
    case .maxMainThread: "Move what reads into another thread, or ask whether the file is dataless first."
    case .maxNeedless: "The content was fetched and hardly read: 'dataless summary --files' says how much was."
    case .maxRefusals: "The policy said no and the program got an errno: does it go on sensibly?"
    case .maxParallel: "Bound the number of files that the program reads at the same time."
    case .minParallel: "The program waits for one file after the other: have several read at the same time."
    case .maxSerialWaits: Finding.Kind.serial.rule
    case .forbidUnneededBlocking: Finding.Kind.notNeeded.rule
    case .maxTogether: Finding.Kind.together.rule + " 'dataless log --type handle.together' says when it was."
    case .maxRepeated: "The same content is fetched again: read it once, or keep what was made of it."
    case .forbid, .allow: "Leave the path out, or allow it if it is meant."
    case .baseline: "If it is meant, write the baseline anew with --update-baseline, and review the change."
    }
  }
}
