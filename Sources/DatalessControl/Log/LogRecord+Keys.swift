import DatalessCore

extension LogRecord {
  /// Whether it has the keys without which nobody can tell what it says: a bit that was turned in a key's name makes
  /// another key of it, which is read over as one of a later version. A caller that nobody could tell is written as
  /// null: that is known to be unknown.
  ///
  /// Whoever judges leaves out a record without them: what it was to tell is missing, as with a line that is missing.
  var hasItsKeys: Bool {
    switch type {
    case .waitStarted: attempt != nil && hasProcess
    case .waitFinished: attempt != nil && hasProcess && json.integer("blocked_ns") != nil
    case .materializationStarted: attempt != nil && hasKind && hasPath && hasProcess
    case .materializationFinished: attempt != nil && hasKind && hasPath && outcome != nil
    case .materializationRefused: hasKind && hasPath
    case .accessStarted: json.unsigned("access") != nil
    case .accessFinished: json.unsigned("access") != nil && json.integer("blocked_ns") != nil
    case .handleClosed, .handleOpen: hasPath && hasProcess && hasReads
    default: true
    }
  }

  private var hasKind: Bool { json.string("kind").flatMap { MaterializationKind(rawValue: $0) } != nil }
  private var hasPath: Bool { json.raw("path") != nil || json.raw("path_b64") != nil }
  private var hasProcess: Bool { json.raw("process") != nil }
  private var hasReads: Bool {
    json.integer("covered_bytes") != nil && json.integer("high_water_mark") != nil && json.integer("bytes_read") != nil
  }
}
