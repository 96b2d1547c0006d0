import TestSupport
import Testing

@testable import DatalessCommands
@testable import DatalessControl

/// What commands print of answers of a daemon that is another user's program.
@Suite struct AnswerTextTests {
  /// Those of which another number or word is no answer of the form.
  private static let kept: Set<String> = [
    "pid", "tid", "mode", "inode", "seq", "seed", "attempt", "user_id", "state_listed", "exit_status", "path_b64",
    "exe_b64", "number", "within", "waits_for", "asks",
    "mountpoint_b64", "source_b64", "log_b64", "cache_b64",
  ]

  private static func answer<Answer: Codable & Sendable>(
    _ sample: Answer, _ random: inout TestRandom, _ note: Fuzz.Case
  ) throws -> Answer {
    let node = try #require(FuzzSamples.node(sample))
    let text = JSONMutation.hostile(node, &random, keeping: kept, doubles: false).text
    return try WireCoding.decode(Answer.self, from: text, named: "\(note)")
  }

  @Test(arguments: TestSeed.seeds) func noTextOfAnAnswerIsObeyedAndNoNumberTooLarge(seed: UInt64) throws {
    let mountPoint = bytes("/m")
    try Fuzz.run("answers as text", seed: seed, cases: 200) { random, note in
      var status = try Self.answer(WireSamples.status, &random, note)
      status.profile.errnos["offline"] = "\u{1b}[2J"
      var lines = StatusText.lines(status)
      lines += GateListCommand.lines(try Self.answer(WireSamples.gate, &random, note))
      let coordination = try Self.answer(WireSamples.coordination, &random, note)
      for intent in coordination.intents {
        lines += StackCommand.lines(WaitingIntent(intent: intent, holders: coordination.intents))
      }
      var explanation = try Self.answer(WireSamples.explanation, &random, note)
      explanation.errnos["offline"] = "\u{1b}[2J"
      explanation.isOffline = random.oneIn(2)
      explanation.isTrigger = random.oneIn(2)
      lines += ExplainText.lines(explanation)
      for state in ["other", "dataless"] {
        let item = VolumeItem(
          path: [], kind: "file", state: state, sizeBytes: 1, localBytes: 0, mode: 0, inode: 1, openHandles: 0,
          isKept: false)
        lines.append(ListCommand.line(try Self.answer(item, &random, note), at: mountPoint))
      }
      let refreshed = try Self.answer(WireSamples.refreshed, &random, note)
      lines += FailureList.lines(
        refreshed.failures, count: refreshed.failureCount, at: mountPoint, action: "refresh", others: "")
      for line in lines where !isSafe(line) { Issue.record("\(note): \(TerminalText.escaped(line))") }
    }
  }

  /// Of every call: places and problems belong to those that take a scenario, all others are told in one line.
  @Test(arguments: TestSeed.seeds) func noErrorOfADaemonIsObeyed(seed: UInt64) throws {
    let sample = WireError(
      code: "busy", errno: "EBUSY", message: #"cannot open 'a\\b'"#, problems: [WireSamples.problem])
    try Fuzz.run("errors as text", seed: seed, cases: 200) { random, note in
      var error = try Self.answer(sample, &random, note)
      if random.oneIn(3) { error.problems = random.oneIn(2) ? nil : [] }
      for route in ControlRoute.allCases {
        let failure = CommandFailure(ControlClient.remote(error, to: route))
        let lines = failure.message.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { isSafe($0) }, "\(note): \(TerminalText.escaped(failure.message))")
        #expect(failure.namesPlaces == (route.takesScenario && error.problems != nil), "\(note): \(route)")
        #expect(failure.namesPlaces || (lines.count == 1 && failure.problems == nil), "\(note): \(route)")
      }
    }
  }

  /// Names in it are escaped already: twice would be another name.
  @Test func aBackslashInAnErrorStaysOne() {
    let error = WireError(code: "busy", errno: "EBUSY", message: #"cannot open 'a\\b'"#)
    #expect(ControlClient.remote(error, to: .evict).message == error.message)
  }

  /// What a command found out itself is not for the daemon to say.
  @Test(arguments: [("busy", "busy"), ("usage", "failed"), ("invalid_scenario", "failed"), ("\u{1b}", "failed")])
  func aCodeOfADaemonIsOneOfItsOwn(said: String, code: String) {
    let failure = CommandFailure(ControlClient.remote(WireError(code: said, message: "m"), to: .status))
    #expect(failure.code.rawValue == code && failure.status == .failure)
  }

  /// Keys of an answer are in the message that says what is wrong with it.
  @Test func aKeyOfAnAnswerIsEscaped() throws {
    let key = #"{"\u001b]0;x\u0007":"no number"}"#
    let text = #"{"error":{"code":"x","message":"m","problems":[{"file":"a"}]}}"#
    for (type, text) in [("counts", key), ("problems", text)] {
      do throws(ControlError) {
        if type == "counts" {
          _ = try WireCoding.decode([String: Int64].self, from: bytes(text), named: "it")
        } else {
          _ = try WireCoding.decode(ErrorAnswer.self, from: bytes(text), named: "it")
        }
        Issue.record("\(type) was understood")
      } catch {
        #expect(isSafe(error.message), "\(TerminalText.escaped(error.message))")
      }
    }
  }
}
