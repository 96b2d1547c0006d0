import DatalessControl
import DatalessCore
import SchemaCheck
import Testing

/// What the encoder writes, and what `dataless log --json` makes of it, against docs/schemas/event.schema.json and
/// log.schema.json.
@Suite struct EventSchemaTests {
  private static let lines = SampleRecords.lines(SampleRecords.all + ExtremeRecords.all)

  private static func properties(_ definition: JSONTree) -> Set<String> {
    Set(definition["properties"]?.object.keys ?? [:].keys)
  }

  private static func required(_ definition: JSONTree) -> Set<String> {
    Set((definition["required"]?.array ?? []).compactMap(\.string))
  }

  @Test func everyRecordIsAsTheSchemaHasIt() throws {
    let schema = try Schema.document("schemas/event.schema.json")
    for line in Self.lines { #expect(schema.problems(ofLine: line.utf8) == [], "\(line)") }
  }

  /// A key that is always there is required, one that is sometimes there is not, and there are no others.
  @Test func theSchemaHasNoMoreAndNoLess() throws {
    let schema = try Schema.document("schemas/event.schema.json")
    let records = try Self.lines.map { try JSONTree(parsing: $0.utf8) }
    let types = Set(records.compactMap { $0["type"]?.string })
    #expect(types == Set(EventType.allCases.map(\.rawValue)))
    for type in types { try Self.hold(schema.definition(type), records.filter { $0["type"]?.string == type }, type) }
    let parts: [(String, [JSONTree])] = [
      ("LoggedWaiter", records.flatMap { $0["waiters"]?.array ?? [] }),
      ("LoggedReader", records.flatMap { $0["readers"]?.array ?? [] }),
      ("PriorCalls", records.compactMap { $0["prior"] }), ("MarkCounters", records.compactMap { $0["counters"] }),
      ("SourceVersion", records.flatMap { [$0["old"], $0["new"]].compactMap(\.self) }),
      ("LoggedRemoval", records.compactMap { $0["replaced"] }),
      ("LoggedBudgets", records.compactMap { $0["budgets"] }),
      ("LoggedExcess", records.flatMap { $0["budgets"]?["exceeded"]?.array ?? [] }),
      ("LoggedChildren", records.compactMap { $0["children"] }),
      ("LoggedChild", records.flatMap { $0["children"]?["left"]?.array ?? [] }),
    ]
    for (name, values) in parts { try Self.hold(schema.definition(name), values, name) }
  }

  private static func hold(_ definition: JSONTree?, _ values: [JSONTree], _ name: String) throws {
    let definition = try #require(definition, "\(name)")
    let keys = values.map { Set($0.object.keys) }
    let always = keys.dropFirst().reduce(try #require(keys.first, "\(name)")) { $0.intersection($1) }
    #expect(keys.reduce([]) { $0.union($1) } == properties(definition), "\(name)")
    #expect(always == required(definition), "\(name)")
  }

  /// With each process written out, as far as it is known.
  @Test func expandedRecordsAreAsTheirSchemaHasThem() throws {
    let schema = try Schema.document("schemas/log.schema.json")
    var known = LogProcesses(keepsRecords: true)
    var seen: [JSONTree] = []
    for line in Self.lines {
      let parsed = DatalessControl.LogRecord(line: Array(line.utf8))
      let record = try #require(parsed)
      known.add(record)
      for processes in [known, LogProcesses(keepsRecords: true)] {
        let expanded = LogExpansion().line(record, processes)
        #expect(schema.problems(ofLine: expanded) == [], "\(String(decoding: expanded, as: UTF8.self))")
        let value = try JSONTree(parsing: expanded)
        seen += ([value] + (value["waiters"]?.array ?? [])).compactMap { $0["process"] }.filter { $0 != .null }
      }
    }
    try Self.hold(schema.definition("LoggedProcess"), seen, "LoggedProcess")
    try Self.hold(schema.definition("ExpandedParent"), seen.flatMap { $0["parents"]?.array ?? [] }, "ExpandedParent")
  }
}
