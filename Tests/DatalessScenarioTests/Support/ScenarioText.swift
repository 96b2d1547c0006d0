import DatalessScenario
import Glibc

/// Short ways to scenarios and to the files of the repository.
enum ScenarioText {
  static func parse(
    _ text: String, readFile: @escaping ScenarioFileReader = ScenarioDocument.refuseFiles
  ) throws(ScenarioError) -> ScenarioDocument {
    try ScenarioDocument(parsing: Array(text.utf8), name: "s.yaml", readFile: readFile)
  }

  /// What is said about a text: its problems, or its warnings; empty for a good one.
  static func verdict(_ text: String) -> String {
    do throws(ScenarioError) {
      return try parse(text).warnings.map(\.description).joined(separator: "\n")
    } catch {
      return error.description
    }
  }

  static let root: String = #filePath.split(separator: "/").dropLast(4).reduce(into: "") { $0 += "/" + $1 }

  /// nil if there is no such file.
  static func file(_ path: String) -> [UInt8]? {
    guard let file = fopen(path.hasPrefix("/") ? path : root + "/" + path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return bytes
  }

  /// Runs a shell command, which limits its own time.
  static func run(_ command: String) -> (status: Int32, output: String) {
    guard let pipe = popen(command + " 2>&1", "r") else { return (-1, "popen failed") }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { bytes += buffer[..<count] }
    return ((pclose(pipe) >> 8) & 0xff, String(decoding: bytes, as: UTF8.self))
  }

  /// The blocks of a Markdown file that are marked `yaml`, each with the line of its first line.
  static func examples(in path: String) -> [(line: Int, text: String)] {
    var examples: [(line: Int, text: String)] = []
    var current: (line: Int, text: String)?
    let lines = String(decoding: file(path) ?? [], as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line == "```yaml" {
        current = (index + 2, "")
      } else if line == "```" {
        if let found = current { examples.append(found) }
        current = nil
      } else {
        current?.text += line + "\n"
      }
    }
    return examples
  }
}
