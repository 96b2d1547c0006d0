import DatalessCore

/// Whether something is so, as far as a log tells.
enum Certainty: Sendable {
  case yes
  case no
  case unknown

  init(_ isSo: Bool) { self = isSo ? .yes : .no }

  /// Whether both are so.
  func and(_ other: @autoclosure () -> Certainty) -> Certainty {
    if self == .no { return .no }
    let other = other()
    if other == .no { return .no }
    return self == .yes && other == .yes ? .yes : .unknown
  }
}

/// What an attempt, a refusal or a delayed call is about.
struct LoggedItem: Sendable {
  /// nil where the log does not tell.
  var path: [UInt8]?
  /// Of a file with several.
  var names: [[UInt8]] = []
  var size: Int64?
  var kind: MaterializationKind?

  init(_ json: JSONObject) {
    path = json.path
    names = json.names
    size = json.integer("size")
    kind = json.string("kind").flatMap { MaterializationKind(rawValue: $0) }
  }

  /// One of which the log does not tell.
  init() {}
}

/// Who asked for it, and by what.
struct LoggedCaller: Sendable {
  var process: UInt32?
  var threadID: Int32?
  /// nil for one that has none of its own.
  var threadName: [UInt8]?
  var isMainThread: Bool?
  /// nil for an operation that this version does not know, and for a delayed call.
  var trigger: Trigger?

  init(_ json: JSONObject) {
    process = json.unsigned("process").flatMap { UInt32(exactly: $0) }
    threadID = json.integer("tid").flatMap { Int32(exactly: $0) }
    // LIMIT: the kernel keeps 15 bytes.
    threadName = json.name("thread_name", "thread_name_b64").map { Array($0.prefix(64)) }
    isMainThread = json.bool("main_thread")
    trigger = json.string("trigger").flatMap { Trigger(rawValue: $0) }
  }

  /// Tells callers apart.
  var key: UInt64 { UInt64(process ?? .max) << 32 | UInt64(UInt32(bitPattern: threadID ?? -1)) }

  init(process: UInt32?, threadID: Int32?, isMainThread: Bool?, trigger: Trigger?) {
    self.process = process
    self.threadID = threadID
    self.isMainThread = isMainThread
    self.trigger = trigger
  }
}

/// The conditions of an expectation, held against what a log tells.
struct ExpectationConditions: Sendable {
  private let match: RuleMatch
  /// What is known of callers, by their ids.
  private var callers: [UInt32: Certainty] = [:]
  /// Whether a caller is known to be one that is meant.
  private(set) var hasMetCaller = false

  init(_ match: RuleMatch) { self.match = match }

  var asksForCaller: Bool { match.process != nil || match.ancestor != nil }

  /// The process with an id was seen (again), maybe as another program.
  mutating func forget(_ id: UInt32) { callers[id] = nil }

  /// - Parameter root: The pid of `dataless run`; nil without it.
  mutating func hold(
    _ item: LoggedItem, _ caller: LoggedCaller, processes: SeenProcesses, root: Int32?
  ) -> Certainty {
    // What a command of ours asked for was asked by no program.
    if caller.trigger == .command, !match.triggers.contains(.command) { return .no }
    if !match.triggers.isEmpty {
      guard let trigger = caller.trigger, match.triggers.contains(trigger) else { return .no }
    }
    let isCaller = isMeant(caller, processes, root: root)
    if isCaller == .yes { hasMetCaller = true }
    return isCaller.and(isMeant(item))
  }

  /// A caller has done something, which need not be what is expected of it.
  mutating func meet(_ id: UInt32, processes: SeenProcesses, root: Int32?) {
    guard asksForCaller, !hasMetCaller else { return }
    let caller = LoggedCaller(process: id, threadID: nil, isMainThread: nil, trigger: nil)
    hasMetCaller = isMeant(caller, processes, root: root) == .yes
  }

  private func isMeant(_ item: LoggedItem) -> Certainty {
    var result = Certainty.yes
    if let kind = match.kind { result = item.kind.map { Certainty($0 == kind) } ?? .unknown }
    if let sizes = match.size {
      if item.kind == .directory { return .no }
      result = result.and(item.size.map { Certainty(sizes.contains($0)) } ?? .unknown)
    }
    if !match.paths.isEmpty { result = result.and(Self.matches(match.paths, item)) }
    return result
  }

  /// Whether one of several globs matches one of an item's names.
  static func matches(_ paths: [PathPattern], _ item: LoggedItem) -> Certainty {
    guard let path = item.path else { return .unknown }
    return Certainty(paths.contains { glob in glob.matches(path) || item.names.contains(where: glob.matches) })
  }

  private mutating func isMeant(
    _ caller: LoggedCaller, _ processes: SeenProcesses, root: Int32?
  ) -> Certainty {
    guard asksForCaller else { return .yes }
    guard let id = caller.process, let process = processes[id] else { return .unknown }
    if let known = callers[id] { return known }
    var result = Certainty.yes
    if let wanted = match.process { result = Self.isMeant(wanted, process.facts) }
    if let wanted = match.ancestor {
      result = result.and(Self.hasAncestor(wanted, process, processes: processes, root: root))
    }
    callers[id] = result
    return result
  }

  private static func hasAncestor(
    _ wanted: ProcessMatch, _ process: SeenProcesses.Process, processes: SeenProcesses, root: Int32?
  ) -> Certainty {
    let (known, areAll) = processes.ancestors(of: process)
    let found = known.map { isMeant(wanted, $0.facts) }
    if found.contains(.yes) { return .yes }
    // Above `dataless run` is who started it, of which hardly ever all may be looked at: what runs as root, say.
    if let own = root.flatMap({ processes.ancestors(of: process, upTo: $0) }) {
      let isKnown = own.allSatisfy { $0.map { isMeant(wanted, $0.facts) == .no } ?? false }
      return isKnown ? .no : .unknown
    }
    return areAll && !found.contains(.unknown) ? .no : .unknown
  }

  private static func isMeant(_ wanted: ProcessMatch, _ facts: ProcessFacts) -> Certainty {
    func part(_ patterns: [PathPattern], _ value: [UInt8]?) -> Certainty {
      if patterns.isEmpty { return .yes }
      return value.map { value in Certainty(patterns.contains { $0.matches(value) }) } ?? .unknown
    }
    let user = wanted.uids.isEmpty ? Certainty.yes : facts.uid.map { Certainty(wanted.uids.contains($0)) } ?? .unknown
    // Earlier daemons wrote the mark of a removed executable into the log.
    let plain = facts.executable.flatMap { DeletedMark.removed(from: $0) }
    let isPlainMeant = plain.map { plain in wanted.executables.contains { $0.matches(plain) } } == true
    let executable = isPlainMeant ? Certainty.yes : part(wanted.executables, facts.executable)
    return executable.and(part(wanted.commandNames, facts.commandName))
      .and(part(wanted.cgroups, facts.cgroup)).and(user)
  }
}
