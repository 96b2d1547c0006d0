import DatalessCore
import DatalessScenario
import Testing

/// The section `expect` of a scenario.
@Suite struct ExpectTests {
  private static func document(_ text: String) throws -> ScenarioDocument {
    try ScenarioDocument(parsing: Array(text.utf8), name: "s.yaml")
  }

  @Test func eachBoundIsAnExpectationOfItsOwn() throws {
    let document = try Self.document(
      """
      expect:
        - max_files: 10
          max_bytes: 4k
        - name: fm
          match: {path: "photos/**", size: ">1MB", kind: file, trigger: read, process: {exe: fm}, ancestor: {comm: sh}}
          max_wait: 2s
          max_main_thread: 100ms
        - {max_parallel: 3, min_parallel: 1.25, max_needless: 0, max_refusals: 0, max_repeated: 1, max_dirs: 7}
        - {forbid: "secret/**", allow: [a, "b/*"]}
      """)
    let expectations = try #require(document.expectations)
    let names = [
      "expect-1.max_files", "expect-1.max_bytes", "fm.max_wait", "fm.max_main_thread", "expect-3.max_parallel",
      "expect-3.min_parallel", "expect-3.max_needless", "expect-3.max_refusals", "expect-3.max_repeated",
      "expect-3.max_dirs", "expect-4.forbid", "expect-4.allow",
    ]
    #expect(expectations.map(\.name) == names)
    func bound(_ name: String) -> Int64? { expectations.first { $0.name == name }?.bound }
    #expect(bound("expect-1.max_files") == 10 && bound("expect-1.max_bytes") == 4096)
    #expect(bound("fm.max_wait") == 2_000_000_000 && bound("fm.max_main_thread") == 100_000_000)
    #expect(bound("expect-3.max_parallel") == 300 && bound("expect-3.min_parallel") == 125)
    let fm = try #require(expectations.first { $0.name == "fm.max_wait" })
    #expect(fm.match.paths.count == 1 && fm.match.size != nil && fm.match.process != nil && fm.match.ancestor != nil)
    #expect(fm.match.kind == .file && fm.match.triggers == [.read] && fm.place == "s.yaml:6:15")
    #expect(expectations.first { $0.measure == .allow }?.paths.map(\.text) == [Array("a".utf8), Array("b/*".utf8)])
    #expect(document.warnings.isEmpty)
    // Nothing is simulated by it, and it stays in what is shown and applied again.
    let again = try ScenarioDocument(parsing: document.json(pretty: true), name: "again")
    #expect(again == document && again.expectations?.count == 12 && again.simulation.rules.rules.isEmpty)
    #expect(try Self.document("latency: 1s").expectations == nil)
    #expect(try again.setting([("latency", "5ms")]).expectations?.count == 12)
  }

  @Test func listsAndLookupsHaveBounds() throws {
    let document = try Self.document(
      "expect:\n- {max_serial_waits: 8, forbid_unneeded_blocking: on, max_together: 2}\n")
    #expect(document.expectations?.map(\.measure) == [.maxSerialWaits, .forbidUnneededBlocking, .maxTogether])
    #expect(document.expectations?.map(\.bound) == [8, 0, 2] && document.warnings.isEmpty)
  }

  @Test(arguments: [
    ("expect: [{max_serial_waits: 0}]", "'0' is not possible"),
    ("expect: [{max_serial_waits: 1, match: {kind: directory}}]", "nothing can violate 'max_serial_waits' here"),
    ("expect: [{forbid_unneeded_blocking: off}]", "'off' expects nothing. Write on, or leave it out."),
    ("expect: [{forbid_unneeded_blocking: on, match: {trigger: read}}]", "it is about lookups. Remove 'trigger'."),
    ("expect: [{forbid_unneeded_blocking: on, match: {size: 4k}}]", "the log has no size of what is looked up."),
    ("expect: [{max_together: -1}]", "'-1' is not possible"),
    ("expect: [{max_together: 0, match: {kind: directory}}]", "it is about files. Remove 'kind'."),
    ("expect: [{max_together: 0, match: {trigger: read}}]", "it is about writes. Remove 'trigger'."),
    ("expect: [{max_together: 0, match: {size: 4k}}]", "the log has no size of what is written to."),
    ("expect: {max_files: 1}", "1:9: a mapping instead of a list."),
    ("expect: [{}]", "1:10: an expectation that expects nothing."),
    ("expect: [{match: {path: a}}]", "an expectation that expects nothing."),
    ("expect: [{max_files: -1}]", "'-1' is not possible"),
    ("expect: [{max_file: 1}]", "Did you mean 'max_files'?"),
    ("expect: [{max_directories: 1}]", "It is called 'max_dirs'."),
    ("expect: [{max_wait: 5}]", "malformed duration"),
    ("expect: [{min_parallel: 0.5}]", "'0.5' is not possible"),
    ("expect: [{min_parallel: 1.555}]", "'1.555' is not possible"),
    ("expect: [{max_files: 1, path: a}]", "It is a condition: put it under 'match'."),
    ("expect: [{max_files: 1, match: {nth: 1}}]", "It is a condition of rules only"),
    ("expect: [{max_files: 1, match: {max_bytes: 1}}]", "put it beside 'match'"),
    ("expect: [{max_dirs: 1, match: {kind: file}}]", "nothing can violate 'max_dirs' here"),
    ("expect: [{max_dirs: 1, match: {size: 4k}}]", "nothing can violate 'max_dirs' here"),
    ("expect: [{max_files: 0, match: {trigger: readdir}}]", "only directories are materialized by readdir."),
    ("expect: [{max_bytes: 0, match: {trigger: [lookup, readdir]}}]", "materialized by readdir, lookup."),
    ("expect: [{max_needless: 0, match: {trigger: lookup}}]", "nothing can violate 'max_needless' here"),
    ("expect: [{max_repeated: 0, match: {trigger: lookup}}]", "nothing can violate 'max_repeated' here"),
    ("expect: [{max_dirs: 0, match: {trigger: read}}]", "only files are materialized by read."),
    ("expect: [{max_dirs: 0, match: {trigger: [write, seek]}}]", "Remove 'trigger', or use max_files."),
    ("expect: [{max_main_thread: 0s, match: {trigger: coordinate}}]", "Remove 'trigger', or use max_wait."),
    ("expect: [{max_main_thread: 0s, match: {trigger: [command, eager]}}]", "is blocked by command, eager."),
    ("expect: [{max_serial_waits: 1, match: {trigger: [readdir, coordinate]}}]", "for one by readdir, coordinate"),
    ("expect: [{max_refusals: 0, match: {trigger: command}}]", "policy refuses nothing"),
    ("expect: [{max_parallel: 1, match: {trigger: lookup}}]", "Add 'kind: directory' for these."),
    ("expect: [{min_parallel: 2, match: {trigger: readdir}}]", "Add 'kind: directory' for these."),
    ("expect: [{forbid: ./secret/**}]", "a component of it is '.' or '..', which no path has."),
    ("expect: [{allow: a, match: {path: a/../b}}]", "a component of it is '.' or '..', which no path has."),
    ("expect: [{max_files: 0, match: {size: \"<1\"}}]", "no file of 0 bytes is materialized"),
    ("expect: [{max_wait: 0s, match: {size: 0}}]", "no file of 0 bytes is materialized"),
    ("expect: [{forbid: a, match: {size: \"<=0\"}}]", "let it reach 1 or more."),
    ("expect: [{max_wait: 0s, match: {trigger: eager}}]", "nobody waits for what comes by eager."),
    ("expect: [{max_files: 1, match: {kind: directory}}]", "nothing can violate 'max_files' here"),
    ("expect: [{max_wait: 1s, match: {kind: file, trigger: readdir}}]", "so nothing can meet the conditions."),
    ("expect: [{name: a, max_files: 1}, {name: a, max_files: 2}]", "two expectations are named 'a'"),
    ("max_files: 3", "It belongs in an expectation"),
    ("expect: [{baseline: f}]", "--baseline FILE"),
    ("expect: [{forbid: []}]", "an empty list means nothing"),
  ])
  func whatIsWrongIsSaid(text: String, words: String) throws {
    let error = #expect(throws: ScenarioError.self) { try Self.document(text) }
    #expect(error?.description.contains(words) == true, "\(error?.description ?? "")")
  }

  /// With a trigger that can lead to it, and others, too.
  @Test(arguments: [
    "max_files: 0, match: {trigger: [readdir, read]}", "max_files: 0, match: {trigger: open}",
    "max_dirs: 0, match: {trigger: [read, readdir]}", "max_dirs: 0, match: {trigger: xattr}",
    "max_dirs: 0, match: {trigger: command}", "max_main_thread: 0s, match: {trigger: [coordinate, read]}",
    "max_wait: 0s, match: {trigger: coordinate}", "max_refusals: 0, match: {trigger: coordinate}",
    "max_files: 0, match: {size: \"<2\"}", "max_wait: 0s, match: {trigger: [eager, read]}",
    "max_parallel: 1, match: {kind: directory, trigger: readdir}", "max_serial_waits: 1, match: {trigger: read}",
    "forbid: a, match: {trigger: lookup}", "forbid: a, match: {process: {cgroup: /../system.slice/**}}",
  ])
  func whatSomethingCanViolateIsTaken(entry: String) throws {
    #expect(try Self.document("expect: [{\(entry)}]").expectations?.count == 1)
  }

  @Test func whatNothingCanViolateIsAWarning() throws {
    #expect(try Self.document("expect: []").warnings.map(\.message).first?.hasPrefix("nothing is expected") == true)
    #expect(try Self.document("expect: []").expectations == [])
    let one = try Self.document("rules:\n- {fault: EIO}\nexpect:\n- {min_parallel: 1}\n")
    #expect(one.warnings.count == 1 && one.warnings.first?.line == 4)
    // A change of a setting keeps it.
    #expect(try one.setting([("profile", "open")]).warnings.count == 1)
  }

  @Test(arguments: [
    ("allow: \"**\"", true), ("allow: [a, \"*\"]", true), ("allow: \"{a,**/*}\"", true), ("allow: \"/*\"", false),
    ("allow: \"*/**\"", false), ("allow: [\"a/**\", b], match: {path: \"a/**\"}", true),
    ("allow: \"{a,b}\", match: {path: [b, a]}", true), ("allow: a, match: {path: [b, a]}", false),
    ("min_parallel: 1", true), ("min_parallel: 1.01", false),
  ])
  func whatAllowsAllIsAWarning(entry: String, isWarned: Bool) throws {
    let warnings = try Self.document("expect: [{\(entry)}]").warnings
    #expect(warnings.count == (isWarned ? 1 : 0) && warnings.allSatisfy { $0.message.contains("can violate this") })
  }

  @Test func pathsBeginAtTheRootOfTheVolume() throws {
    for text in ["forbid: /src/secret/**", "allow: [a, /src/b]", "max_files: 1, match: {path: /src/x}"] {
      let document = try Self.document("expect: [{\(text)}]")
      let error = #expect(throws: ScenarioError.self) {
        try document.checkPaths(roots: [("SOURCE", Array("/src".utf8))])
      }
      #expect(error?.description.contains("paths of expectations begin at the volume's root") == true)
    }
  }

  @Test(arguments: [
    ("photos/*.jpg", "", true), ("photos/*.jpg", "photos", true), ("photos/*.jpg", "photos/x", false),
    ("photos/*.jpg", "music", false), ("a/**/z", "a/b/c", true), ("a/**/z", "b", false), ("**", "x/y", true),
    ("*.jpg", "any/where", true), ("a/{b,c}/d", "a/c", true), ("a/{b,c}/d", "a/d", false), ("a/**", "a", true),
    ("/a", "", true), ("/a", "a", false), ("**/x/y", "q/x", true), ("a/*/**/b/c", "a/1/2/b", true),
  ])
  func directoriesLeadToWhatAGlobMeans(glob: String, directory: String, leads: Bool) throws {
    let pattern = try PathPattern(parsing: Array(glob.utf8))
    #expect(pattern.canMatch(below: Array(directory.utf8)) == leads)
  }
}
