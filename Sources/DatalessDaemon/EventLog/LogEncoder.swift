import DatalessControl
import DatalessCore

/// Encodes records as lines of JSON, one after the other into one buffer. docs/EVENTS.md describes each field.
struct LogEncoder {
  var json = JSONWriter()
  private var clock: SessionClock
  private let session: String

  /// - Parameter session: 12 lowercase hexadecimal digits.
  init(session: String, clock: SessionClock) {
    self.session = session
    self.clock = clock
  }

  mutating func append(_ entry: LogRing.Entry) {
    json.beginObject()
    json.field("v", 1)
    json.field("seq", entry.number)
    json.field("session", session)
    json.field("time", clock.text(entry.time))
    json.field("monotonic_ns", entry.time.nanoseconds)
    json.field("type", entry.record.type.rawValue)
    fields(of: entry.record)
    json.endObject()
    json.literal("\n")
    json.endLine()
  }

  private mutating func fields(of record: LogRecord) {
    switch record {
    case .event(let event): fields(of: event)
    case .process(let process): self.process(process)
    case .mounted(let volume): mounted(volume)
    case .unmounted(let reason, let counters, let dropped):
      json.field("reason", reason)
      self.counters(counters, dropped: dropped)
    case .counters(let counters, let dropped): self.counters(counters, dropped: dropped)
    case .mark(let label, let counters):
      json.field("label", label)
      json.key("counters")
      json.beginObject()
      self.counters(counters, dropped: nil)
      json.endObject()
    case .reset(let reset): volumeReset(reset)
    case .runStarted(let command, let isWithheld, let pid):
      texts("command", command)
      if isWithheld { json.field("command_withheld", true) }
      json.field("pid", pid)
    case .runFinished(let end, let budgets, let rules, let children):
      if let status = end.exitStatus { json.field("exit_status", status) }
      if let signal = end.signal { json.field("signal", signal) }
      if let errno = end.notStarted { json.field("not_started", errno) }
      if let signal = end.interruptedBy { json.field("interrupted_by", signal) }
      json.key("budgets")
      json.value(budgets)
      json.key("rules")
      json.value(rules)
      if let children {
        json.key("children")
        json.value(children)
      }
    case .configurationChanged(let change):
      json.field("what", change.what.rawValue)
      json.key("before")
      json.value(change.before)
      json.key("after")
      json.value(change.after)
      json.field("by", change.by.rawValue)
    case .waitStack(let stack): self.stack(stack)
    case .watchdog(let record): watchdog(record)
    case .dropped(let count): json.field("count", count)
    }
  }

  private mutating func mounted(_ volume: VolumeMounted) {
    json.field("source", volume.source)
    json.field("mountpoint", volume.mountpoint)
    json.key("options")
    json.value(volume.options)
    json.field("pid", volume.pid)
    json.field("kernel", volume.kernel)
    json.field("libfuse", volume.libfuse)
    json.key("fast_paths")
    json.value(volume.fastPaths)
    json.field("read_only", volume.readOnly)
    if volume.tellsTogether { json.field("together", true) }
  }

  private mutating func volumeReset(_ reset: VolumeReset) {
    json.field("files", reset.files)
    json.field("directories", reset.directories)
    json.field("bytes", reset.bytes)
    json.field("by", reset.by.rawValue)
    json.key("counters")
    json.beginObject()
    counters(reset.counters, dropped: nil)
    json.endObject()
  }

  private mutating func counters(_ counters: VolumeCounters, dropped: UInt64?) {
    json.key("requests_reaching_the_volume")
    json.value(counters.requests)
    json.key("items")
    json.value(counters.items)
    json.key("materialized")
    json.value(counters.materialized)
    json.key("opens")
    json.value(counters.opens)
    json.key("rules")
    json.value(counters.rules)
    if let changes = counters.changes {
      json.key("changes")
      json.value(changes)
    }
    if let dropped { json.field("log_dropped", dropped) }
  }

  private mutating func process(_ process: ProcessRecord) {
    json.field("process", process.id.rawValue)
    json.nullable("pid", process.pid)
    json.nullable("start_ticks", process.startTicks)
    json.nullable("comm", process.comm)
    json.nullable("exe", process.exe)
    var reason = process.executable.unavailability
    let known = process.arguments
    switch known {
    case .known(let list, let isTruncated):
      texts("argv", list)
      if isTruncated { json.field("argv_truncated", true) }
    case .unavailable(let argumentsReason):
      json.null("argv")
      reason = reason ?? argumentsReason
    case .pending:
      json.null("argv")
      reason = reason ?? .late
    case .withheld: break
    }
    if let script = known.script(process.executable) { json.field("script", script) }
    json.nullable("uid", process.uid)
    json.nullable("gid", process.gid)
    json.nullable("cgroup", process.cgroup)
    let group = process.cgroup.map { ControlGroup(path: $0) }
    if let unit = group?.unit { json.field("unit", unit) }
    if let container = group?.container { json.field("container", container) }
    json.key("parents")
    json.beginArray()
    for parent in process.parents { json.integer(parent.rawValue) }
    json.endArray()
    if let reason { json.field("unavailable", reason.rawValue) }
  }

  /// `name`, and `name_b64` with all of them when one is not UTF-8.
  mutating func texts(_ name: StaticString, _ list: [[UInt8]]) {
    json.key(name)
    json.beginArray()
    var isValid = true
    for argument in list where !json.string(argument) { isValid = false }
    json.endArray()
    guard !isValid else { return }
    json.base64Key(name)
    json.beginArray()
    for argument in list { json.base64(argument) }
    json.endArray()
  }
}
