import DatalessCore

/// Who calls at all, whatever is expected.
extension Expectations {
  /// Holds the caller of a record against conditions: one that does nothing of what is bound is met, too.
  mutating func meetCaller(_ record: LogRecord) {
    guard record.type != .processSeen, let id = record.process, metCallers.insert(id).inserted else { return }
    for index in states.indices {
      states[index].conditions.meet(id, processes: processes, root: ending.runRoot)
    }
  }

  /// A process was seen (again), maybe as another program.
  mutating func forgetCaller(_ id: UInt32) {
    metCallers.remove(id)
    for index in states.indices { states[index].conditions.forget(id) }
  }
}
