import DatalessControl

/// Has the volume of a log, if it is mounted, write what it has recorded so far.
enum LogFlush {
  /// A daemon that is dead or does not answer is no reason not to read its log; that it may be incomplete is said.
  static func flush(_ log: LogTarget) throws {
    do {
      try Blocking.run { try await log.flush() }
    } catch let error as ControlError {
      Console.error("the log may lack its last records: \(error.message)")
    }
  }
}
