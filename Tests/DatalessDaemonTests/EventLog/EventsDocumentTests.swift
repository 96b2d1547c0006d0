import DatalessCore
import FoundationEssentials
import Testing

@testable import DatalessDaemon

/// docs/EVENTS.md against the encoder.
@Suite struct EventsDocumentTests {
  private static var document: String {
    get throws {
      let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/EVENTS.md")
      return try String(contentsOf: file, encoding: .utf8)
    }
  }

  /// The text below each heading `### `type``, by type.
  private static func sections(_ document: String) -> [String: String] {
    var sections: [String: String] = [:]
    var types: [String] = []
    for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("#") {
        let names = line.split(separator: "`").map(String.init)
        types = line.hasPrefix("### ") ? names.filter { $0.contains(".") || $0 == "mark" } : []
      }
      for type in types { sections[type, default: ""] += line + "\n" }
    }
    return sections
  }

  /// Every key in a value, at any depth, except below those whose keys the volume chooses.
  private static func keys(_ value: ParsedJSON) -> Set<String> {
    let open: Set<String> = [
      "options", "fast_paths", "requests_reaching_the_volume", "items", "materialized", "budgets", "opens",
      "before", "after",
    ]
    switch value {
    case .object(let fields):
      return fields.reduce(into: Set(fields.keys)) { keys, field in
        if !open.contains(field.key) { keys.formUnion(Self.keys(field.value)) }
      }
    case .array(let values): return values.reduce(into: []) { $0.formUnion(keys($1)) }
    default: return []
    }
  }

  @Test func everyRecordAndItsKeysAreDescribed() throws {
    let document = try Self.document
    let sections = Self.sections(document)
    for line in SampleRecords.lines(SampleRecords.all) {
      let object = try ParsedJSON(line)
      let type = try #require(object["type"]?.string)
      let section = try #require(sections[type], "docs/EVENTS.md has no section for \(type)")
      for key in Self.keys(object) {
        let isCommon = ["v", "seq", "session", "time", "monotonic_ns", "type"].contains(key)
        #expect((isCommon ? document : section).contains("`\(key)`"), "\(key) of \(type) is not described")
      }
    }
  }

  @Test func everyTypeHasASectionAndASample() throws {
    let known = Set(EventType.allCases.map(\.rawValue))
    #expect(Set(Self.sections(try Self.document).keys) == known)
    #expect(Set(try SampleRecords.lines(SampleRecords.all).compactMap { try ParsedJSON($0)["type"]?.string }) == known)
  }

  @Test func theExamplesAreWhatIsWritten() throws {
    let document = try Self.document
    for line in SampleRecords.lines(SampleRecords.all) {
      #expect(document.contains("\n\(line)\n"), "not in docs/EVENTS.md: \(line)")
    }
  }
}
