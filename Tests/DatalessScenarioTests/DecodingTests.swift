import DatalessCore
import SystemPackage
import Testing

@testable import DatalessScenario

/// What each field of a good scenario becomes.
@Suite struct DecodingTests {
  @Test func everySettingIsRead() throws {
    let document = try ScenarioText.parse(
      """
      version: 1
      seed: 18446744073709551615
      latency: 200ms
      directory_latency: {uniform: [100ms, 1.5s]}
      bandwidth: 20MB/s
      transfer_bandwidth: 1MiB
      concurrency: 4
      quota: 2GiB
      reserve: 200MB
      interrupt: any
      give_up_after: 30s
      offline: on
      materialize: off
      """)
    let simulation = document.simulation
    #expect(simulation.seed == .max)
    #expect(simulation.latency == LatencyModel(.fixed(200_000_000)))
    #expect(simulation.directoryLatency == LatencyModel(.uniform(100_000_000, 1_500_000_000)))
    #expect(simulation.bandwidth == 20_000_000)
    #expect(simulation.transferBandwidth == 1 << 20)
    #expect(simulation.concurrency == 4)
    #expect(simulation.quota == 2 << 30)
    #expect(simulation.reserve == 200_000_000)
    #expect(simulation.interrupt == .any)
    #expect(simulation.giveUpAfter == 30_000_000_000)
    #expect(simulation.isOffline)
    #expect(!simulation.materialize)
    #expect(document.warnings.isEmpty)
  }

  @Test func noneRemovesALimit() throws {
    let document = try ScenarioText.parse(
      "bandwidth: none\ntransfer_bandwidth: none\nconcurrency: none\nquota: none\ngive_up_after: none\n")
    #expect(document.simulation.bandwidth == nil)
    #expect(document.simulation.concurrency == nil)
    #expect(document.simulation.quota == nil)
    #expect(document.simulation.giveUpAfter == nil)
  }

  @Test func everyConditionIsRead() throws {
    let document = try ScenarioText.parse(
      """
      rules:
        - name: all
          match:
            path: ["*.jpg", /photos/**]
            size: ">1MB"
            kind: file
            trigger: [read, open_truncate]
            process: {exe: /usr/bin/tar, comm: [tar, "bsd*"], cgroup: "*.service", uid: 1000}
            ancestor: {exe: make, uid: [0, 4294967294]}
            attempt: {first: 4, every: 2}
            during: 0s..10s
            probability: 5%
          latency: 0
          bandwidth: 5MB/s
          fault: {errno: ESTALE, after: 60%}
          gate: g.1
          materialize: on
      """)
    let rule = try #require(document.simulation.rules.rules.first)
    #expect(rule.name == "all")
    #expect(rule.match.paths.map { String(decoding: $0.text, as: UTF8.self) } == ["*.jpg", "/photos/**"])
    #expect(rule.match.size == 1_000_001...Int64.max)
    #expect(rule.match.kind == .file)
    #expect(rule.match.triggers == [.read, .openTruncate])
    #expect(rule.match.process?.uids == [1000])
    #expect(rule.match.process?.commandNames.count == 2)
    #expect(rule.match.ancestor?.uids == [0, 4_294_967_294])
    #expect(rule.match.attempts == 1...4)
    #expect(rule.match.everyAttempt == 2)
    #expect(rule.match.window == 0..<10_000_000_000)
    #expect(rule.match.probability == 0.05)
    #expect(rule.effects.latency == LatencyModel.none)
    #expect(rule.effects.transferBandwidth == 5_000_000)
    #expect(rule.effects.fault == Fault(.errno(.staleNFSFileHandle), after: .fraction(0.6)))
    #expect(rule.effects.gate == "g.1")
    #expect(rule.effects.materialize == true)
  }

  @Test(
    arguments: [
      ("4096", 4096...4096), ("4k", 4096...4096), ("\"=4k\"", 4096...4096), ("\">= 1k\"", 1024...Int64.max),
      ("\"<1k\"", 0...1023), ("\"<=1k\"", 0...1024), ("1k..1M", 1024...1_048_576), ("1k..", 1024...Int64.max),
      ("..1.5k", 0...1536), ("\"1k .. 2k\"", 1024...2048),
    ] as [(String, ClosedRange<Int64>)])
  func sizesAreRanges(text: String, range: ClosedRange<Int64>) throws {
    let document = try ScenarioText.parse("rules: [{match: {size: \(text)}, fault: EIO}]")
    #expect(document.simulation.rules.rules[0].match.size == range)
  }

  @Test(
    arguments: [
      ("3", 3...3, nil), ("1..3", 1...3, nil), ("2..", 2...Int.max, nil), ("{first: 2}", 1...2, nil),
      ("{every: 3}", nil, 3),
    ] as [(String, ClosedRange<Int>?, Int?)])
  func attemptsAreRanges(text: String, range: ClosedRange<Int>?, every: Int?) throws {
    let document = try ScenarioText.parse("rules: [{match: {attempt: \(text)}, fault: EIO}]")
    #expect(document.simulation.rules.rules[0].match.attempts == range)
    #expect(document.simulation.rules.rules[0].match.everyAttempt == every)
    let counting = try ScenarioText.parse("rules: [{match: {nth: \(text)}, fault: EIO}]").simulation.rules.rules[0]
      .match
    #expect(counting.nth == range && counting.everyNth == every)
  }

  @Test(arguments: [
    ("EIO", Fault(.errno(.ioError))), ("EWOULDBLOCK", Fault(.errno(.resourceTemporarilyUnavailable))),
    ("never", Fault(.never)), ("wrong_size", Fault(.wrongSize)), ("superseded", Fault(.superseded)),
    ("{errno: ENOSPC, after: 1MB}", Fault(.errno(.noSpace), after: .bytes(1_000_000))),
    ("{errno: EIO, after: 4096}", Fault(.errno(.ioError), after: .bytes(4096))),
    ("{errno: EIO, at_once: true}", Fault(.errno(.ioError), isImmediate: true)),
    ("{outcome: never, after: 50%}", Fault(.never, after: .fraction(0.5))),
  ])
  func faultsAreRead(text: String, fault: Fault) throws {
    #expect(try ScenarioText.parse("rules: [{fault: \(text)}]").simulation.rules.rules[0].effects.fault == fault)
  }

  @Test func latenciesAreRead() throws {
    func latency(_ text: String) throws -> LatencyModel {
      try ScenarioText.parse("latency: \(text)").simulation.latency
    }
    #expect(try latency("{fixed: 1s}") == LatencyModel(.fixed(1_000_000_000)))
    #expect(
      try latency("{normal: {mean: 1s, deviation: 1ms}}").distribution
        == .normal(mean: 1_000_000_000, deviation: 1_000_000))
    #expect(
      try latency("{log_normal: {median: 1us, p99: 1ms}}").distribution == .logNormal(median: 1000, p99: 1_000_000))
    let table = [
      LatencyModel.Percentile(percent: 50, delay: 100), LatencyModel.Percentile(percent: 99.9, delay: 200),
    ]
    #expect(try latency("{percentiles: {99.9: 200ns, 50: 100ns}}").distribution == .table(table))
    #expect(try latency("{replay: [1ns, 2ns]}").distribution == .replay([1, 2]))
    var model = LatencyModel(.fixed(5))
    (model.perMebibyte, model.floor, model.ceiling) = (1, 2, 3)
    #expect(try latency("{fixed: 5ns, per_mebibyte: 1ns, floor: 2ns, ceiling: 3ns}") == model)
  }

  @Test func presetsCanBeChangedInParts() throws {
    for preset in LatencyPreset.all {
      let model = try ScenarioText.parse("latency: {preset: \(preset.name)}").simulation.latency
      #expect(model == preset.model)
    }
    let model = try ScenarioText.parse("latency: {preset: s3, per_mebibyte: 0, ceiling: 1s}").simulation.latency
    #expect(model.perMebibyte == 0)
    #expect(model.floor == LatencyPreset.named("s3")?.model.floor)
    #expect(model.ceiling == 1_000_000_000)
  }

  @Test func jsonIsReadLikeYAML() throws {
    let json =
      #"{"latency": "200ms", "rules": [{"match": {"path": ["a\/b", "\ud83d\ude00\u00e9\\u"]}, "fault": "EIO"}]}"#
    let document = try ScenarioText.parse(json)
    let paths = document.simulation.rules.rules[0].match.paths.map { String(decoding: $0.text, as: UTF8.self) }
    #expect(paths == ["a/b", "\u{1F600}\u{e9}\\u"])
    #expect(try ScenarioText.parse("{\t\"seed\":1,\n\t\"concurrency\":2}").simulation.concurrency == 2)
  }

  @Test func unnamedRulesAreNumberedAroundTheNamedOnes() throws {
    let document = try ScenarioText.parse(
      "rules: [{fault: EIO}, {name: rule-3, gate: a}, {latency: 1s}, {bandwidth: 1k}]")
    #expect(document.simulation.rules.rules.map(\.name) == ["rule-1", "rule-3", "rule-4", "rule-5"])
  }

  @Test func readingItsOwnJSONGivesAnEqualDocument() throws {
    for example in ScenarioText.examples(in: "docs/SCENARIOS.md") {
      let document = try ScenarioDocument(
        parsing: Array(example.text.utf8), name: "docs/SCENARIOS.md", readFile: ReplayTests.log)
      for pretty in [true, false] {
        let again = try ScenarioDocument(parsing: document.json(pretty: pretty), name: "again")
        #expect(again == document)
        #expect(again.simulation.rules.rules == document.simulation.rules.rules)
        #expect(again.simulation.latency == document.simulation.latency)
      }
    }
  }
}
