import FoundationEssentials
import Glibc

/// The program `dataless`.
struct Executable: Sendable, Hashable {
  let path: String
  /// A test may change its environment; its volumes stay where they are.
  let environment: [String: String]

  /// The one that is named; else that of the environment's DATALESS; else the one on PATH.
  static func find(_ name: String?, environment: [String: String] = ProcessInfo.processInfo.environment) throws
    -> Executable
  {
    let named = [name, environment["DATALESS"]].compactMap { $0 }.first { !$0.isEmpty } ?? "dataless"
    let folders =
      named.contains("/")
      ? [""] : (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").map { $0 + "/" }
    for folder in folders {
      let path = folder + named
      var found = stat()
      guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else { continue }
      let isAbsolute = path.hasPrefix("/")
      return Executable(
        path: isAbsolute ? path : FileManager.default.currentDirectoryPath + "/" + path, environment: environment)
    }
    throw DatalessError(
      "there is no executable '\(named)'. Install dataless, or name it: DATALESS=/path/to/dataless.",
      code: "not_found", errno: "ENOENT")
  }
}

/// What a command said.
struct CommandOutput: Sendable {
  var status: Int32
  var answers: [JSONValue] = []
  var error: JSONValue?

  /// Lines that it printed with `--json`; `error` apart from answers.
  init(status: Int32, output: String, words: String) {
    self.status = status
    for line in output.split(separator: "\n") {
      guard let value = JSONValue(line: line) else { continue }
      if let failure = value["error"] { error = failure } else { answers.append(value) }
    }
    if status != 0 && error == nil {
      let message = words.isEmpty ? "exit status \(status)" : words
      error = ["code": "failed", "message": .string(message)]
    }
  }
}
