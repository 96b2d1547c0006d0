import DatalessCore

extension Verdict {
  /// Reads a log file from its beginning to its end, and holds expectations against it.
  ///
  /// - Parameters:
  ///   - owner: As in `LogFile.init`. Default: nil.
  ///   - isMounted: Whether the volume still writes the log.
  ///   - lost: Records that the daemon says are not in the file.
  /// - Throws: `ControlError.system` when the file cannot be read; `.malformed` when it holds no record,
  ///   `.otherVersion` when those that it holds are of another version of the format.
  public static func load(
    log: [UInt8], owner: UInt32? = nil, isMounted: Bool = false, lost: Int64 = 0, _ expectations: Expectations
  ) throws(ControlError) -> Verdict {
    try read(log: log, owner: owner, expectations).finish(log: log, isMounted: isMounted, lost: lost)
  }

  /// As `load`, before the verdict.
  public static func read(
    log: [UInt8], owner: UInt32? = nil, _ expectations: Expectations
  ) throws(ControlError) -> Expectations {
    let file = try LogFile(path: log, owner: owner)
    var expectations = expectations
    func add(_ record: LogRecord?) {
      expectations.addUnread(file.takeUnread())
      if let record { expectations.add(record) }
    }
    while let record = try file.next() { add(record) }
    add(file.tornLine())
    guard expectations.recordCount > 0 else { throw .noRecord(log, file.unread) }
    return expectations
  }
}
