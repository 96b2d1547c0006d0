public import DatalessCore

/// Which records of a log are wanted. All conditions that are given must hold.
public struct LogFilter: Sendable {
  /// A type, or what comes before a dot in one, such as `materialization`. Empty: all.
  public var types: [String]
  public var path: PathPattern?
  /// A command name, or the last component of an executable, of a process of the record or of any of its ancestors:
  /// what `make` started is found by `make`.
  public var process: [UInt8]?
  private struct Attempt: Hashable {
    /// Numbers of attempts hold within one.
    var session: String?
    var number: UInt64
  }

  /// Attempts whose path is wanted, because the records of waits name the attempt only.
  private var attempts: Set<Attempt> = []

  public init(types: [String] = [], path: PathPattern? = nil, process: [UInt8]? = nil) {
    self.types = types
    self.path = path
    self.process = process
  }

  /// Whether there is any condition.
  public var isEmpty: Bool { types.isEmpty && path == nil && process == nil }

  /// Whether a record is wanted. Every record of the log must be shown to the filter, in order.
  public mutating func accepts(_ record: LogRecord, _ processes: LogProcesses) -> Bool {
    guard acceptsPath(record) else { return false }
    guard types.isEmpty || types.contains(where: { record.isOfType($0) }) else { return false }
    guard let process else { return true }
    return Self.processes(of: record).contains { processes.isNamed($0, process) }
  }

  private mutating func acceptsPath(_ record: LogRecord) -> Bool {
    guard let glob = path else { return true }
    let attempt = record.attempt.map { Attempt(session: record.session, number: $0) }
    if let path = record.json.path {
      // Any name of a file with several; what comes later of the same attempt may have one of them.
      let isWanted =
        glob.matches(path) || record.json.names.contains(where: glob.matches)
        || attempt.map(attempts.contains) ?? false
      if isWanted, let attempt { attempts.insert(attempt) }
      return isWanted
    }
    return attempt.map(attempts.contains) ?? false
  }

  /// The processes a record names: its own, and its waiters'.
  static func processes(of record: LogRecord) -> [UInt32] {
    let waiters = record.json.objects("waiters").compactMap { $0.unsigned("process").flatMap { UInt32(exactly: $0) } }
    return (record.process.map { [$0] } ?? []) + waiters
  }
}
