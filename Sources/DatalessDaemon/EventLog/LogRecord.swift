import DatalessCore

/// What one line of the event log says.
enum LogRecord: Sendable {
  // Indirect, as an event is: what they say is large, and a slot of the ring should not be.
  case event(Event)
  case process(ProcessRecord)
  indirect case mounted(VolumeMounted)
  indirect case unmounted(reason: String, counters: VolumeCounters, dropped: UInt64)
  indirect case counters(VolumeCounters, dropped: UInt64)
  indirect case mark(label: String, counters: VolumeCounters)
  indirect case reset(VolumeReset)
  indirect case runStarted(command: [[UInt8]], isWithheld: Bool, pid: Int32)
  indirect case runFinished(RunEnd, budgets: LogValue, rules: LogValue, children: LogValue?)
  indirect case configurationChanged(ConfigurationChange)
  /// The stack of a caller that was blocked.
  indirect case waitStack(WaitStack)
  /// A main thread has waited for too long.
  indirect case watchdog(WatchdogRecord)
  /// So many records before this one were lost, the one whose number this record carries included.
  case dropped(UInt64)

  var type: EventType {
    switch self {
    case .event(let event): event.type
    case .process: .processSeen
    case .mounted: .volumeMounted
    case .unmounted: .volumeUnmounted
    case .counters: .volumeCounters
    case .mark: .mark
    case .reset: .volumeReset
    case .runStarted: .runStarted
    case .runFinished: .runFinished
    case .configurationChanged: .configurationChanged
    case .waitStack: .waitStack
    case .watchdog(let record): record.type
    case .dropped: .logDropped
    }
  }
}

/// The first record of a session.
struct VolumeMounted: Sendable {
  /// The directory, or the synthetic specification, as given.
  var source: [UInt8]
  var mountpoint: [UInt8]
  /// The options of the volume, an object.
  var options: LogValue
  /// The daemon's process id.
  var pid: Int32
  /// Kernel release, and the version of libfuse at run time.
  var kernel: String
  var libfuse: String
  /// What the kernel granted, an object of booleans or strings.
  var fastPaths: LogValue
  var readOnly: Bool
  /// Whether it is recorded who writes to a file that another process has open.
  var tellsTogether = false
}

/// The volume is as freshly mounted from this record on.
struct VolumeReset: Sendable {
  /// What was evicted for it.
  var files: Int64
  var directories: Int64
  var bytes: Int64
  var by: ChangeOrigin
  /// As they were right before.
  var counters: VolumeCounters
}

/// A change of what a mounted volume simulates, for the log.
struct ConfigurationChange: Sendable {
  enum What: String, Sendable {
    case settings, rules, scenario, gate
  }

  var what: What
  /// What was there, and what is there now; null for nothing.
  var before: LogValue
  var after: LogValue
  var by: ChangeOrigin
}

/// Counts of a volume since it was mounted, each an object of numbers by name.
struct VolumeCounters: Sendable {
  /// Requests that reached the daemon, by operation. The kernel's caches serve others without us.
  var requests: LogValue
  /// Items known to the namespace, by state.
  var items: LogValue
  /// What was materialized: files, directories, bytes, failures, refusals.
  var materialized: LogValue
  /// Opens of files by read mode: `now` and `since_mount`.
  var opens: LogValue
  /// What the scenario's rules did.
  var rules: LogValue
  /// What was changed on the volume; nil where nothing can be.
  var changes: LogValue?

  init(
    requests: LogValue = [:], items: LogValue = [:], materialized: LogValue = [:], opens: LogValue = [:],
    rules: LogValue = [:], changes: LogValue? = nil
  ) {
    self.requests = requests
    self.items = items
    self.materialized = materialized
    self.opens = opens
    self.rules = rules
    self.changes = changes
  }
}

extension Event {
  var type: EventType {
    switch self {
    case .materializationStarted: .materializationStarted
    case .waitStarted: .waitStarted
    case .waitFinished: .waitFinished
    case .materializationFinished: .materializationFinished
    case .accessStarted: .accessStarted
    case .accessFinished: .accessFinished
    case .handleClosed: .handleClosed
    case .handleOpen: .handleOpen
    case .handleUnseen: .handleUnseen
    case .handleTogether: .handleTogether
    case .evictionFinished: .evictionFinished
    case .evictionRefused: .evictionRefused
    case .materializationRefused: .materializationRefused
    case .materializationHeld: .materializationHeld
    case .materializationReleased: .materializationReleased
    case .budgetExceeded: .budgetExceeded
    case .sourceChanged: .sourceChanged
    case .refreshFinished: .refreshFinished
    case .changed(let event): event.type
    case .conflict(let event): event.type
    case .coordination(let event): event.step.type
    case .presenter(let event): event.step.type
    }
  }

  /// When it happened.
  var time: MonotonicTime {
    switch self {
    case .materializationStarted(let event): event.time
    case .waitStarted(let event), .waitFinished(let event): event.time
    case .materializationFinished(let event): event.time
    case .accessStarted(let event), .accessFinished(let event): event.time
    case .handleClosed(let event), .handleOpen(let event): event.time
    case .handleUnseen(let event): event.time
    case .handleTogether(let event): event.time
    case .evictionFinished(let event), .evictionRefused(let event): event.time
    case .materializationRefused(let event): event.trigger.time
    case .materializationHeld(let event): event.time
    case .materializationReleased(let event): event.time
    case .budgetExceeded(let event): event.time
    case .sourceChanged(let event): event.time
    case .refreshFinished(let event): event.time
    case .changed(let event): event.time
    case .conflict(let event): event.time
    case .coordination(let event): event.time
    case .presenter(let event): event.time
    }
  }
}
