import DatalessCore

extension LogRecord {
  /// Whether it has the keys without which nobody can tell what it says: a bit that was turned in a key's name makes
  /// another key of it, which is read over as one of a later version. Paths and callers that are missing are unknown to
  /// whoever asks for them.
  var hasItsKeys: Bool {
    switch type {
    case .waitStarted: attempt != nil
    case .waitFinished: attempt != nil && json.integer("blocked_ns") != nil
    case .materializationStarted: attempt != nil && hasKind
    case .materializationFinished: attempt != nil && hasKind && outcome != nil
    case .materializationRefused: hasKind
    case .accessStarted: json.unsigned("access") != nil
    case .accessFinished: json.unsigned("access") != nil && json.integer("blocked_ns") != nil
    default: true
    }
  }

  private var hasKind: Bool { json.string("kind").flatMap { MaterializationKind(rawValue: $0) } != nil }
}
