import FoundationEssentials
import SchemaCheck
import Synchronization
import Testing

/// The schemas that docs/JSON.md names for each command.
struct JSONSchemas: Sendable {
  /// By command, such as `gate list`; empty for one that prints nothing.
  let ofCommands: [String: [Schema]]
  private let error: Schema

  init() throws {
    let file = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let text = String(decoding: try Data(contentsOf: URL(filePath: "/\(file)/docs/JSON.md")), as: UTF8.self)
    let rows = text.split(separator: "\n").drop { !$0.hasPrefix("| command |") }.dropFirst(2).prefix {
      $0.hasPrefix("|")
    }
    ofCommands = try rows.reduce(into: [:]) { schemas, row in
      let cells = row.split(separator: "|")
      let command = cells[0].filter { $0 != "`" }.split(separator: " ").joined(separator: " ")
      schemas[command] = try cells[2].matches(of: #/\]\(([^)]+)\)/#).map { try Schema.document(String($0.1)) }
    }
    error = try Schema.document("schemas/error.schema.json")
  }

  /// What is wrong with the lines that a command printed.
  func problems(_ command: String, _ finished: Finished) -> [String] {
    finished.lines.flatMap { line -> [String] in
      guard let value = try? JSONTree(parsing: line.utf8) else { return ["no JSON: \(line)"] }
      if value["error"] != nil { return error.problems(of: value) }
      let found = (ofCommands[command] ?? []).map { $0.problems(of: value) }
      return found.contains([]) ? [] : found.min { $0.count < $1.count } ?? ["\(command) prints nothing: \(line)"]
    }
  }
}
