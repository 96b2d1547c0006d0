/// Everything the engine's lock guards.
struct EngineState: ~Copyable {
  let events: any EventSink
  let journal: Journal

  // What there is, and what of it is local.
  var namespace: Namespace
  var contents = ItemContents()
  var openFiles = OpenFiles()

  // What brings it in.
  var attempts = Attempts()
  var gates = Gates()
  var slots = Slots()
  var link: BandwidthLink?
  var ledger: MaterializationLedger
  var failures = RecentFailures()

  // What takes it away, and what looks at the store again.
  var planned = PlannedEvictions()
  var pageDrops = PageDrops()
  var refreshes = RefreshQueue()
  var reclamation = Reclamation()

  // Who waits for something else than an attempt.
  var calls = PendingCalls()
  var accesses = AccessDelays()

  var simulation: Simulation
  /// When the scenario was loaded: windows count from here.
  var loadedAt: MonotonicTime
  /// Set at shutdown: every new trigger and every waiter gets this.
  var ending: FSError?

  init(configuration: EngineConfiguration, root: ItemAttributes, events: any EventSink, now: MonotonicTime) {
    self.events = events
    journal = Journal(configuration.journal)
    namespace = Namespace(
      root: root, nameKey: configuration.nameKey, journal: journal, timeOfDay: configuration.timeOfDay)
    simulation = configuration.simulation
    namespace.present(configuration.simulation.presentation)
    loadedAt = now
    link = configuration.simulation.bandwidth.map(BandwidthLink.init(bytesPerSecond:))
    ledger = MaterializationLedger(budget: configuration.budget)
    _ = gates.setNames(simulation.rules.gates)
  }
}

extension EngineState {
  /// What of an item is local.
  func content(of node: NodeIndex) -> ItemContent { contents.content(of: node, in: namespace) }

  /// Changes what of an item is local.
  mutating func updateContent<Result>(of node: NodeIndex, _ change: (inout ItemContent) -> Result) -> Result {
    guard journal.keepsChanges else { return contents.update(node, in: &namespace, change) }
    let before = namespace[node].residentContent
    let result = contents.update(node, in: &namespace, change)
    let now = namespace[node].residentContent
    if before != now { tell(node, now) }
    return result
  }

  private func tell(_ node: NodeIndex, _ content: ContentID?) {
    let item = namespace.changedItem(node)
    journal.append(content.map { .content(of: item, $0) } ?? .contentDropped(of: item))
  }
}
