import FoundationEssentials
import Glibc

/// The test clients of Clients/, compiled once for each change of their sources.
actor Probe {
  static let shared = Probe()

  private var built: Task<String, any Error>?

  /// The path of the executable.
  func path() async throws -> String {
    if let built { return try await built.value }
    let task = Task { try await Self.build() }
    built = task
    return try await task.value
  }

  private static func build() async throws -> String {
    let clients =
      #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
      + "/Clients"
    let sources = try FileManager.default.contentsOfDirectory(atPath: clients).filter { $0.hasSuffix(".c") }.sorted()
    let folder = Machine.dataless.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    // Renamed into place: another run of the tests may be using the old one.
    let target = folder + "/dataless-probe"
    let fresh = "\(target).\(getpid())"
    let compiled = try await run(
      ["cc", "-O1", "-Wall", "-Wextra", "-o", fresh] + sources.map { "\(clients)/\($0)" } + ["-lpthread"],
      timeLimit: .seconds(120))
    guard compiled.succeeded else { throw HarnessError("cannot compile the test clients:\n\(compiled.errorText)") }
    guard rename(fresh, target) == 0 else { throw HarnessError("cannot rename \(fresh): errno \(errno)") }
    return target
  }
}

/// One line of the probe's answer.
struct Answer: Sendable, CustomStringConvertible {
  let description: String
  let values: [String: String]

  init(_ line: String) {
    description = line
    var values: [String: String] = [:]
    for word in line.split(separator: " ") {
      let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { values[String(pair[0])] = String(pair[1]) }
    }
    self.values = values
  }

  subscript(key: String) -> String? { values[key] }
  var outcome: String? { values["outcome"] }
  var bytes: Int? { int("bytes") }
  var hash: String? { values["hash"] }
  var duration: Duration { .nanoseconds(int("ns") ?? 0) }
  func int(_ key: String) -> Int? { values[key].flatMap { Int($0) } }
}
