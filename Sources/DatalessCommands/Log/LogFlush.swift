import DatalessControl

/// Has the volume of a log, if it is mounted, write what it has recorded so far.
enum LogFlush {
  struct Outcome {
    /// Whether the volume is mounted and its daemon lives, so that the log goes on.
    var isMounted: Bool
    /// Records that are not in the file.
    var lost: Int64 = 0
  }

  /// A daemon that is dead or does not answer is no reason not to read its log; that it may be incomplete is said.
  static func flush(_ log: LogTarget) throws -> Outcome {
    guard log.volume != nil else { return Outcome(isMounted: false) }
    do {
      return Outcome(isMounted: true, lost: try Blocking.run { try await log.flush() })
    } catch let error as ControlError {
      Console.error("the log may lack its last records: \(error.message)")
      return Outcome(isMounted: error.code != .daemonNotRunning)
    }
  }
}
