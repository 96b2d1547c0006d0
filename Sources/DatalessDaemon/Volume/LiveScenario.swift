import DatalessControl
import DatalessCore
import DatalessScenario

/// The scenario of a mounted volume: checks each change, hands it to the engine, and records it.
///
/// An actor, so that two changes are made one after the other, and each of them of what the other left.
actor LiveScenario {
  private(set) var document: ScenarioDocument
  /// What the volume was mounted with.
  private let loaded: ScenarioDocument
  /// The volume's.
  private let subtype: String
  /// What a path in a rule must not begin with.
  private let roots: [(name: String, path: [UInt8])]
  private let engine: Engine
  private let log: EventLog
  private let stacks: StackLane
  private let watchdog: Watchdog

  init(
    _ document: ScenarioDocument, _ configuration: VolumeConfiguration, engine: Engine, log: EventLog,
    stacks: StackLane, watchdog: Watchdog
  ) {
    self.document = document
    loaded = document
    subtype = configuration.subtype
    var roots = [(name: "the mountpoint", path: configuration.mountpoint)]
    if case .directory(let path) = configuration.source { roots.append((name: "SOURCE", path: path)) }
    self.roots = roots
    self.engine = engine
    self.log = log
    self.stacks = stacks
    self.watchdog = watchdog
  }

  /// - Throws: `ScenarioError`; then nothing has changed.
  func change(_ edit: ScenarioEdit, by origin: ChangeOrigin) async throws(ScenarioError) -> ScenarioChange {
    let old = document
    var new = try Self.apply(edit, to: old)
    new.keepCounts(of: old)
    var name = "present.subtype"
    if case .replace(_, let given) = edit { name = given }
    try new.checkSubtype(mounted: subtype, name: name)
    try new.checkPaths(roots: roots)
    let oldNames = Set(old.simulation.rules.rules.map(\.name))
    // Recorded first: what the change lets go follows it in the log.
    record(edit, from: old, to: new, by: origin)
    var restarts = false
    if case .replace = edit { restarts = true }
    await putInForce(new, restarts: restarts)
    var change = ScenarioChange(
      rules: Int64(new.simulation.rules.rules.count), warnings: new.warnings.map(WireProblem.init))
    if case .addRule = edit { change.rule = new.simulation.rules.rules.map(\.name).first { !oldNames.contains($0) } }
    return change
  }

  /// Puts the scenario in force with which the volume was mounted, its windows and the counts of its rules from the
  /// start.
  func startAgain(by origin: ChangeOrigin) async {
    // Parsed once and checked at the mount. Its counters are those of rules in force.
    var new = loaded
    new.renewCounts()
    if document.json(pretty: false) != new.json(pretty: false) {
      record(.replace([], name: "scenario"), from: document, to: new, by: origin)
    }
    await putInForce(new, restarts: true)
  }

  private func putInForce(_ new: ScenarioDocument, restarts: Bool) async {
    let old = document
    document = new
    engine.apply(new.simulation, restartsClock: restarts)
    stacks.setPolicy(new.simulation.stacks, byRules: new.simulation.rules.wantsStacks)
    watchdog.setPolicy(new.simulation.watchdog)
    let isShownAnew = new.simulation.presentation.changesAttributes(from: old.simulation.presentation)
    // What the kernel was told to keep for ever would never be asked for, and so never be delayed.
    let delayed = new.simulation.delayedAccess.subtracting(old.simulation.delayedAccess)
    let isAskedAnew = delayed.contains(AccessOperation.lookup) || delayed.contains(AccessOperation.getattr)
    if isShownAnew || isAskedAnew { await refreshAttributes(ofEveryItem: isAskedAnew) }
  }

  /// What the kernel has kept of attributes is what they looked like before. Whoever changed it may look as soon as
  /// this is done.
  private func refreshAttributes(ofEveryItem: Bool) async {
    var cursor: NodeCursor?
    repeat {
      cursor = engine.refreshAttributes(from: cursor, ofEveryItem: ofEveryItem)
      await Task.yield()
    } while cursor != nil
  }

  private static func apply(_ edit: ScenarioEdit, to old: ScenarioDocument) throws(ScenarioError) -> ScenarioDocument {
    switch edit {
    case .replace(let text, let name): try ScenarioDocument(parsing: text, name: name)
    case .settings(let settings): try old.setting(settings)
    case .addRule(let text, let first): try old.addingRule(text, name: "rule", first: first)
    case .removeRule(let name): try old.removingRule(named: name)
    }
  }

  // MARK: - Records

  /// LIMIT: a scenario that takes more is recorded by its size alone: the ring of the log keeps thousands of records.
  private static let recordedBytesMax = 64 << 10

  private func record(
    _ edit: ScenarioEdit, from old: ScenarioDocument, to new: ScenarioDocument, by origin: ChangeOrigin
  ) {
    let what: ConfigurationChange.What
    let before: LogValue
    let after: LogValue
    switch edit {
    case .replace:
      what = .scenario
      (before, after) = (Self.whole(old), Self.whole(new))
    case .settings(let settings):
      what = .settings
      let keys = settings.map(\.key)
      (before, after) = (Self.settings(keys, of: old), Self.settings(keys, of: new))
    case .addRule, .removeRule:
      what = .rules
      (before, after) = (Self.rules(of: old, notIn: new), Self.rules(of: new, notIn: old))
    }
    log.recordConfigurationChanged(ConfigurationChange(what: what, before: before, after: after, by: origin))
  }

  private static func whole(_ document: ScenarioDocument) -> LogValue { value(document.root, document) }

  /// null for a setting that is not there.
  private static func settings(_ keys: [String], of document: ScenarioDocument) -> LogValue {
    .object(
      keys.map { key in LogField(key: key, value: document.root.value(at: key).map { value($0, document) } ?? .null) })
  }

  private static func rules(of document: ScenarioDocument, notIn other: ScenarioDocument) -> LogValue {
    let names = Set(other.simulation.rules.rules.map(\.name))
    guard case .sequence(let nodes) = document.root["rules"]?.value else { return .null }
    let index = document.simulation.rules.rules.firstIndex { !names.contains($0.name) }
    return index.map { value(nodes[$0], document) } ?? .null
  }

  private static func value(_ node: ScenarioNode, _ document: ScenarioDocument) -> LogValue {
    let json = node.json(pretty: false)
    guard json.count > recordedBytesMax else { return .json(json) }
    return [
      "rules": .integer(Int64(document.simulation.rules.rules.count)), "omitted_bytes": .integer(Int64(json.count)),
    ]
  }
}
