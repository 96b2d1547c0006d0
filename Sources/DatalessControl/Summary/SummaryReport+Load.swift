extension SummaryReport {
  /// Reads a log file from its beginning to its end.
  ///
  /// - Throws: `ControlError.system` when it cannot be read.
  public static func load(log: [UInt8]) throws(ControlError) -> SummaryReport {
    let file = try LogFile(path: log)
    var builder = SummaryBuilder()
    while let record = try file.next() { builder.add(record) }
    if let record = file.tornLine() { builder.add(record) }
    return builder.finish(log: log, malformedLines: file.malformedLines)
  }
}
