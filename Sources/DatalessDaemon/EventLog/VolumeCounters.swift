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

  init(
    requests: LogValue = [:], items: LogValue = [:], materialized: LogValue = [:], opens: LogValue = [:],
    rules: LogValue = [:]
  ) {
    self.requests = requests
    self.items = items
    self.materialized = materialized
    self.opens = opens
    self.rules = rules
  }
}
