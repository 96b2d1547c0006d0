public import DatalessCore

/// Which records of a log are wanted. All conditions that are given must hold.
public struct LogFilter: Sendable {
  /// A type, or what comes before a dot in one, such as `materialization`. Empty: all.
  public var types: [String] = []
  public var path: PathPattern?
  /// A command name, the last component of an executable, the script of an interpreter, or both as they are shown, of
  /// a process of the record or of any of its ancestors: what `make` started is found by `make`, what `python3 fm.py`
  /// did by `fm.py`.
  public var process: [UInt8]?
  /// The first and the last moment.
  public var since: LogMoment?
  public var until: LogMoment?
  /// How something ended; any of them. Empty: any record, also of no end.
  public var outcomes: [LogOutcome] = []
  /// How long a caller was blocked.
  public var blocked: BlockedLimit?
  /// A rule that decided something about the record's attempt, or access.
  public var rule: [UInt8]?
  /// Only what the first thread of a process called, or waited for.
  public var isOfMainThreads = false

  private var pathAttempts = AttemptSelection()
  private var ruleAttempts = AttemptSelection()

  public init(types: [String] = [], path: PathPattern? = nil, process: [UInt8]? = nil) {
    self.types = types
    self.path = path
    self.process = process
  }

  /// Whether there is any condition.
  public var isEmpty: Bool {
    types.isEmpty && path == nil && process == nil && since == nil && until == nil && outcomes.isEmpty
      && blocked == nil && rule == nil && !isOfMainThreads
  }

  /// Whether a record that tells of a beginning can be wanted, its end aside.
  public var takesBeginnings: Bool { types.isEmpty && outcomes.isEmpty && blocked == nil }

  /// Whether a record is wanted. Every record of the log must be shown to the filter, in order.
  public mutating func accepts(_ record: LogRecord, _ processes: LogProcesses) -> Bool {
    let isOfPath = acceptsPath(record)
    guard acceptsRule(record), isOfPath else { return false }
    guard types.isEmpty || types.contains(where: { record.isOfType($0) }) else { return false }
    guard acceptsTime(record) else { return false }
    if !outcomes.isEmpty {
      guard let outcome = LogOutcome.of(record), outcomes.contains(where: { $0.matches(outcome) }) else { return false }
    }
    return acceptsCaller(record, processes)
  }

  private mutating func acceptsPath(_ record: LogRecord) -> Bool {
    guard let glob = path else { return true }
    // Any name of a file with several; what comes later of the same attempt may have one of them.
    let isMatch = record.json.path.map { glob.matches($0) || record.json.names.contains(where: glob.matches) }
    return pathAttempts.selects(record, isMatch: isMatch ?? false)
  }

  private mutating func acceptsRule(_ record: LogRecord) -> Bool {
    guard let rule else { return true }
    return ruleAttempts.selects(record, isMatch: record.json.isDecided(by: rule))
  }

  private func acceptsTime(_ record: LogRecord) -> Bool {
    guard since != nil || until != nil else { return true }
    guard let moment = LogMoment(record) else { return false }
    return since.map { $0 <= moment } ?? true && until.map { moment <= $0 } ?? true
  }

  /// All that is asked of a caller must be true of one: the record's own, or one of its waiters.
  private func acceptsCaller(_ record: LogRecord, _ processes: LogProcesses) -> Bool {
    guard process != nil || blocked != nil || isOfMainThreads else { return true }
    return isCaller(record.json, processes) || record.json.objects("waiters").contains { isCaller($0, processes) }
  }

  private func isCaller(_ json: JSONObject, _ processes: LogProcesses) -> Bool {
    if isOfMainThreads, json.bool("main_thread") != true { return false }
    if let blocked {
      guard let time = json.integer("blocked_ns"), blocked.matches(Nanoseconds(time)) else { return false }
    }
    guard let process else { return true }
    guard let id = json.unsigned("process").flatMap({ UInt32(exactly: $0) }) else { return false }
    return processes.isNamed(id, process)
  }
}

extension LogFilter {
  /// The types of records that have what a condition asks for.
  private static let blockedTypes: Set<EventType> = [.waitFinished, .accessFinished, .materializationFinished]
  private static let callerTypes: Set<EventType> = blockedTypes.union([
    .materializationStarted, .materializationRefused, .waitStarted, .waitStack, .accessStarted, .budgetExceeded,
    .itemCreated, .itemRenamed, .itemRemoved, .itemChanged, .itemWritten,
  ])
  private static let outcomeTypes: Set<EventType> = blockedTypes.union([
    .materializationRefused, .materializationReleased, .evictionFinished, .evictionRefused, .refreshFinished,
  ])

  /// Which condition none of the wanted types can meet, and which types can; nil when there is none.
  public var contradiction: (condition: String, types: [String])? {
    guard !types.isEmpty else { return nil }
    let wanted = EventType.allCases.filter { type in
      types.contains { $0 == type.rawValue || type.rawValue.hasPrefix($0 + ".") }
    }
    let conditions: [(String, Bool, Set<EventType>)] = [
      ("--blocked", blocked != nil, Self.blockedTypes), ("--main-thread", isOfMainThreads, Self.callerTypes),
      ("--outcome", !outcomes.isEmpty, Self.outcomeTypes),
    ]
    for (condition, isGiven, types) in conditions where isGiven && types.isDisjoint(with: wanted) {
      return (condition, types.map(\.rawValue).sorted())
    }
    return nil
  }
}

extension JSONObject {
  /// Whether a rule of this name decided something about what the record tells of.
  fileprivate func isDecided(by rule: [UInt8]) -> Bool {
    if text("rule") == rule || text("policy") == Array("rule:".utf8) + rule { return true }
    return texts("rules").contains(rule)
  }

  /// The texts in an array; other elements are left out.
  func texts(_ key: StaticString) -> [[UInt8]] { elements(key).compactMap { JSONText.decode(bytes[$0]) } }
}
