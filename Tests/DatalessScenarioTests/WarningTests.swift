import DatalessScenario
import Testing

/// What is possible, but hardly meant.
@Suite struct WarningTests {
  private static func hidden(_ line: Int, _ rule: String, by earlier: String, _ place: Int) -> String {
    "s.yaml:\(line):5: rule '\(rule)' never decides anything: '\(earlier)' in line \(place) comes first, under the same "
      + "conditions or fewer. Put it before that one, or remove it."
  }

  private static let careless =
    "s.yaml:2:5: this rule also holds when the process looks up names in dataless directories and lists them. Write "
    + "'kind: file' if files are meant, else 'kind: any'."

  private static func gates(_ line: Int, _ earlier: String, _ place: Int, _ gates: (String, String)) -> String {
    "s.yaml:\(line):5: gates overlap: an attempt that matches here and '\(earlier)' in line \(place) is held at "
      + "'\(gates.0)' only, never at '\(gates.1)'. Narrow one of the two, or use one gate."
  }

  @Test(arguments: [
    ("  - {fault: EIO}\n  - {fault: EPERM}\n", hidden(3, "rule-2", by: "rule-1", 2)),
    ("  - {fault: EIO}\n  - {match: {path: a}, fault: EPERM}\n", hidden(3, "rule-2", by: "rule-1", 2)),
    (
      "  - {match: {size: 4k}, fault: EIO}\n  - {match: {path: a, size: 4096}, fault: EPERM}\n",
      hidden(3, "rule-2", by: "rule-1", 2)
    ),
    (
      "  - {fault: EIO}\n  - {latency: 1s}\n  - {match: {path: a}, fault: EPERM, latency: 2s}\n",
      hidden(4, "rule-3", by: "rule-1", 2)
    ),
    // Each of these leaves something to the second.
    ("  - {match: {path: a}, fault: EIO}\n  - {fault: EPERM}\n", ""),
    ("  - {match: {probability: 0.5}, fault: EIO}\n  - {fault: EPERM}\n", ""),
    ("  - {fault: EIO}\n  - {fault: EPERM, latency: 1s}\n", ""),
    ("  - {match: {path: a}, gate: one}\n  - {match: {path: b}, gate: two}\n", ""),
    (
      "  - {match: {path: /a/b}, gate: one}\n  - {match: {path: \"a/*\"}, gate: two}\n",
      gates(3, "rule-1", 2, ("one", "two"))
    ),
    (
      "  - {match: {path: \"*.jpg\"}, gate: one}\n  - {match: {path: \"photos/**\"}, gate: two}\n",
      gates(3, "rule-1", 2, ("one", "two"))
    ),
    ("  - {match: {path: \"*.jpg\"}, gate: one}\n  - {match: {path: \"*.png\"}, gate: two}\n", ""),
    ("  - {match: {path: \"a/**\"}, gate: one}\n  - {match: {path: \"b/**\"}, gate: two}\n", ""),
    ("  - {match: {kind: file}, gate: one}\n  - {match: {kind: directory}, gate: two}\n", ""),
    ("  - {match: {size: \"<4k\"}, gate: one}\n  - {match: {size: \">=4k\"}, gate: two}\n", ""),
    ("  - {match: {attempt: 1}, gate: one}\n  - {match: {attempt: \"2..\"}, gate: two}\n", ""),
    (
      "  - {match: {kind: any, process: {exe: tar}}, gate: one}\n  - {match: {kind: any, process: {exe: rsync}}, gate: two}\n",
      ""
    ),
    ("  - {match: {path: a}, gate: one}\n  - {gate: one}\n", ""),
    ("  - {match: {path: \"*.{jpg,png}\"}, gate: one}\n  - {match: {path: \"*.{gif,webp}\"}, gate: two}\n", ""),
    (
      "  - {match: {path: \"*.{jpg,png}\"}, gate: one}\n  - {match: {path: \"*.{png,gif}\"}, gate: two}\n",
      gates(3, "rule-1", 2, ("one", "two"))
    ),
    ("  - {match: {process: {exe: tar}}, fault: EIO}\n", careless),
    ("  - {match: {ancestor: {exe: make}, path: \"photos/**\"}, latency: 1s}\n", careless),
    ("  - {match: {process: {exe: tar}, kind: file}, fault: EIO}\n", ""),
    ("  - {match: {process: {exe: tar}, kind: any}, fault: EIO}\n", ""),
    ("  - {match: {process: {exe: tar}, trigger: [read, lookup]}, fault: EIO}\n", ""),
    ("  - {match: {process: {exe: tar}, size: \">4k\"}, fault: EIO}\n", ""),
    (
      "  - {match: {probability: 0}, fault: EIO}\n",
      "s.yaml:2:5: with probability 0 this rule never matches. Remove it, or raise the probability."
    ),
    ("  - {match: {process: {exe: tar}}, access: {lookup: 1ms}}\n", ""),
    ("  - {match: {process: {exe: tar}}, access: {lookup: 1ms}, latency: 1s}\n", careless),
    ("  - {access: {write: 1ms}}\n", ""),
    ("  - {access: {read: 1ms}}\n  - {access: {open: 1ms}}\n", ""),
    (
      "  - {access: {read: 1ms, open: 1ms}}\n  - {match: {path: a}, access: {open: 0}}\n",
      hidden(3, "rule-2", by: "rule-1", 2)
    ),
    ("  - {access: {read: 1ms}}\n  - {match: {path: a}, access: {open: 0, read: 0}}\n", ""),
    (
      "  - {match: {kind: directory}, bandwidth: 5MB/s}\n",
      "s.yaml:2:5: directories have no transfer, so 'bandwidth' has no effect here. Use 'latency'."
    ),
  ])
  func warns(rules: String, warning: String) {
    #expect(ScenarioText.verdict("rules:\n" + rules) == warning)
  }

  @Test func warningsFollowEdits() throws {
    let old = try ScenarioText.parse(
      "rules:\n  - {name: a, match: {probability: 0}, fault: EIO}\n  - {name: b, gate: g}\n")
    #expect(old.warnings.count == 1)
    #expect(try old.removingRule(named: "a").warnings.isEmpty)
    let more = try old.addingRule(Array("{gate: other}".utf8), name: "new", first: true)
    #expect(more.warnings.count == 2)
    #expect(
      more.warnings.contains {
        $0.description
          == "s.yaml:3:5: rule 'b' never decides anything: 'rule-3' in new:1 comes first, under the same conditions or "
          + "fewer. Put it before that one, or remove it."
      })
  }
}
