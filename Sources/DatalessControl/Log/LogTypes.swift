/// The types of records that docs/EVENTS.md describes.
public enum LogTypes {
  public static let all = [
    "volume.mounted", "volume.unmounted", "volume.counters", "process.seen", "materialization.started",
    "materialization.finished", "materialization.refused", "materialization.held", "materialization.released",
    "wait.started", "wait.finished", "handle.closed", "handle.open", "handle.unseen",
    "eviction.finished", "eviction.refused", "source.changed", "refresh.finished", "budget.exceeded",
    "configuration.changed", "mark", "log.dropped", "run.started", "run.finished",
  ]
}
