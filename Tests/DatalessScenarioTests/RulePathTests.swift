import DatalessScenario
import Testing

/// Paths of rules that begin with a path of the machine.
@Suite struct RulePathTests {
  private static let roots = [
    (name: "the mountpoint", path: Array("/mnt/volume".utf8)), (name: "SOURCE", path: Array("/home/ann".utf8)),
    (name: "SOURCE", path: Array("/".utf8)),
  ]

  @Test func areNamedWithTheirPlacesAndWhatWasMeant() throws {
    let document = try ScenarioText.parse(
      """
      rules:
        - {match: {path: "/mnt/volume/photos/*.jpg"}, fault: EIO}
        - {match: {path: ["*.c", /home/ann/a.h]}, fault: EIO}
        - match:
            path: /mnt/{volume,other}/**
          latency: 1s
      """)
    let error = #expect(throws: ScenarioError.self) { try document.checkPaths(roots: Self.roots) }
    let tail = "but paths of rules begin at the volume's root. Write"
    let end = "if the volume itself has such a path"
    #expect(
      error?.description == """
        s.yaml:2:20: the path '/mnt/volume/photos/*.jpg' begins with the mountpoint, \(tail) 'photos/*.jpg'; or 'mnt/volume/photos/*.jpg', \(end).
        s.yaml:3:28: the path '/home/ann/a.h' begins with SOURCE, \(tail) '/a.h'; or 'home/ann/a.h', \(end).
        s.yaml:5:13: the path '/mnt/{volume,other}/**' begins with the mountpoint, \(tail) '/**'; or 'mnt/{volume,other}/**', \(end).
        """)
  }

  @Test func othersAreRight() throws {
    let document = try ScenarioText.parse(
      "rules: [{match: {path: [/mnt, /mnt/volumes/a, mnt/volume/a, /photos/*, \"**\"]}, fault: EIO}, {gate: g}]\n")
    #expect(throws: Never.self) { try document.checkPaths(roots: Self.roots) }
    #expect(throws: Never.self) { try ScenarioDocument.empty.checkPaths(roots: Self.roots) }
  }

  /// A rule that was added later has its own place.
  @Test func followEdits() throws {
    let document = try ScenarioText.parse("rules: [{gate: g}]\n")
      .addingRule(Array("{match: {path: /mnt/volume/a/b}, fault: EIO}".utf8), name: "new", first: true)
    let error = #expect(throws: ScenarioError.self) { try document.checkPaths(roots: Self.roots) }
    #expect(error?.file == "new" && error?.column == 16)
    #expect(throws: Never.self) { try document.removingRule(named: "rule-2").checkPaths(roots: Self.roots) }
  }
}
