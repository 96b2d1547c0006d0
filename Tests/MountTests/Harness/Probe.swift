/// The test clients of Clients/, one program.
enum Probe {
  static let shared = ClientProgram(
    name: "dataless-probe",
    sources: ["calls", "move", "probe", "race", "race_command", "race_read", "tree", "version", "wait"].map {
      "Tests/MountTests/Clients/\($0).c"
    })
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
