import Testing

/// What a command with `--json` printed on standard output: a line for each answer, and one for each error.
struct JSONLines {
  let finished: Finished
  let lines: [JSON]

  var answers: [JSON] { lines.filter { $0["error"] == nil } }
  var errors: [JSON] { lines.compactMap { $0["error"] } }
  var answer: JSON? { answers.first }
  var error: JSON? { errors.last }

  /// Runs `dataless` with these arguments, `--json` among them, and checks what holds for all of its commands but
  /// `run`: there is a line with an error if, and only if, the status is not 0, the last of them says which, and
  /// standard error has words for a person then.
  static func run(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSONLines {
    let output = try JSONLines(
      try await MountTests.run([Machine.dataless] + arguments, timeLimit: .seconds(60)), sourceLocation: sourceLocation)
    let (finished, what) = (
      output.finished, "dataless \(arguments): \(output.finished.text)\(output.finished.errorText)"
    )
    #expect((finished.status == 0) == output.errors.isEmpty, "\(what)", sourceLocation: sourceLocation)
    if let last = output.error {
      #expect(last["exit_status"]?.int == finished.status.map { Int($0) }, "\(what)", sourceLocation: sourceLocation)
      #expect(!finished.errors.isEmpty, "\(what)", sourceLocation: sourceLocation)
    }
    return output
  }

  init(_ finished: Finished, sourceLocation: SourceLocation = #_sourceLocation) throws {
    self.finished = finished
    lines = try finished.lines.map { try JSON(parsing: $0.utf8) }
    #expect(lines.allSatisfy { !$0.object.isEmpty }, "\(finished.text)", sourceLocation: sourceLocation)
  }
}
