import DatalessCore
import Testing

@testable import DatalessControl

/// A summary says the bytes of every path, also where they are not UTF-8.
@Suite struct SummaryOddNamesTests {
  /// How a log has the directory whose name is the byte 0xff, and the file `f` in it.
  private static let directory = #"\#u{FFFD}","path_b64":"/w=="#
  private static let file = #"\#u{FFFD}/f","path_b64":"/y9m"#

  private static let report: SummaryReport? = {
    var log = LogText()
    log.mounted()
    log.process(1, pid: 10, "tar", exe: "/bin/tar")
    log.started(1, directory, kind: "directory", trigger: "readdir", by: 1, at: 1_000)
    log.finished(1, directory, kind: "directory", by: 1, at: 2_000)
    for attempt in 2...3 {
      log.started(attempt, file, size: 10, by: 1, at: 3_000)
      log.add(
        "wait.started", at: 3_000,
        #""attempt":\#(attempt),"process":1,"tid":10,"trigger":"read","main_thread":true"#)
      guard attempt == 2 else { break }
      log.add(
        "wait.finished", at: 4_000,
        #""attempt":2,"process":1,"tid":10,"trigger":"read","blocked_ns":1000,"outcome":"ok","main_thread":true"#)
      log.finished(attempt, file, bytes: 10, by: 1, blocked: 1_000, at: 4_000)
    }
    log.add("budget.exceeded", at: 5_000, #""budget":"files","limit":1,"used":2,"process":1,"path":"\#(file)""#)
    let intent = #""reads":1,"writes":0,"process":1,"tid":null,"main_thread":null,"path":"\#(file)""#
    log.add("coordination.started", at: 5_000, #""intent":1,"# + intent)
    log.add("coordination.granted", at: 5_000, #""intent":1,"waited_ns":0,"# + intent)
    log.add("coordination.started", at: 5_000, #""intent":2,"waits_for":[1],"# + intent)
    log.add("presenter.started", at: 6_000, #""presenter":3,"process":1,"path":"\#(file)""#)
    log.add(
      "presenter.answered", at: 6_100,
      #""presenter":3,"process":1,"intent":2,"what":"read","took_ns":100,"outcome":"ok","path":"\#(file)""#)
    var builder = SummaryBuilder()
    for line in log.lines {
      guard let record = LogRecord(line: bytes(line)) else { return nil }
      builder.add(record)
    }
    return builder.finish(log: bytes("/x.jsonl"), now: 9_000)
  }()

  @Test func everyPathHasItsBytes() throws {
    let report = try #require(Self.report)
    let (directory, file): ([UInt8], [UInt8]) = ([0xff], [0xff] + bytes("/f"))
    #expect(report.longestDirectoryChain?.pathBytes == directory)
    #expect(report.topLevelDirectories.map(\.pathBytes) == [directory])
    #expect(report.waiting.map(\.pathBytes) == [file])
    #expect(report.run?.exceeded?.pathBytes == file)
    #expect(report.repeated.pathBase64 == Base64.text(file))
    #expect(report.mainThread.longest?.pathBase64 == Base64.text(file))
    #expect(report.coordination?.longest.map(\.pathBytes) == [file])
    #expect(report.coordination?.longest.first?.waitsFor.map(\.pathBase64) == [Base64.text(file)])
    #expect(report.coordination?.slowest.map(\.pathBytes) == [file])
  }

  @Test func textShowsBytesAsTheyAre() throws {
    let text = SummaryText.lines(try #require(Self.report), width: 300)
    #expect(text.contains { $0.contains(#"\xff/f"#) }, "\(text)")
    #expect(!text.contains { $0.contains("\u{FFFD}") }, "\(text)")
  }
}
