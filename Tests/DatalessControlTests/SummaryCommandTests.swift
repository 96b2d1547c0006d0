import Testing

@testable import DatalessControl

/// What `dataless materialize` asked for, beside what programs read.
@Suite struct SummaryCommandTests {
  @Test func isNamedAndDoesNotCountAsReading() throws {
    var log = LogText()
    log.mounted()
    for attempt in [1, 2] {
      log.add(
        "materialization.started", at: 10,
        #""attempt":\#(attempt),"path":"a","kind":"file","size":5,"trigger":"command","process":null,"tid":null"#)
      log.add("wait.started", at: 10, #""attempt":\#(attempt),"process":null,"trigger":"command""#)
      log.add(
        "wait.finished", at: 20,
        #""attempt":\#(attempt),"process":null,"trigger":"command","blocked_ns":10,"outcome":"ok""#)
      log.add(
        "materialization.finished", at: 20,
        #""attempt":\#(attempt),"path":"a","kind":"file","bytes":5,"outcome":"ok","waiters":[]"#)
    }
    log.add("wait.finished", at: 30, #""attempt":9,"process":null,"trigger":"read","blocked_ns":1,"outcome":"ok""#)
    var builder = SummaryBuilder()
    for line in log.lines { builder.add(try #require(LogRecord(line: bytes(line)))) }
    let report = builder.finish(log: [], isMounted: true)
    #expect(report.processes.map(\.isCommand) == [true, false])
    #expect(report.processes[0].files == 2)
    #expect(report.processes[0].blocked.sumNanoseconds == 20)
    #expect(report.processes[0].verdict == "nothing")
    #expect(report.use.readAgainAfterEviction == 0)
    let text = SummaryText.lines(report, width: 100)
    #expect(text.contains { $0.contains("dataless materialize") })
    #expect(text.contains { $0.contains("unknown") })
  }
}
