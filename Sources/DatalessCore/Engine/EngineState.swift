/// Everything the engine's lock guards.
struct EngineState: ~Copyable {
  let events: any EventSink
  var namespace: Namespace
  var attempts = Attempts()
  var contents = ItemContents()
  var reclamation = Reclamation()
  var calls = PendingCalls()
  /// Calls on what is local that are delayed.
  var accesses = AccessDelays()
  var pageDrops = PageDrops()
  var handles = OpenHandles()
  var failures = RecentFailures()
  var ledger: MaterializationLedger
  var simulation: Simulation
  /// When the scenario was loaded: windows count from here.
  var loadedAt: MonotonicTime
  var gates = Gates()
  var link: BandwidthLink?
  var slots = Slots()
  /// Files that rules want evicted.
  var planned = PlannedEvictions()
  var refreshes = RefreshQueue()
  /// Set at shutdown: every new trigger and every waiter gets this.
  var ending: FSError?

  init(configuration: EngineConfiguration, root: ItemAttributes, events: any EventSink, now: MonotonicTime) {
    self.events = events
    namespace = Namespace(root: root, nameKey: configuration.nameKey, timeOfDay: configuration.timeOfDay)
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
    contents.update(node, in: &namespace, change)
  }
}
