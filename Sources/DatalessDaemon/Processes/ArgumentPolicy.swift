/// Whose arguments the log keeps. Arguments hold secrets at times, and logs are handed on.
public enum ArgumentPolicy: String, Sendable, Codable, CaseIterable {
  /// Nobody's, and no script names either.
  case none
  /// Of processes that call themselves; of their ancestors the names of scripts. The default.
  case callers = "self"
  /// Of callers and all their ancestors.
  case all

  /// What of a command may be said before it is known whether it calls itself: all, or the program and its script.
  ///
  /// - Returns: `isWithheld`: whether something is left out.
  func words(of command: [[UInt8]]) -> (words: [[UInt8]], isWithheld: Bool) {
    guard self != .all, let program = command.first else { return (command, false) }
    let script = self == .callers ? ScriptName.find(in: command, isTruncated: false, executable: program) : nil
    let words = [program] + (script.map { [$0] } ?? [])
    return (words, command.count > 1)
  }
}
