import DatalessControl

/// What could not be done with single items, on standard error.
enum FailureList {
  /// As many lines as can be read; `--json` has more.
  private static let linesMax = 20

  /// - Parameters:
  ///   - count: All failures, also those that are not in the list.
  ///   - mountPoint: Of the volume, whose paths these are.
  ///   - action: `evict`, for `cannot evict ...`.
  ///   - others: Where those are named that are not shown.
  static func say(
    _ failures: [PathFailure], count: Int64, at mountPoint: [UInt8], action: String, others: String
  ) {
    for failure in failures.prefix(linesMax) {
      let path = TerminalText.escaped(
        failure.pathBytes.isEmpty ? mountPoint : PathBytes.join(mountPoint, failure.pathBytes))
      let errno = failure.message.contains(failure.errno) ? "" : " (\(failure.errno))"
      Console.error("cannot \(action) \(path): \(TerminalText.escaped(failure.message))\(errno).")
    }
    let more = count - Int64(min(failures.count, linesMax))
    if more > 0 { Console.error("cannot \(action) \(HumanText.count(more, "more item")); \(others).") }
  }

  /// Ends a command of which some failed; does nothing if none did.
  static func end(_ count: Int64, _ what: String) throws {
    if count == 0 { return }
    var failure = CommandFailure(
      "\(what) \(HumanText.count(count, "item")): see `failures` of the answers before this line.", code: .incomplete)
    failure.isSaid = true
    throw failure
  }
}
