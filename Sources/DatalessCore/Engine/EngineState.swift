/// Everything the engine's lock guards.
struct EngineState: ~Copyable {
  let events: any EventSink
  let journal: Journal

  // What there is, and what of it is local.
  var namespace: Namespace
  var contents = ItemContents()
  var openFiles = OpenFiles()
  var openers: Openers
  var writers = Writers()
  var passed = PassthroughWrites()
  var extras = ItemExtras()
  var madeNumbers: MadeNumbers
  /// Of items, names and targets; of extended attributes.
  var costs: ChangeCosts
  var attributeCosts: ChangeCosts
  var heights = DirectoryHeights()
  var policies = ContentPolicies()

  // What brings it in.
  var attempts = Attempts()
  var gates = Gates()
  var slots = Slots()
  var eager = EagerFetches()
  var link: BandwidthLink?
  var ledger: MaterializationLedger
  var failures = RecentFailures()

  // What takes it away, and what looks at the store again.
  var planned = PlannedEvictions()
  var askedEvictions = AskedEvictions()
  var pageDrops = PageDrops()
  var room = Room()
  var purges = PurgeOrder()
  var moves = AreaMoves()
  var trash = Trash()
  var refreshes = RefreshQueue()
  var reclamation = Reclamation()
  // What brings back what an earlier run has kept.
  var restorations = Restorations()

  // Who waits for something else than an attempt.
  var calls = PendingCalls()
  var accesses = AccessDelays()

  /// Whether, and how, the volume is writable.
  let writing: EngineConfiguration.Writing
  let timeOfDay: @Sendable () -> Timestamp
  /// What local content takes, in bytes: all that the content store has.
  let localBytes: @Sendable () -> Int64
  var simulation: Simulation
  /// When the scenario was loaded: windows count from here.
  var loadedAt: MonotonicTime
  /// Set at shutdown: every new trigger and every waiter gets this.
  var ending: FSError?

  init(
    configuration: EngineConfiguration, root: ItemAttributes, events: any EventSink, now: MonotonicTime,
    asksForHolders: Bool = false, localBytes: @escaping @Sendable () -> Int64 = { 0 }
  ) {
    self.localBytes = localBytes
    self.events = events
    journal = Journal(configuration.journal)
    namespace = Namespace(
      root: root, nameKey: configuration.nameKey, journal: journal, timeOfDay: configuration.timeOfDay)
    namespace.setAwaitsSaved(configuration.savedState != nil, of: .root)
    writing = configuration.writing
    openers = Openers(isKept: asksForHolders && configuration.writing != .readOnly)
    // What was changed of an item goes with its name, also to another version of it.
    if configuration.writing != .readOnly { namespace.news.tellVersions() }
    timeOfDay = configuration.timeOfDay
    madeNumbers = MadeNumbers(first: configuration.firstMadeNumber)
    let limits = configuration.changeLimits
    costs = ChangeCosts(volumeMax: limits.volume, userMax: limits.user)
    attributeCosts = ChangeCosts(volumeMax: limits.attributes, userMax: limits.userAttributes)
    simulation = configuration.simulation
    namespace.present(configuration.simulation.presentation)
    loadedAt = now
    link = configuration.simulation.bandwidth.map(BandwidthLink.init(bytesPerSecond:))
    ledger = MaterializationLedger(budget: configuration.budget)
    _ = gates.setNames(simulation.rules.gates)
    room.setLimit(simulation.quota)
    restore(configuration.keptUses)
  }
}

extension EngineState {
  /// What of an item is local.
  func content(of node: NodeIndex) -> ItemContent { contents.content(of: node, in: namespace) }

  /// Changes what of an item is local.
  mutating func updateContent<Result>(of node: NodeIndex, _ change: (inout ItemContent) -> Result) -> Result {
    guard journal.keepsChanges else { return contents.update(node, in: &namespace, change) }
    let (before, wasDirty) = (namespace[node].residentContent, namespace[node].isDirty)
    let result = contents.update(node, in: &namespace, change)
    let (now, isDirty) = (namespace[node].residentContent, namespace[node].isDirty)
    guard before != now || wasDirty != isDirty else { return result }
    let item = namespace.changedItem(node)
    // A crash may come before anything else is told of it: it has its owner and mode then, and is known to be of the
    // version that the store has now.
    if isDirty, !wasDirty, let listed = namespace.storeAttributes(of: node) {
      // What is kept of it may have a name that the store has given to another file since. Of several more is told
      // below.
      if listed.kind == .file, !listed.mayHaveSeveralNames { namespace.tellBinding(of: node, since: nil) }
      namespace.tellAttributes(of: node)
    }
    if let before, before != now { journal.append(.contentDropped(of: item, before)) }
    if let now { journal.append(isDirty ? .dirty(of: item, now) : .content(of: item, now)) }
    if isDirty, !wasDirty { namespace.tellStoreNames(of: node) }
    return result
  }
}
