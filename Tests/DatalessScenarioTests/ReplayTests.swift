import DatalessCore
import DatalessScenario
import Testing

/// `replay`: the delays of a log, read once, by whoever may open files.
@Suite struct ReplayTests {
  static let log: ScenarioFileReader = { (_) throws(FSError) in
    let lines = [
      #"{"type":"materialization.started","path":"\"type\":\"materialization.finished\"","delay_ns":1}"#,
      #"{"v":1,"type":"materialization.finished","path":"a","kind":"file","outcome":"ok","requested_delay_ns":9,"delay_ns":10}"#,
      #"{"type":"materialization.finished","path":"d","kind":"directory","outcome":"ok","delay_ns":20}"#,
      #"{"type":"materialization.finished","path":"b","kind":"file","outcome":"cancelled","delay_ns":30}"#,
      #"{"type": "materialization.finished", "kind": "file", "outcome": "EIO", "delay_ns": 40}"#,
      #"{"type":"access.started","operation":"read","path":"a","requested_delay_ns":1}"#,
      #"{"type":"access.finished","operation":"read","path":"a","requested_delay_ns":1,"blocked_ns":50,"outcome":"ok"}"#,
      #"{"type":"access.finished","operation":"open","path":"a","requested_delay_ns":1,"blocked_ns":60,"outcome":"ok"}"#,
      #"{"type":"access.finished","operation":"read","path":"a","requested_delay_ns":1,"blocked_ns":70,"outcome":"EINTR"}"#,
    ]
    return Array(lines.joined(separator: "\n").utf8)
  }

  @Test func delaysComeFromFinishedAttemptsOfTheKind() throws {
    let document = try ScenarioText.parse(
      "latency: {replay: a.jsonl}\ndirectory_latency: {replay: a.jsonl}\n", readFile: Self.log)
    #expect(document.simulation.latency.distribution == .replay([10, 40]))
    #expect(document.simulation.directoryLatency.distribution == .replay([20]))
  }

  @Test func delaysOfAccessesComeFromThoseOfTheOperation() throws {
    let document = try ScenarioText.parse(
      "access: {read: {replay: a.jsonl}, open: {replay: a.jsonl}}\nrules: [{latency: {replay: a.jsonl}}]",
      readFile: Self.log)
    #expect(document.simulation.access[.read]?.distribution == .replay([50]))
    #expect(document.simulation.access[.open]?.distribution == .replay([60]))
    #expect(document.simulation.rules.rules[0].effects.latency?.distribution == .replay([10, 40]))
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioText.parse("access: {getattr: {replay: a.jsonl}}", readFile: Self.log)
    }
    #expect(
      error?.description == "s.yaml:1:28: there is no finished access by 'getattr' in 'a.jsonl'. Give a log that "
        + "'dataless log --json' or a volume has written.")
  }

  @Test func theScenarioItselfCarriesTheDelaysNotTheFile() throws {
    let document = try ScenarioText.parse("latency: {replay: a.jsonl}\n", readFile: Self.log)
    #expect(
      String(decoding: document.json(pretty: false), as: UTF8.self)
        == #"{"version":1,"latency":{"replay":["10ns","40ns"]}}"#)
    // Read where no file can be opened.
    #expect(try ScenarioDocument(parsing: document.json(pretty: true), name: "api") == document)
  }

  @Test func aLogWithoutAttemptsIsRefused() {
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioText.parse("latency: {replay: a.jsonl}", readFile: { (_) throws(FSError) in [] })
    }
    #expect(
      error?.description == "s.yaml:1:19: there is no finished materialization of a file in 'a.jsonl'. Give a log that "
        + "'dataless log --json' or a volume has written.")
  }

  @Test func tooManyDelaysAreRefused() {
    let line = #"{"type":"materialization.finished","kind":"file","outcome":"ok","delay_ns":10}"# + "\n"
    let log = Array(String(repeating: line, count: 50_001).utf8)
    let error = #expect(throws: ScenarioError.self) {
      try ScenarioText.parse(
        "latency: {replay: a}\nrules: [{latency: {replay: a}}]", readFile: { (_) throws(FSError) in log })
    }
    #expect(
      error?.description == "s.yaml:2:28: more than 100000 delays to replay in one scenario. Use 'percentiles', or a "
        + "shorter log.")
  }
}
