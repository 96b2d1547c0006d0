import DatalessControl

/// What a command could not write that has found something out all the same: its status says what it found, since a
/// script may look at nothing else.
enum MissingOutput {
  /// Writes something.
  ///
  /// - Parameters:
  ///   - failure: How the command ends anyway; nil where it has nothing to complain of.
  ///   - write: What is written.
  /// - Throws: Why it could not be written, where that is all that went wrong; else standard error says it.
  static func allowed(by failure: CommandFailure?, _ write: () throws -> Void) throws {
    do {
      try write()
    } catch {
      guard failure != nil else { throw error }
      switch error {
      // Nobody reads on, or all has been said.
      case is CommandExit: break
      case let problem as CommandFailure: Console.error(problem)
      case let problem as ControlError: Console.error(CommandFailure(problem))
      default: Console.error("\(error)")
      }
    }
  }
}
