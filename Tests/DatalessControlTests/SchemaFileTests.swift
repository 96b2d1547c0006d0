import ArgumentParser
import DatalessControl
import DatalessScenario
import Glibc
import SchemaCheck
import Testing

@testable import DatalessCommands

/// docs/schemas/ against what it is made of, against the types that commands answer with, and against docs/JSON.md.
@Suite struct SchemaFileTests {
  private static let sources = Result { try SchemaSources() }

  /// With DATALESS_UPDATE_SCHEMA=1 the files are written instead of compared.
  @Test func theFilesAreWhatTheirSourcesSay() throws {
    let sources = try Self.sources.get()
    for file in try sources.files {
      let path = "\(SchemaSources.root)/docs/schemas/\(file.key).schema.json"
      let bytes = try sources.document(file).json(pretty: true)
      if getenv("DATALESS_UPDATE_SCHEMA") != nil, let stream = fopen(path, "w") {
        fwrite(bytes, 1, bytes.count, stream)
        fclose(stream)
      }
      #expect(
        (try? FileBytes.read(path)) == bytes, "\(path) is old. Run the test once with DATALESS_UPDATE_SCHEMA=1.")
    }
  }

  @Test func nothingIsDescribedTwice() throws {
    #expect(try Self.sources.get().doubles == [])
  }

  /// What encodes the values: with everything, so that a field without a description fails, and with what is required
  /// only.
  @Test(arguments: (Array(WireSamples.all.keys) + AnswerSamples.all.keys).sorted())
  func aTypeIsWhatItsSchemaSays(name: String) throws {
    let sample = try #require(WireSamples.all[name] ?? AnswerSamples.all[name])
    let sources = try Self.sources.get()
    let schema = try sources.schema(of: name)
    // Requests are told apart by more than their types: some that encode well are refused.
    for value in [sample.full, sample.least] where try sources.described.contains(name) {
      #expect(schema.problems(ofLine: try WireCoding.encode(value)) == [], "\(name)")
    }
    let body = try #require(sources.components.first { $0.key == name }?.value)
    let properties = try SchemaSources.entries(body["properties"]).map(\.key)
    #expect(Set(properties) == Set(try #require(JSONObject(try WireCoding.encode(sample.full))).keys))
    #expect(
      Set(SchemaSources.texts(body["required"]))
        == Set(try #require(JSONObject(try WireCoding.encode(sample.least))).keys))
    #expect(Self.optionals(of: sample.full).filter { !$0.isSet }.map(\.name) == [])
    #expect(Self.optionals(of: sample.least).filter(\.isSet).map(\.name) == [])
  }

  private static func optionals(of value: any Sendable) -> [(name: String, isSet: Bool)] {
    Mirror(reflecting: value).children.compactMap { child in
      let mirror = Mirror(reflecting: child.value)
      return mirror.displayStyle == .optional ? (child.label ?? "", !mirror.children.isEmpty) : nil
    }
  }

  /// But for what only the log has: EventSchemaTests.
  @Test func everyDescriptionHasAValueThatIsHeldAgainstIt() throws {
    let sources = try Self.sources.get()
    let inTheLog = Set(try sources.recordTypes).union([
      "PriorCalls", "LoggedWaiter", "LoggedReader", "SourceVersion", "MarkCounters", "LoggedBudgets", "LoggedExcess",
      "LoggedChildren", "LoggedChild", "LoggedProcess", "LoggedRemoval", "ExpandedParent",
    ])
    let described = try sources.described
    #expect(described.subtracting(inTheLog).subtracting(WireSamples.all.keys) == Set(AnswerSamples.all.keys))
  }

  // MARK: - docs/JSON.md

  /// The rows of the table of commands: `| `ls` | ... | [ls](schemas/ls.schema.json) |`.
  private static func rows() throws -> [(command: String, schemas: [String])] {
    let text = String(decoding: try FileBytes.read("\(SchemaSources.root)/docs/JSON.md"), as: UTF8.self)
    return text.split(separator: "\n").drop { !$0.hasPrefix("| command |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
      .map { line in
        let cells = line.split(separator: "|")
        return (
          cells[0].filter { $0 != "`" }.split(separator: " ").joined(separator: " "),
          cells[2].matches(of: #/\(([^()#]+)/#).map { String($0.1) }
        )
      }
  }

  private static func leaves(
    _ commands: [any ParsableCommand.Type], _ path: [String] = []
  ) -> [(name: String, command: any ParsableCommand.Type)] {
    commands.flatMap { command in
      let name = path + [command.configuration.commandName ?? ""]
      let below = command.configuration.subcommands
      return below.isEmpty ? [(name.joined(separator: " "), command)] : leaves(below, name)
    }
  }

  @Test func everyCommandHasJSONAndARow() throws {
    let commands = Self.leaves(DatalessCommand.configuration.groupedSubcommands.flatMap { $0.subcommands })
    #expect(Set(try Self.rows().map(\.command)) == Set(commands.map(\.name)))
    for (name, command) in commands {
      #expect(DatalessCommand.helpMessage(for: command).contains("--json"), "\(name) has no --json")
    }
  }

  @Test func everySchemaIsNamedAndThere() throws {
    let named = Set(try Self.rows().flatMap(\.schemas)).subtracting(["scenario.schema.json"])
    let files = Set(try Self.sources.get().files.map { "schemas/\($0.key).schema.json" })
    #expect(
      named.union(["schemas/error.schema.json", "schemas/event.schema.json", "schemas/report.schema.json"]) == files)
  }

  @Test func theCodesAreThoseOfTheDocument() throws {
    let text = String(decoding: try FileBytes.read("\(SchemaSources.root)/docs/JSON.md"), as: UTF8.self)
    let table = text.split(separator: "\n").drop { !$0.hasPrefix("| code |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
    let codes = table.flatMap { $0.split(separator: "|")[0].matches(of: #/`(\w+)`/#).map { String($0.1) } }
    #expect(codes.sorted() == CommandFailure.Code.allCases.map(\.rawValue).sorted())
  }
}
