import DatalessControl
import DatalessCore
import DatalessStacks
import SystemPackage

extension LogEncoder {
  mutating func fields(of event: Event) {
    switch event {
    case .materializationStarted(let event): started(event)
    case .waitStarted(let wait), .waitFinished(let wait):
      json.field("attempt", wait.attempt)
      waiter(wait)
      if let lookup = wait.lookup {
        json.field("name", lookup.name)
        json.field("found", lookup.found.rawValue)
      }
    case .materializationFinished(let event): finished(event)
    case .accessStarted(let event), .accessFinished(let event): access(event)
    case .handleClosed(let event), .handleOpen(let event): closed(event)
    case .handleUnseen(let event): unseen(event)
    case .handleTogether(let event): together(event)
    case .evictionFinished(let event), .evictionRefused(let event): eviction(event)
    case .materializationRefused(let event): refused(event)
    case .materializationHeld(let event):
      json.field("attempt", event.attempt)
      json.field("path", event.path)
      json.field("gate", event.gate)
      json.field("rule", event.rule)
    case .materializationReleased(let event): released(event)
    case .budgetExceeded(let event): exceeded(event)
    case .sourceChanged(let event): sourceChanged(event)
    case .refreshFinished(let event): refreshFinished(event)
    case .changed(let event): changed(event)
    case .conflict(let event): conflict(event)
    case .coordination(let event): coordination(event)
    case .presenter(let event): presenter(event)
    }
  }

  private mutating func refused(_ event: Event.Refusal) {
    trigger(event.trigger)
    json.field("errno", event.errno.name)
    json.field("policy", event.policy)
    json.field("requested_delay_ns", event.trigger.requestedDelay)
  }

  private mutating func released(_ event: Event.Release) {
    json.field("attempt", event.attempt)
    json.field("path", event.path)
    json.field("gate", event.gate)
    json.field("by", event.by)
    if let errno = event.errno { json.field("errno", errno.name) }
    json.field("held_ns", event.held)
  }

  private mutating func started(_ event: Event.MaterializationStarted) {
    json.field("attempt", event.attempt)
    trigger(event)
    if let hydration = event.hydration { json.field("hydration", hydration.rawValue) }
    if let range = event.range {
      json.field("range_offset", range.lowerBound)
      json.field("range_length", range.upperBound - range.lowerBound)
    }
    guard !event.rules.isEmpty else { return }
    json.key("rules")
    json.beginArray()
    for rule in event.rules { json.string(rule) }
    json.endArray()
  }

  private mutating func trigger(_ event: Event.MaterializationStarted) {
    json.field("path", event.path)
    if !event.names.isEmpty {
      texts("names", event.names)
      json.nullable("caller_path", event.callerPath)
    }
    json.field("inode", event.inode)
    json.field("kind", event.kind.rawValue)
    json.field("size", event.size)
    json.field("trigger", event.trigger.rawValue)
    caller(event.caller)
    json.optional("offset", event.offset)
    json.optional("length", event.length)
    json.optional("handle", event.handle)
    json.optional("open_flags", event.openFlags)
    if let io = event.io { json.field("io", io.rawValue) }
    if let name = event.name { json.field("name", name) }
    json.field("file_attempt", event.itemAttempt)
    json.field("in_flight", event.inFlight)
    json.key("prior")
    json.beginObject()
    json.field("opens", event.priorOpens)
    json.field("stats", event.priorStats)
    json.field("xattr_calls", event.priorXattrCalls)
    json.endObject()
  }

  private mutating func waiter(_ wait: Event.WaitRecord) {
    caller(wait.caller)
    json.field("trigger", wait.trigger.rawValue)
    json.optional("offset", wait.offset)
    json.optional("length", wait.length)
    json.optional("blocked_ns", wait.blocked)
    if let outcome = wait.outcome { json.field("outcome", outcome.name) }
  }

  private mutating func finished(_ event: Event.MaterializationFinished) {
    json.field("attempt", event.attempt)
    json.field("path", event.path)
    json.field("kind", event.kind.rawValue)
    json.field("bytes", event.bytes)
    json.optional("entries", event.entries)
    json.field("outcome", event.outcome.name)
    if let message = event.message { json.field("message", message) }
    if let rule = event.rule { json.field("rule", rule) }
    json.field("requested_delay_ns", event.requestedDelay)
    json.field("delay_ns", event.delay)
    json.field("held_ns", event.held)
    json.field("queued_ns", event.queued)
    json.field("store_ns", event.storeTime)
    json.field("duration_ns", event.duration)
    json.field("waiter_count", event.waiterCount)
    json.key("waiters")
    json.beginArray()
    for wait in event.waiters {
      json.beginObject()
      waiter(wait)
      json.endObject()
    }
    json.endArray()
  }

  private mutating func access(_ event: Event.AccessRecord) {
    json.field("access", event.access)
    json.field("operation", event.operation.rawValue)
    json.field("path", event.path)
    if !event.names.isEmpty { texts("names", event.names) }
    json.field("kind", event.kind.rawValue)
    caller(event.caller)
    if let range = event.range {
      json.field("offset", range.lowerBound)
      json.field("length", range.upperBound - range.lowerBound)
    }
    json.field("requested_delay_ns", event.requestedDelay)
    if let gate = event.gate { json.field("gate", gate) }
    if let rule = event.rule { json.field("rule", rule) }
    json.optional("blocked_ns", event.blocked)
    if let outcome = event.outcome { json.field("outcome", outcome.name) }
  }

  private mutating func eviction(_ event: Event.EvictionRecord) {
    json.field("path", event.path)
    if !event.names.isEmpty { texts("names", event.names) }
    json.field("kind", event.kind.rawValue)
    json.field("bytes", event.bytes)
    if let errno = event.errno { json.field("errno", errno.name) }
    if let reason = event.reason?.rawValue ?? event.purge?.rawValue { json.field("reason", reason) }
    if let area = event.area { json.field("area", area) }
    json.field("by", event.by)
  }

  private mutating func exceeded(_ event: Event.BudgetExceeded) {
    json.field("budget", event.budget)
    json.field("limit", event.limit)
    json.field("used", event.used)
    json.field("attempt", event.attempt)
    json.field("path", event.path)
    caller(event.caller)
  }

  mutating func stack(_ stack: WaitStack) {
    switch stack.wait.cause {
    case .attempt(let attempt, let trigger):
      json.field("attempt", attempt)
      caller(stack.wait.caller)
      json.field("trigger", trigger.rawValue)
    case .access(let access, let operation):
      json.field("access", access)
      json.field("path", stack.wait.path)
      caller(stack.wait.caller)
      json.field("operation", operation.rawValue)
    }
    json.field("outcome", stack.failure?.rawValue ?? "ok")
    json.optional("reading_ns", stack.times?.reading)
    json.optional("naming_ns", stack.times?.naming)
    json.optional("stack_id", stack.number)
    guard let content = stack.stack else { return }
    json.key("stack")
    json.value(.json(content))
  }

  mutating func watchdog(_ record: WatchdogRecord) {
    let wait = record.wait
    switch wait.cause {
    case .attempt(let attempt, _): json.field("attempt", attempt)
    case .access(let access, _): json.field("access", access)
    }
    if let path = wait.path { json.field("path", path) }
    caller(wait.caller)
    switch wait.cause {
    case .attempt(_, let trigger): json.field("trigger", trigger.rawValue)
    case .access(_, let operation): json.field("operation", operation.rawValue)
    }
    json.field("limit_ns", wait.policy.mainThread)
    json.field("blocked_ns", record.blocked)
    json.field("action", wait.policy.action.rawValue)
    if record.kind != .expired { json.field("signal", "SIGABRT") }
    if let spared = record.spared { json.field("spared", spared.rawValue) }
    guard record.kind == .signalled else { return }
    let failure = record.failure == 0 ? "ok" : Errno(rawValue: record.failure).name
    json.field("outcome", record.spared == nil ? failure : "spared")
  }

  mutating func caller(_ caller: Caller) {
    process(caller.process)
    // Thread id 0 says that the caller lives in another pid namespace; what it is there is unknown here.
    json.nullable("tid", caller.threadID == 0 ? nil : caller.threadID)
    json.key("main_thread")
    if caller.threadID == 0 { json.null() } else { json.bool(caller.isMainThread) }
    if !caller.threadName.isEmpty { json.field("thread_name", caller.threadName.bytes) }
  }

  mutating func process(_ id: ProcessID) {
    json.nullable("process", id == .unknown ? nil : id.rawValue)
  }
}

extension LogEncoder {
  mutating func sourceChanged(_ event: Event.SourceChange) {
    json.field("path", event.path)
    json.field("kind", event.kind.name)
    json.field("change", event.change.rawValue)
    if let path = event.oldPath { json.field("old_path", path) }
    if event.isMetadataOnly { json.field("metadata_only", true) }
    version("old", event.old)
    version("new", event.new)
    json.field("by", event.by.rawValue)
  }

  mutating func version(_ name: StaticString, _ attributes: ItemAttributes?) {
    guard let attributes else { return }
    json.key(name)
    json.beginObject()
    json.field("inode", attributes.inode)
    json.field("size", attributes.size)
    time("mtime", attributes.modificationTime)
    time("ctime", attributes.changeTime)
    json.endObject()
  }

  private mutating func time(_ name: StaticString, _ time: Timestamp) {
    json.field(name, UTCTime.rfc3339(seconds: time.seconds, nanoseconds: time.nanoseconds))
  }

  mutating func refreshFinished(_ event: Event.RefreshFinished) {
    json.field("by", event.by.rawValue)
    json.field("outcome", event.outcome.name)
    json.field("directories", event.counts.directories)
    json.field("added", event.counts.added)
    json.field("changed", event.counts.changed)
    json.field("gone", event.counts.gone)
    json.field("renamed", event.counts.renamed)
    json.field("kept", event.counts.kept)
    json.field("unchanged", event.counts.unchanged)
    json.field("failures", event.failures)
    json.field("records_omitted", event.counts.omittedRecords)
    json.field("duration_ns", event.duration)
  }
}
