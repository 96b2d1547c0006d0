import DatalessCore

/// What one line of the event log says.
enum LogRecord: Sendable {
  // Indirect: an event is large, and a slot of the ring should not be.
  indirect case event(Event)
  case process(ProcessRecord)
  indirect case mounted(VolumeMounted)
  indirect case unmounted(reason: String, counters: VolumeCounters, dropped: UInt64)
  indirect case counters(VolumeCounters, dropped: UInt64)
  indirect case mark(label: String, counters: VolumeCounters)
  indirect case runStarted(command: [[UInt8]], isWithheld: Bool, pid: Int32)
  indirect case runFinished(
    exitStatus: Int32?, signal: Int32?, budgets: LogValue, rules: LogValue, children: LogValue?)
  indirect case configurationChanged(ConfigurationChange)
  /// So many records before this one were lost, the one whose number this record carries included.
  case dropped(UInt64)
}
