import DatalessCore
import DatalessScenario
import TestSupport
import Testing

/// Whatever the bytes are, there is a scenario or an error, soon.
@Suite struct FuzzTests {
  private static func tries(_ bytes: [UInt8], _ note: Fuzz.Case? = nil) {
    let note = Comment(rawValue: note.map { "\($0)" } ?? "")
    do throws(ScenarioError) {
      let document = try ScenarioDocument(parsing: bytes, name: "fuzz", readFile: ReplayTests.log)
      let again = try ScenarioDocument(parsing: document.json(pretty: false), name: "again")
      #expect(again == document, note)
      // What was accepted can be used.
      var random = SeededRandom(key: 1)
      for latency in [document.simulation.latency] + document.simulation.rules.rules.compactMap(\.effects.latency) {
        #expect(latency.sample(&random, size: 1 << 30, ordinal: 3) >= 0, note)
      }
    } catch {
      #expect(!error.problems.isEmpty && error.problems.count <= 20, note)
      for problem in error.problems {
        #expect(problem.line >= 1 && problem.column >= 1, note)
        #expect(problem.message.hasSuffix(".") || problem.message.hasSuffix("?"), "\(note): \(problem)")
        #expect(problem.message.count < 2000, note)
      }
    }
  }

  @Test(arguments: TestSeed.seeds) func randomBytes(seed: UInt64) throws {
    try Fuzz.run("scenario: bytes", seed: seed, cases: 10_000) { random, note in
      Self.tries((0..<random.below(200)).map { _ in random.byte() }, note)
    }
  }

  private static let pieces = [
    "{", "}", "[", "]", ":", ": ", ",", "-", "- ", "\n", "\n  ", "\n    ", "\"", "'", "#", "&a", "*a", "!t", "|", ">",
    "?",
    "rules", "match", "path", "latency", "fault", "EIO", "1s", "..", "5%", "~", "---", "...", "%", "\t", "\\", "\u{e9}",
    "<<",
    "version", "1", "replay", "percentiles", "99",
  ]

  @Test(arguments: TestSeed.seeds) func randomPiecesOfYAML(seed: UInt64) throws {
    try Fuzz.run("scenario: pieces", seed: seed, cases: 10_000) { random, note in
      let text = (0...random.below(39)).map { _ in random.element(of: Self.pieces) }
      Self.tries(Array(text.joined().utf8), note)
    }
  }

  private static let examples = ScenarioText.examples(in: "docs/SCENARIOS.md").map { Array($0.text.utf8) }

  @Test(arguments: TestSeed.seeds) func mutatedExamples(seed: UInt64) throws {
    #expect(Self.examples.count >= 5)
    try Fuzz.run("scenario: bytes of examples", seed: seed, cases: 3_000) { random, note in
      Self.tries(ByteMutation.mutated(random.element(of: Self.examples), &random, others: Self.examples), note)
    }
    let mutation = TextMutation(
      separators: " :,{}[]-'\"#",
      words: Self.pieces + [
        "1e999s", "-1s", "99999999999999999999h", "0.0000000001ns", "1..2", "1e5%", "2147483648", "1MiB/s", "0x1f",
        "NaN", ".inf",
        "{a,b}{c,d}", "**/**/**", "[!a-z]*", "\u{0}", "\u{7f}", "\u{85}", "\u{2028}", "\u{feff}", "\u{202e}", "yes",
        "null",
        "hydration", "poll", "evict", "nth", "gate", "process", "present", "profile", "seed", "observe", "access",
        "getattr",
      ])
    try Fuzz.run("scenario: words of examples", seed: seed, cases: 2_000) { random, note in
      Self.tries(mutation.mutated(random.element(of: Self.examples), &random), note)
    }
  }

  /// What is small and says that it is large, and what is large.
  @Test(arguments: TestSeed.seeds) func bombs(seed: UInt64) throws {
    try Fuzz.run("scenario: bombs", seed: seed, cases: 60) { random, note in
      let count = 1 + random.below(random.element(of: [30, 300, 3_000]))
      let field = random.element(of: ["rules", "latency", "a", "match", "x"])
      func times(_ text: String) -> String { String(repeating: text, count: count) }
      let text =
        switch random.below(12) {
        // Each stands for ten of the one before.
        case 0:
          (0..<count).map { "\(field)\($0): &a\($0) [\(($0 == 0 ? "x" : "*a\($0 - 1)") + ",*a\(max(0, $0 - 1))")]\n" }
            .joined()
        case 1: "\(field): &a {<<: *a, b: *a}\n" + times("- *a\n")
        case 2: times("[") + times("]")
        case 3: times("{\(field): ") + "1" + times("}")
        case 4: (0..<count).map { String(repeating: " ", count: $0) + "\(field):\n" }.joined()
        case 5: (0..<count).map { String(repeating: " ", count: $0 % 200) + "- - - ? " }.joined()
        case 6: "\(field): " + times("x") + times("xxxxxxxxxxxxxxxxxxxx")
        case 7: "\(field): |\n" + times("  x\n\n")
        case 8: "\(field): \"" + times("\\u2028\\0") + "\"\n"
        case 9: "rules: [{match: {path: '" + times("{a,b}") + "'}, fault: EIO}]"
        case 10: "rules: [{match: {path: '" + times("{") + "a,b" + times("}") + "'}, fault: EIO}]"
        default: times("---\n\(field): 1\n...\n")
        }
      var bytes = Array(text.utf8)
      if random.oneIn(4) { bytes = ByteMutation.mutated(bytes, &random) }
      if random.oneIn(10) { bytes = [0xff, 0xfe] + bytes.flatMap { [$0, 0] } }
      Self.tries(bytes, note)
    }
  }

  @Test(arguments: ["[", "{", "{a: ", "- ", "[{", "? ", "'", "a: [", "\"\\u", "- - - "])
  func longRepetitions(piece: String) {
    Self.tries(Array(String(repeating: piece, count: 20_000).utf8))
  }
}
