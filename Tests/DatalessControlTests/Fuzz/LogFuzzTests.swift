import DatalessCore
import TestSupport
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// Logs that anybody may have written: each line is a record or none, and both are told; nothing reaches the terminal
/// as it is.
@Suite struct LogFuzzTests {
  /// A log of some lines, of which some are changed.
  static func log(_ random: inout TestRandom, session isSession: Bool) -> [[UInt8]] {
    let nodes = isSession ? FuzzSamples.sessionNodes : FuzzSamples.logNodes
    var lines: [[UInt8]] = []
    for (index, node) in nodes.enumerated() {
      switch random.below(isSession ? 12 : 3) {
      case 0: lines.append(JSONMutation.mutated(node, &random, others: nodes))
      case 1 where isSession: lines.swapAt(random.below(lines.count + 1) % max(1, lines.count), max(0, lines.count - 1))
      case 2 where isSession: continue
      case 3 where isSession: lines += [nodes[index].text, nodes[index].text]
      default: lines.append(nodes[index].text)
      }
    }
    return lines
  }

  @Test(arguments: TestSeed.seeds) func everyLineIsARecordOrNone(seed: UInt64) throws {
    try #require(FuzzSamples.logNodes.count >= 24)
    try Fuzz.run("log reader", seed: seed, cases: 15) { random, note in
      let text = Array(Self.log(&random, session: false).joined(separator: [0x0a]))
      let file = try TemporaryFile(text)
      let log = try LogFile(path: file.path)
      var records: [LogRecord] = []
      while let record = try log.next() { records.append(record) }
      let torn = log.tornLine()
      let lines = text.split(separator: 0x0a)
      #expect(records.count + (torn == nil ? 0 : 1) + log.malformedLines == lines.count, "\(note)")
      try look(at: records, note)
    }
  }

  /// What identifies things, so that what is said of them comes together.
  static let identifying: Set<String> = [
    "v", "seq", "session", "type", "monotonic_ns", "attempt", "process", "parents", "handle", "path", "outcome", "kind",
  ]

  /// A session in which any text may be meant for the terminal, and any number may be too large.
  static func hostileLog(_ random: inout TestRandom) -> [[UInt8]] {
    let kept = random.oneIn(2) ? identifying : ["type", "session"]
    // One session each: a summary is of the last alone.
    return (random.oneIn(2) ? FuzzSamples.sessionNodes : FuzzSamples.logNodes).map {
      JSONMutation.hostile($0, &random, keeping: kept, doubles: true).text
    }
  }

  @Test(arguments: TestSeed.seeds) func noTextOfALogIsObeyedAndNoNumberTooLarge(seed: UInt64) throws {
    try Fuzz.run("hostile log", seed: seed, cases: 40) { random, note in
      try look(at: Self.hostileLog(&random).compactMap { LogRecord(line: $0) }, note)
    }
  }

  /// Filters, expansion and columns, of every record.
  private func look(at records: [LogRecord], _ note: Fuzz.Case) throws {
    var processes = LogProcesses(keepsRecords: true)
    var table = LogTable(showsEveryType: true, showsStarts: true)
    var filter = LogFilter(types: ["materialization"], path: PathPattern(bytes("**/*.jpg")), process: bytes("tool"))
    var conditions = LogFilter()
    (conditions.rule, conditions.isOfMainThreads, conditions.blocked) = (bytes("r"), true, BlockedLimit(.below, 5))
    (conditions.since, conditions.outcomes) = (LogMoment(seconds: 0, nanoseconds: 0), [.failed])
    var tree = LogTree()
    for record in records {
      processes.add(record)
      _ = filter.accepts(record, processes)
      _ = conditions.accepts(record, processes)
      tree.add("row", of: record.process, processes)
      let row = table.row(record, processes)
      #expect(row.map { isSafe(LogTable.line($0)) } ?? true, "\(note): \(TerminalText.escaped(record.line))")
      let expanded = LogExpansion().line(record, processes)
      #expect(LogRecord(line: expanded)?.type == record.type, "\(note): \(TerminalText.escaped(record.line))")
      #expect(expanded.count <= record.line.count + (5 << 20), "\(note)")
    }
    #expect(
      tree.lines.allSatisfy { isSafe($0) } && tree.lines.count { $0.hasSuffix("row") } == records.count, "\(note)")
    for row in table.unfinished { #expect(isSafe(LogTable.line(row)), "\(note)") }
  }

  /// What Foundation takes for an object is one for us, with the same texts and numbers.
  @Test(arguments: TestSeed.seeds) func objectsAreReadAsFoundationReadsThem(seed: UInt64) throws {
    try Fuzz.run("JSON objects", seed: seed, cases: 200) { random, note in
      let nodes = FuzzSamples.logNodes
      let line = JSONMutation.mutated(random.element(of: nodes), &random, others: nodes)
      compare(line, note)
    }
  }

  private func compare(_ line: [UInt8], _ note: Fuzz.Case) {
    let decoded: [String: JSONValue]? = try? WireCoding.decode([String: JSONValue].self, from: line, named: "it")
    guard let known = decoded else { return }
    // LIMIT: 64 levels; and of keys that are there twice one has to be taken.
    guard let object = JSONObject(line) else {
      let depth = line.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      // Foundation takes a comma before the end, too.
      let plain = String(decoding: line.filter { $0 > 0x20 }, as: UTF8.self)
      #expect(depth > 60 || plain.contains(",}") || plain.contains(",]"), "\(note): \(TerminalText.escaped(line))")
      return
    }
    guard Set(object.keys).count == object.fields.count else { return }
    #expect(object.string("path") == known["path"]?.string, "\(note)")
    #expect(object.string("type") == known["type"]?.string, "\(note)")
    let isWhole = object.raw("attempt")?.allSatisfy { $0 == 0x2d || (0x30...0x39).contains($0) } ?? false
    guard isWhole, case .integer(let number)? = known["attempt"] else { return }
    #expect(object.integer("attempt") == number, "\(note)")
  }

  /// Bytes of any kind come through as JSON text and back.
  @Test(arguments: TestSeed.seeds) func textsAreWrittenAndReadAgain(seed: UInt64) throws {
    try Fuzz.run("JSON texts", seed: seed, cases: 500) { random, note in
      let line = ByteMutation.mutated(random.element(of: FuzzSamples.logLines).prefix(40).map { $0 }, &random)
      var text: [UInt8] = []
      JSONString.append(line, to: &text)
      #expect(JSONText.decode(text[...]) == Array(String(decoding: line, as: UTF8.self).utf8), "\(note)")
      _ = JSONText.decode(([0x22] + line + [0x22])[...])
      #expect(JSONObject(bytes(#"{"a":"#) + text + bytes("}"))?.text("a") != nil, "\(note)")
    }
  }

  @Test(arguments: TestSeed.seeds) func globsEndAndEscapesMatchThemselves(seed: UInt64) throws {
    let samples = [
      "**/*.[a-z]x", "a/?/b*c", "[!a-]", "\\*\\[x", "***/**/*", "[", "[]]", "a/[b/]c", "{a,b}/{c,{d,e}}",
      "{a,b}{a,b}{a,b}",
      "{", "{,}", "a{b", "**/**/**/a/**/b",
    ].map { bytes($0) }
    try Fuzz.run("globs", seed: seed, cases: 300) { random, note in
      let pattern = ByteMutation.mutated(random.element(of: samples), &random, others: samples)
      let path = ByteMutation.mutated(bytes("a/b/c.jpg"), &random, others: samples).filter { $0 != 0 }
      _ = PathPattern(Array(pattern.prefix(300)))?.matches(path)
      let component = Array(path.prefix(40).filter { $0 != UInt8(ascii: "/") })
      guard !component.isEmpty else { return }
      let escaped = PathPattern(component.flatMap { [UInt8(ascii: "\\"), $0] })
      // No path on a volume has a component `.` or `..`: such a pattern is refused.
      let isDots = component == bytes(".") || component == bytes("..")
      #expect(escaped?.matches(component) == (isDots ? nil : true), "\(note)")
    }
  }
}

extension JSONValue {
  fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
}
