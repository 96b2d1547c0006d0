/// Receives processes as they are first seen, before any event that refers to them.
protocol ProcessSink: Sendable {
  /// Called under the table's lock, once per id. Must return at once.
  func processSeen(_ process: ProcessRecord)
  /// The arguments of this process are known now, or will not be. Called on the capture lane.
  func argumentsSettled(of process: ProcessRecord)
}
