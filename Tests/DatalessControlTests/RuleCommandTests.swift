import DatalessControl
import DatalessCore
import DatalessScenario
import Testing

@testable import DatalessCommands

/// What `policy`, `fault` and `mount` say of rules and settings, without a volume.
@Suite struct RuleCommandTests {
  private static func document(_ text: String) throws -> ScenarioDocument {
    try ScenarioDocument(parsing: Array(text.utf8), name: "s.yaml")
  }

  /// In the words that `policy` takes, however the scenario has them.
  @Test func policiesAreOnOrOff() throws {
    let document = try Self.document(
      """
      materialize: off
      rules:
        - {name: slow, latency: 1s}
        - {name: indexer, match: {path: a}, materialize: false}
        - {name: editor, materialize: on}
      """)
    #expect(
      PolicyCommand.lines(document) == [#"indexer: off for {"path":"a"}"#, "editor: on", "everybody else: off"])
    #expect(PolicyCommand.lines(.empty) == ["everybody else: on"])
  }

  /// The name stands on the command line: there is no file to go to a line of.
  @Test func aRuleThatIsNotThereIsNoPlaceInAFile() {
    let words = "there is no rule named 'rule-9'. Did you mean 'rule-1'?"
    let answer = WireError(
      code: "invalid_scenario", errno: "EINVAL", message: "rule-9:1:1: \(words)",
      problems: [WireProblem(file: "rule-9", line: 1, column: 1, message: words)])
    let error = ControlError(code: .invalidScenario, message: answer.message, answer: answer)
    let failure = RuleOptions.noSuchRule(error, from: PathArgument(bytes: Array("/mnt".utf8)))
    #expect(failure.message == "cannot remove a rule of /mnt: \(words)", "\(failure.message)")
    #expect(!failure.namesPlaces && failure.problems == nil)
    #expect(failure.status == .usage && failure.code == .notFound && failure.errno == "ENOENT")
  }

  @Test func whatADaemonSaysOfARuleIsEscaped() {
    let problem = WireProblem(file: "x", line: 1, column: 1, message: "\u{1b}[31m")
    let error = ControlError(
      code: .invalidScenario, message: "x", answer: WireError(code: "x", message: "x", problems: [problem]))
    let failure = RuleOptions.noSuchRule(error, from: PathArgument(bytes: Array("/mnt".utf8)))
    #expect(failure.message == #"cannot remove a rule of /mnt: \x1b[31m"#, "\(failure.message)")
  }

  /// On a mounted volume it ends those that are named, and nobody else.
  @Test func aWatchdogThatCanAbortNobodyIsWarnedOf() throws {
    func warning(_ text: String) throws -> String? {
      MountCommand.warning(of: try Self.document(text).simulation.watchdog)
    }
    #expect(try warning("watchdog: abort=50ms")?.hasPrefix("watchdog: abort needs 'apps' in the scenario") == true)
    #expect(try warning("watchdog: {main_thread: 1s, action: abort, apps: {comm: viewer}}") == nil)
    #expect(try warning("watchdog: report=50ms") == nil)
    #expect(try warning("watchdog: off") == nil)
  }

  @Test func theOptionOfAWatchdogKeepsTheApps() throws {
    func policy(_ option: String, _ text: String) throws -> WatchdogPolicy? {
      let document = try Self.document(text)
      return try document.setting([("watchdog", VolumeOptions.watchdog(option, in: document))]).simulation.watchdog
    }
    let scenario = "watchdog: {main_thread: 5s, action: log, apps: [{exe: \"python3*\"}, {comm: viewer}]}"
    let apps = try #require(try Self.document(scenario).simulation.watchdog?.apps)
    let kept = WatchdogPolicy(mainThread: .milliseconds(50), action: .abort, apps: apps)
    #expect(apps.count == 2)
    #expect(try policy("abort=50ms", scenario) == kept)
    #expect(try policy("50ms", scenario)?.action == .report)
    #expect(try policy("off", scenario) == nil)
    let plain = WatchdogPolicy(mainThread: .milliseconds(50), action: .abort)
    #expect(try policy("abort=50ms", "watchdog: 1s") == plain)
    #expect(try policy("abort=50ms", "latency: 1s") == plain)
  }

  @Test func strictRulesNeedARule() throws {
    for text in ["latency: 1s", "rules: []"] {
      let failure = try #require(
        #expect(throws: CommandFailure.self) { try RunCommand.checkStrictRules(try Self.document(text)) })
      #expect(failure.status == .usage && failure.message.contains("there is no rule (EINVAL)"))
    }
    #expect(throws: Never.self) { try RunCommand.checkStrictRules(try Self.document("rules: [{fault: EIO}]")) }
  }
}
