import DatalessCore
import DatalessScenario
import SystemPackage
import Testing

/// Edits of a live scenario: a new value, or an error and the old one untouched.
@Suite struct EditTests {
  private static let text = "latency: 1s\nrules:\n  - {name: a, match: {path: x}, fault: EIO}\n  - {gate: g}\n"

  private func json(_ document: ScenarioDocument) -> String {
    String(decoding: document.json(pretty: false), as: UTF8.self)
  }

  @Test func settingsAreChangedOneByOneAndRulesStay() throws {
    let old = try ScenarioText.parse(Self.text)
    let new = try old.setting([("latency", "200ms"), ("bandwidth", "5MB/s"), ("directory_latency", "{preset: s3}")])
    #expect(new.simulation.latency == LatencyModel(.fixed(200_000_000)))
    #expect(new.simulation.bandwidth == 5_000_000)
    #expect(new.simulation.rules.rules == old.simulation.rules.rules)
    #expect(
      json(new) == #"{"version":1,"latency":"200ms","bandwidth":"5MB/s","directory_latency":{"preset":"s3"},"#
        + #""rules":[{"name":"a","match":{"path":"x"},"fault":"EIO"},{"name":"rule-2","gate":"g"}]}"#)
    #expect(try ScenarioDocument(parsing: new.json(pretty: true), name: "again") == new)
    #expect(try new.setting([("bandwidth", "none")]).simulation.bandwidth == nil)
  }

  @Test(arguments: [
    (
      "latencey", "1s",
      "latencey=1s:1:1: unknown setting 'latencey'. Did you mean 'latency'? There are: seed, latency, "
        + "directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, stacks, watchdog, interrupt, give_up_after, offline, "
        + "materialize, profile, present, access, poll."
    ),
    (
      "latency", "5x",
      "latency=5x:1:9: malformed duration '5x': unknown unit 'x'; expected a number and ns, us, ms, s, m or "
        + "h, such as 200ms or 1.5s."
    ),
    (
      "latency", "{preset: s4}",
      "latency={preset: s4}:1:18: unknown preset 's4'. Did you mean 's3'? It is one of "
        + "icloud_small, icloud, onedrive, dropbox, s3, mobile, lan."
    ),
    ("bandwidth", "", "bandwidth=:1:11: there is no value. Write 'bandwidth=VALUE'; 'none' removes a limit."),
    (
      "rules", "[]",
      "rules=[]:1:1: unknown setting 'rules'. Rules are added and removed one by one. There are: seed, "
        + "latency, directory_latency, bandwidth, transfer_bandwidth, concurrency, quota, reserve, areas, hydration, observe, stacks, watchdog, interrupt, give_up_after, "
        + "offline, materialize, profile, present, access, poll."
    ),
  ])
  func aWrongSettingIsRefused(key: String, value: String, message: String) throws {
    let old = try ScenarioText.parse(Self.text)
    let error = #expect(throws: ScenarioError.self) { try old.setting([("seed", "5"), (key, value)]) }
    #expect(error?.description == message)
    #expect(old.simulation.seed == 0)
  }

  @Test func accessIsSetWholeOrInParts() throws {
    let old = try ScenarioText.parse(Self.text)
    let new = try old.setting([("access.read", "{fixed: 5ms, per_mebibyte: 9ms}"), ("access.open", "1ms")])
    #expect(new.simulation.access[.open] == LatencyModel(.fixed(1_000_000)))
    #expect(new.simulation.delayedAccess == AccessOperations([.read, .open]))
    #expect(json(new).contains(#""access":{"read":{"fixed":"5ms","per_mebibyte":"9ms"},"open":"1ms"}"#))
    #expect(try ScenarioDocument(parsing: new.json(pretty: true), name: "again") == new)
    let less = try new.setting([("access.open", "0")])
    #expect(less.simulation.delayedAccess == AccessOperations([.read]))
    let whole = try new.setting([("access", "{lookup: 1ms}")])
    #expect(whole.simulation.delayedAccess == AccessOperations([.lookup]))
    #expect(whole.simulation.access[.read] == nil, "of what it leaves out nothing is said")
    let error = #expect(throws: ScenarioError.self) { try old.setting([("access.stat", "1ms")]) }
    #expect(
      error?.description
        == "access.stat=1ms:1:1: unknown setting 'access.stat'. Did you mean 'access.read'? There are: access.lookup, access.getattr, "
        + "access.open, access.read, access.write.")
  }

  @Test func aRuleMayHoldAccessesAtAGate() throws {
    let old = try ScenarioText.parse(Self.text)
    let new = try old.addingRule(
      Array("{name: h, match: {path: a}, access: {open: {gate: g}, read: 5ms}}".utf8), name: "new", first: true)
    let access = new.simulation.rules.rules[0].effects.access
    #expect(access.gates == ["g"])
    #expect(access[.read] == LatencyModel(.fixed(5_000_000)) && access[.open] == nil)
    #expect(new.simulation.delayedAccess == AccessOperations([.open, .read]))
    #expect(new.simulation.longestWait == .max)
    #expect(try ScenarioDocument(parsing: new.json(pretty: true), name: "again") == new)
    let error = #expect(throws: ScenarioError.self) { try old.setting([("access.open", "{gate: g}")]) }
    #expect(error?.description.contains("A gate is named by a rule") == true, "\(String(describing: error))")
  }

  @Test func rulesAreAddedInFrontAndBehindAndKeepTheirNames() throws {
    let old = try ScenarioText.parse(Self.text)
    let first = try old.addingRule(Array("{fault: EPERM}".utf8), name: "new", first: true)
    #expect(first.simulation.rules.rules.map(\.name) == ["rule-3", "a", "rule-2"])
    #expect(first.places.map(\.file) == ["new", "s.yaml", "s.yaml"])
    let both = try first.addingRule(Array("name: z\ngate: g\nmatch: {path: q}\n".utf8), name: "new", first: false)
    #expect(both.simulation.rules.rules.map(\.name) == ["rule-3", "a", "rule-2", "z"])
    #expect(try ScenarioDocument(parsing: both.json(pretty: true), name: "again") == both)
  }

  @Test func aRuleWithoutANameGetsOneThatIsFree() throws {
    let old = try ScenarioText.parse("rules:\n  - {name: rule-3, fault: EIO}\n  - {name: rule-4, gate: g}\n")
    let new = try old.addingRule(Array("{fault: EPERM}".utf8), name: "new", first: false)
    #expect(new.simulation.rules.rules.map(\.name) == ["rule-3", "rule-4", "rule-5"])
  }

  @Test func aRuleForAnEmptyScenario() throws {
    let document = try ScenarioDocument.empty.addingRule(Array("{fault: EIO}".utf8), name: "new", first: true)
    #expect(json(document) == #"{"version":1,"rules":[{"name":"rule-1","fault":"EIO"}]}"#)
    #expect(try document.removingRule(named: "rule-1") == .empty)
  }

  @Test func rulesAreReplacedInTheirPlace() throws {
    let old = try ScenarioText.parse(Self.text)
    let new = try old.replacingRule(named: "a", with: Array("{fault: EPERM}".utf8), name: "new")
    #expect(new.simulation.rules.rules.map(\.name) == ["a", "rule-2"])
    #expect(new.simulation.rules.rules[0].effects.fault == Fault(.errno(.notPermitted)))
    let renamed = try old.replacingRule(named: "a", with: Array("{name: b, fault: EIO}".utf8), name: "new")
    #expect(renamed.simulation.rules.rules.map(\.name) == ["b", "rule-2"])
  }

  @Test func wrongEditsOfRulesAreRefused() throws {
    let old = try ScenarioText.parse(Self.text)
    let before = old
    func message(_ edit: () throws -> ScenarioDocument) -> String? {
      #expect(throws: ScenarioError.self) { try edit() }?.description
    }
    #expect(message { try old.removingRule(named: "b") } == "b:1:1: there is no rule named 'b'. Did you mean 'a'?")
    #expect(
      message { try ScenarioDocument.empty.removingRule(named: "b") }
        == "b:1:1: there is no rule named 'b'. The scenario has no rules.")
    #expect(
      message { try old.addingRule(Array("{name: a, fault: EIO}".utf8), name: "new", first: true) }
        == "new:1:8: there is a rule named 'a' already. Choose another name, or replace that rule.")
    #expect(
      message { try old.addingRule(Array("{fault: EIOO}".utf8), name: "new", first: true) }?
        .hasPrefix("new:1:9: unknown errno 'EIOO'. Did you mean 'EIO'?") == true)
    #expect(
      message { try old.replacingRule(named: "a", with: Array("{name: rule-2, gate: q}".utf8), name: "new") }
        == "new:1:8: there is a rule named 'rule-2' already. Choose another name, or replace that rule.")
    #expect(old == before)
  }
}
