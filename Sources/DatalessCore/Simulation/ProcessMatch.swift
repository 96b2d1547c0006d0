/// What is known of a process when a rule looks at it.
public struct ProcessFacts: Sendable, Hashable {
  /// The path of the executable; nil when it could not be read.
  public var executable: [UInt8]?
  /// At most 15 bytes, of the process' first thread.
  public var commandName: [UInt8]?
  public var cgroup: [UInt8]?
  public var uid: UInt32?

  public init(executable: [UInt8]?, commandName: [UInt8]?, cgroup: [UInt8]?, uid: UInt32?) {
    self.executable = executable
    self.commandName = commandName
    self.cgroup = cgroup
    self.uid = uid
  }
}

/// Tells the engine what is known of a caller's process. Any lane, at once.
public protocol ProcessDirectory: Sendable {
  /// The process itself first, then its ancestors, nearest first. Empty for an unknown process.
  func lineage(of process: ProcessID) -> [ProcessFacts]
  /// All processes that run now, as far as this one may look at them. It takes milliseconds: not on a request thread.
  func running() -> [ProcessFacts]
}

/// Which processes a rule means: every given part must match, and of a part's patterns one.
public struct ProcessMatch: Sendable, Equatable {
  /// Globs for the executable: the whole path, or its last component for a pattern without a slash.
  public var executables: [PathPattern] = []
  public var commandNames: [PathPattern] = []
  /// Globs for the path in the cgroup hierarchy.
  public var cgroups: [PathPattern] = []
  public var uids: [UInt32] = []

  public init() {}

  public var isEmpty: Bool { executables.isEmpty && commandNames.isEmpty && cgroups.isEmpty && uids.isEmpty }

  /// What is not known matches nothing.
  public func matches(_ facts: ProcessFacts) -> Bool {
    Self.accepts(executables, facts.executable) && Self.accepts(commandNames, facts.commandName)
      && Self.accepts(cgroups, facts.cgroup) && (uids.isEmpty || facts.uid.map(uids.contains) == true)
  }

  private static func accepts(_ patterns: [PathPattern], _ value: [UInt8]?) -> Bool {
    if patterns.isEmpty { return true }
    guard let value else { return false }
    return patterns.contains { $0.matches(value) }
  }
}
