import DatalessControl
import DatalessCore

/// What a log says about the expectations of `dataless run`: budgets, rules, and how the command ended.
struct LogVerdict: Sendable {
  private(set) var checks: [ReportVerdict.Check] = []
  private struct Excess: Sendable {
    var attempt: UInt64?
    var process: UInt32?
    /// As it is.
    var path: [UInt8]
    var stack: StackTable.Stack?
  }

  private var excesses: [String: Excess] = [:]
  private var isRunning = false

  /// - Parameter name: Of a process, with its pid, escaped.
  mutating func add(_ record: LogRecord, name: (UInt32) -> (text: String, parents: [String])) {
    switch record.type {
    case .budgetExceeded:
      let budget = record.json.string("budget") ?? ""
      guard excesses[budget] == nil else { return }
      excesses[budget] = Excess(attempt: record.attempt, process: record.process, path: record.json.path ?? [])
      // The end of the run may be missing.
      if ["files", "bytes"].contains(budget), let limit = record.json.integer("limit") {
        let used = record.json.integer("used") ?? 0
        checks.append(check(of: budget, limit: limit, used: used, outcome: .failed, name: name))
      }
    case .runStarted: isRunning = true
    case .runFinished: finished(record.json, name: name)
    default: break
    }
  }

  /// What is known in the end.
  ///
  /// - Parameters:
  ///   - isRunKnown: Whether who asks knows what was expected of the run, or it still goes on.
  ///   - isAnotherMeant: Whether a later session may be meant, which cannot be read.
  func final(isRunKnown: Bool, isAnotherMeant: Bool) -> [ReportVerdict.Check] {
    var checks = checks
    if isAnotherMeant {
      for index in checks.indices where checks[index].outcome == .passed {
        checks[index].outcome = .unknown
        checks[index].message += "; a later session of the log, of another version, cannot be read"
      }
    }
    if isRunning, !isRunKnown {
      checks.append(
        ReportVerdict.Check(
          name: "budgets", outcome: .unknown,
          message: "the log has no end of the run: nobody knows which budgets there were, and whether they held"))
    }
    return checks
  }

  /// Whether it is of interest where those stood who waited for an attempt.
  func asksForStack(of attempt: UInt64?) -> Bool {
    excesses.values.contains { $0.attempt != nil && $0.attempt == attempt && $0.stack == nil }
  }

  /// Takes note of where the caller stood that went beyond a budget.
  mutating func add(stack: StackTable.Stack, of wait: ReportWait) {
    for (budget, excess) in excesses
    where excess.attempt == wait.number && excess.process == wait.process && excess.stack == nil {
      excesses[budget]?.stack = stack
      for index in checks.indices where checks[index].name.hasPrefix("--max-\(budget) ") {
        for number in checks[index].violations.indices { checks[index].violations[number].setStack(stack) }
      }
    }
  }

  private mutating func finished(_ json: JSONObject, name: (UInt32) -> (text: String, parents: [String])) {
    (checks, isRunning) = ([], false)
    guard let budgets = json.object("budgets") else { return }
    let gap = RunEnding(json).gap
    for (budget, limit, used) in [
      ("files", budgets.integer("max_files"), budgets.integer("files") ?? 0),
      ("bytes", budgets.integer("max_bytes"), budgets.integer("bytes") ?? 0),
    ] {
      guard let limit else { continue }
      let excess = budgets.objects("exceeded").contains { $0.string("budget") == budget }
      let outcome: ReportVerdict.Outcome = excess || used > limit ? .failed : gap != nil ? .unknown : .passed
      var check = check(of: budget, limit: limit, used: used, outcome: outcome, name: name)
      if outcome == .unknown, let gap { check.message += ", but \(gap)" }
      checks.append(check)
    }
  }

  private func check(
    of budget: String, limit: Int64, used: Int64, outcome: ReportVerdict.Outcome,
    name: (UInt32) -> (text: String, parents: [String])
  ) -> ReportVerdict.Check {
    var check = ReportVerdict.Check(
      name: "--max-\(budget) \(limit)", outcome: outcome,
      message: "\(HumanText.count(used)) \(budget) materialized, \(HumanText.count(limit)) may be")
    if let first = excesses[budget] {
      let who = first.process.map(name)
      var violation = ReportVerdict.Violation(
        "--max-\(budget) \(limit) was exceeded first at \(PathText.of(first.path))"
          + (who.map { " by \($0.text)" } ?? ""),
        process: who?.text, parents: who?.parents ?? [])
      violation.setPath(first.path)
      if let stack = first.stack { violation.setStack(stack) }
      check.violations = [violation]
    }
    return check
  }
}

extension ReportVerdict.Violation {
  // LIMIT: places of one violation that are looked for below a workspace.
  private static let placesMax = 64

  /// Names the functions, and the place in the program's source.
  mutating func setStack(_ found: StackTable.Stack) {
    stack = found.frames.map(\.name)
    incomplete = found.frames.isEmpty ? nil : found.gap
    let own = found.own.map { found.frames[$0] }
    (file, line) = own?.line == nil ? (nil, nil) : (own?.file, own?.line)
    hasFunctionLines = line == nil ? nil : own?.isFunctionLine
    places = [FrameOrigin.program, .package, .runtime].flatMap { origin in
      zip(found.origins, found.frames).filter { $0.0 == origin }.compactMap { ReportVerdict.SourcePlace($0.1) }
    }
    places.removeLast(max(0, places.count - Self.placesMax))
  }
}

extension ReportVerdict.SourcePlace {
  /// nil for a frame without a line.
  init?(_ frame: ReportFrame) {
    guard let file = frame.file, let line = frame.line else { return nil }
    self.init(path: frame.rawFile ?? Array(file.utf8), line: frame.isFunctionLine == true ? nil : line)
  }
}
